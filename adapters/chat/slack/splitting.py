"""Long Markdown in pieces that each stand alone: no link, fence, list item or character is cut. Pure."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from markdown_it.token import Token

from adapters.chat.drawing import PARSER, REMEMBERED

Size = Callable[[str], int]
"""How long Slack finds a text."""

_ATOM = re.compile(
    r"!?\[(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*\]\([^()\s]*\)"  # link
    r"|<[^<>\s]+>"  # autolink, or a link in mrkdwn
    r"|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)"  # code
    r"|&(?:\w+|#\d+|#x[0-9a-fA-F]+);"  # entity
    r"|\\."  # escape
)
_JOINERS = "\u200d\ufe0e\ufe0f"


def characters(text: str) -> int:
    """UTF-16 code units, the largest of the ways in which characters are counted."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def octets(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def split(markdown: str, *, limit: int, size: Size = characters) -> tuple[str, ...]:
    """The text in pieces of at most ``limit``: between blocks, else lines, else words, else characters.

    A fence that is cut is closed and opened again with its language; a table repeats its head.
    """
    pieces: list[str] = []
    for block in _top_level(markdown):
        for part in _parts(block, limit=limit, size=size):
            joined = f"{pieces[-1]}\n\n{part}" if pieces else part
            if pieces and size(joined) <= limit:
                pieces[-1] = joined
            else:
                pieces.append(part)
    return tuple(pieces)


def split_line(line: str, *, limit: int, size: Size = characters) -> Iterator[str]:
    """One line in pieces, cut at spaces, and never inside a link, code, entity or composed character."""
    rest = line
    while size(rest) > limit:
        cut = _cut(rest, limit=limit, size=size)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


@lru_cache(maxsize=REMEMBERED)
def _top_level(markdown: str) -> tuple[str, ...]:
    # As the parser sees line ends; what stands before the first block belongs to it.
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    starts = [token.map[0] for token in PARSER.parse(text) if token.level == 0 and token.map]
    edges = [0, *starts[1:], len(lines)]
    blocks = ("\n".join(lines[start:end]).strip("\n").rstrip() for start, end in pairwise(edges))
    return tuple(block for block in blocks if block)


def _parts(block: str, *, limit: int, size: Size) -> Iterator[str]:
    if size(block) <= limit:
        yield block
        return
    opening = next((token for token in PARSER.parse(block) if token.level == 0), None)
    match opening.type if opening is not None else "":
        case "fence":
            yield from _fence_parts(block, opening, limit=limit, size=size)
        case "table_open":
            lines = block.split("\n")
            yield from _line_parts(lines[2:], head=lines[:2], tail=[], limit=limit, size=size)
        case "bullet_list_open" | "ordered_list_open":
            yield from _line_parts(_items(block), head=[], tail=[], limit=limit, size=size)
        case _:
            yield from _line_parts(block.split("\n"), head=[], tail=[], limit=limit, size=size)


def _fence_parts(block: str, opening: Token | None, *, limit: int, size: Size) -> Iterator[str]:
    fence, language = (opening.markup, opening.info) if opening is not None else ("```", "")
    lines = block.split("\n")
    is_closed = len(lines) > 1 and lines[-1].strip() == fence
    code = lines[1:-1] if is_closed else lines[1:]
    yield from _line_parts(code, head=[f"{fence}{language}"], tail=[fence], limit=limit, size=size)


def _items(block: str) -> list[str]:
    """The outermost items of a list, each with all its lines."""
    lines = block.split("\n")
    starts = [
        token.map[0]
        for token in PARSER.parse(block)
        if token.type == "list_item_open" and token.level == 1 and token.map
    ]
    ends = [*starts[1:], len(lines)]
    return ["\n".join(lines[start:end]).rstrip() for start, end in zip(starts, ends, strict=True)]


def _line_parts(
    lines: list[str], *, head: list[str], tail: list[str], limit: int, size: Size
) -> Iterator[str]:
    frame = size("\n".join(["", *head, *tail, ""])) if head or tail else 0
    if frame > limit // 2:
        # A frame as large as what it holds is of no use to anybody.
        lines, head, tail, frame = [*head, *lines, *tail], [], [], 0
    room = limit - frame
    held: list[str] = []
    for line in lines:
        for part in _fitting(line, room=room, size=size):
            if held and size("\n".join([*held, part])) > room:
                yield "\n".join([*head, *held, *tail])
                held = []
            held.append(part)
    if held:
        yield "\n".join([*head, *held, *tail])


def _fitting(line: str, *, room: int, size: Size) -> Iterator[str]:
    if size(line) <= room:
        yield line
    elif "\n" in line:
        for single in line.split("\n"):
            yield from _fitting(single, room=room, size=size)
    else:
        yield from split_line(line, limit=room, size=size)


def _cut(text: str, *, limit: int, size: Size) -> int:
    """Where to cut: the last space that fits and is in no atom, else before the atom, else anywhere."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle]) <= limit else (low, middle - 1)
    most = max(low, 1)
    spans = [match.span() for match in _ATOM.finditer(text) if match.start() < most]
    for position in range(most, most // 2, -1):
        if text[position - 1].isspace() and not _inside(position, spans):
            return position
    position = most
    if inside := _inside(position, spans):
        position = inside[0] or most
    while position > 1 and _is_joined(text, position):
        position -= 1
    return position


def _inside(position: int, spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    return next((span for span in spans if span[0] < position < span[1]), None)


def _is_joined(text: str, position: int) -> bool:
    """Whether a cut here would part a letter from its accent, or an emoji from its other half."""
    if position >= len(text):
        return False
    after, before = text[position], text[position - 1]
    return unicodedata.combining(after) > 0 or after in _JOINERS or before == "\u200d"
