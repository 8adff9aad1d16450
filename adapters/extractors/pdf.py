"""PDF files, page by page, without the lines that every page repeats."""

import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO

from adapters.extractors.limits import Room
from adapters.markup.markdown import plain_blocks
from core.domain.attachments import ExtractedPart
from core.errors import UnreadableError

_EDGE_LINES = 2
"""Lines at the top and at the bottom of a page where headers and footers stand."""

_FEW_PAGES = 3
"""With fewer pages a repeated line proves nothing."""

_WRAPPED = 0.6
"""A line this long, as a share of the page's longest, goes on in the next one."""

_ITEM = re.compile(r"\s*(?:[•▪‣◦·*–—-]|\(?\d{1,3}[.)]|[a-z][.)])\s")


def read_pdf(data: bytes, room: Room) -> list[ExtractedPart]:
    """The pages that hold text, labelled ``page 3``.

    Raises:
        UnreadableError: protected by a password.
    """
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
        raise UnreadableError("is protected by a password")
    pages: list[list[str]] = []
    for number in range(room.pages(len(reader.pages))):
        if room.is_full:
            break
        pages.append(room.take(reader.pages[number].extract_text()).splitlines())
    return [
        ExtractedPart(f"page {number}", plain_blocks(paragraphs(lines)))
        for number, lines in enumerate(without_repeated_edges(pages), start=1)
        if _has_text(lines)
    ]


def without_repeated_edges(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of each page less headers, footers and page numbers: what most pages have at their edge."""
    if len(pages) < _FEW_PAGES:
        return [list(page) for page in pages]
    counted = Counter(key for page in pages for key in {_key(page[place]) for place in _edges(page)} if key)
    repeated = {key for key, count in counted.items() if count * 2 > len(pages)}
    kept = [
        [
            line
            for place, line in enumerate(page)
            if not (place in _edges(page) and (_key(line) in repeated or _is_number(line)))
        ]
        for page in pages
    ]
    # Badges, slides, certificates: where most pages would be empty, what they share is their text.
    if 2 * sum(map(_has_text, kept)) < sum(map(_has_text, pages)):
        return [list(page) for page in pages]
    return kept


def _has_text(page: Sequence[str]) -> bool:
    return any(line.strip() for line in page)


def _edges(page: Sequence[str]) -> set[int]:
    """Places of the first and last lines that hold anything."""
    full = [place for place, line in enumerate(page) if line.strip()]
    return {*full[:_EDGE_LINES], *full[-_EDGE_LINES:]}


def _key(line: str) -> str:
    """The line as it looks on every page: numbers differ."""
    return re.sub(r"\d+", "#", " ".join(line.split()))


def _is_number(line: str) -> bool:
    return re.fullmatch(r"\W*\d{1,4}\W*", line) is not None


def paragraphs(lines: Sequence[str]) -> str:
    """Lines joined where they were only wrapped, words joined where they were divided."""
    longest = max((len(line.rstrip()) for line in lines), default=0)
    text = ""
    before = ""
    for line in map(str.rstrip, lines):
        if not before or not line.strip():
            text += "\n" if text else ""
        elif re.search(r"\w[-\u00ad]$", before) and line.lstrip()[:1].islower():
            text = text[:-1]
        elif len(before) >= _WRAPPED * longest and not _ITEM.match(line):
            text += " "
        else:
            text += "\n"
        text += line.strip() if before else line
        before = line
    return text
