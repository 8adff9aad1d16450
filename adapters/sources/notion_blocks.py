"""Trees of API blocks to the blocks of the core: every type Notion has, and those it does not have yet."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from adapters.markup.escaping import escape_structure
from adapters.markup.links import link, safe_link
from adapters.sources.notion_json import (
    Json,
    as_list,
    as_mapping,
    as_text,
    block_id,
    is_gone,
    page_id,
    payload,
    type_of,
)
from adapters.sources.notion_text import page_link, plain, render, render_inline, render_line
from core.domain.documents import Block, BlockKind

OWN_PAGES = frozenset({"child_page", "child_database"})
"""Documents of their own: linked to, never copied into the page that holds them (U6, NOT-9)."""

CONTAINERS = frozenset(
    {
        "column_list",
        "column",
        "synced_block",
        "tab",
        "tab_list",
        "tab_group",
        "transcription",
        "meeting_notes",
    }
)
MEETING_PART = "meeting_part"
"""Our own name for a summary, notes or transcript that meeting notes refer to by id."""

SILENT = frozenset({"breadcrumb", "table_of_contents", "divider", "unsupported"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """The blocks of a page, and how often a type was met that nobody knows (F4)."""

    blocks: tuple[Block, ...]
    unknown: Mapping[str, int]


def render_blocks(blocks: Sequence[object]) -> Rendered:
    """The blocks of one page; each object holds its children, as objects, under ``children``.

    Iterative: Notion pages nest a thousand levels deep (F2). Blocks in the trash are left out.
    """
    unknown: Counter[str] = Counter()
    nodes = list(_in_reading_order(blocks))
    finished: dict[int, list[tuple[Block, ...]]] = {}
    # In reverse, so that the children of a block are finished before the block itself.
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        children = tuple(block for group in reversed(finished.pop(number, [])) for block in group)
        finished.setdefault(node.parent, []).append(_convert(node, children, unknown))
    top = tuple(block for group in reversed(finished.get(-1, [])) for block in group)
    return Rendered(top, MappingProxyType(dict(unknown)))


@dataclass(frozen=True, slots=True)
class _Node:
    raw: Json
    parent: int
    number: str = ""
    """What a numbered item shows before its text."""


def _in_reading_order(blocks: Sequence[object]) -> Iterator[_Node]:
    stack = [*_siblings(blocks, parent=-1)][::-1]
    count = 0
    while stack:
        node = stack.pop()
        yield node
        if type_of(node.raw) not in OWN_PAGES | {"table"}:
            stack.extend([*_siblings(children_of(node.raw), parent=count)][::-1])
        count += 1


def children_of(raw: Json) -> Sequence[object]:
    """The children that were put into a block; anything but a list of them reads as none."""
    return as_list(raw.get("children"))


def _siblings(blocks: Sequence[object], *, parent: int) -> Iterator[_Node]:
    """Live blocks with the numbers that Notion shows: a run of numbered items counts up from its start."""
    count = 0
    for raw in map(as_mapping, blocks):
        if not raw or is_gone(raw):
            continue
        if type_of(raw) == "numbered_list_item":
            held = payload(raw)
            start = held.get("list_start_index")
            first = start if isinstance(start, int) and not isinstance(start, bool) else 1
            count = count + 1 if count else max(first, 0)
            yield _Node(raw, parent, _ordinal(count, as_text(held.get("list_format"))))
            continue
        count = 0
        yield _Node(raw, parent)


_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_ROMAN_ONES = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_MAX_ROMAN = 3999


def _ordinal(number: int, style: str) -> str:
    """``3``, ``c`` or ``iii``."""
    if style == "letters" and number > 0:
        letters = ""
        while number:
            number, digit = divmod(number - 1, 26)
            letters = chr(ord("a") + digit) + letters
        return letters
    if style == "roman" and 0 < number <= _MAX_ROMAN:
        numeral = ""
        for value, sign in (*_ROMAN, *_ROMAN_ONES):
            times, number = divmod(number, value)
            numeral += sign * times
        return numeral
    return str(number)


# --- One block -----------------------------------------------------------------------------------------

_Children = tuple[Block, ...]


def _convert(node: _Node, children: _Children, unknown: Counter[str]) -> tuple[Block, ...]:
    raw, kind = node.raw, type_of(node.raw)
    converter = _CONVERTERS.get(kind)
    if converter is not None:
        return _with_id(raw, converter(raw, children))
    if kind == "numbered_list_item":
        return _with_id(raw, _item(f"{node.number}. ", raw, children))
    if kind in CONTAINERS:
        return _with_id(raw, _container(raw, children))
    if kind not in SILENT and kind != MEETING_PART:
        unknown[kind or "untyped"] += 1
    elif kind == "unsupported":
        unknown[as_text(payload(raw).get("block_type")) or "unsupported"] += 1
    return _with_id(raw, _stranger(raw, children))


def _with_id(raw: Json, blocks: Sequence[Block]) -> tuple[Block, ...]:
    identifier = block_id(raw.get("id"))
    return tuple(
        Block(
            block.kind, block.text, block.id or identifier, block.level, block.children, mirrors=block.mirrors
        )
        for block in blocks
        if block.text or block.children or block.mirrors
    )


def _own_text(raw: Json) -> str:
    return render(payload(raw).get("rich_text"))


def _paragraph(raw: Json, children: _Children) -> list[Block]:
    icon = _icon(payload(raw).get("icon"))
    text = _own_text(raw)
    return [Block(BlockKind.PARAGRAPH, f"{icon} {text}".strip() if icon else text, children=children)]


def _heading(level: int) -> "_Converter":
    def convert(raw: Json, children: _Children) -> list[Block]:
        text = render_line(payload(raw).get("rich_text"))
        if not text:
            return [Block(BlockKind.CONTAINER, children=children)]
        return [Block(BlockKind.HEADING, text, level=level, children=children)]

    return convert


def _bold_heading(raw: Json, children: _Children) -> list[Block]:
    """The fourth level is bold text: only three levels open sections."""
    text = render_line(payload(raw).get("rich_text"))
    if text and "*" not in text:
        text = f"**{text}**"
    return [Block(BlockKind.PARAGRAPH, text, children=children)]


def _item(marker: str, raw: Json, children: _Children) -> list[Block]:
    text = _own_text(raw)
    hanging = re.sub(r"\n(?=.)", "\n" + " " * len(marker), text)
    return [Block(BlockKind.LIST_ITEM, f"{marker}{hanging}" if text else marker.strip(), children=children)]


def _bullet(raw: Json, children: _Children) -> list[Block]:
    return _item("- ", raw, children)


def _to_do(raw: Json, children: _Children) -> list[Block]:
    return _item("- [x] " if payload(raw).get("checked") is True else "- [ ] ", raw, children)


def _quote(raw: Json, children: _Children) -> list[Block]:
    icon = _icon(payload(raw).get("icon"))
    text = _own_text(raw)
    shown = f"{icon} {text}" if icon and text else text or (icon if children else "")
    if not shown:
        return [Block(BlockKind.CONTAINER, children=children)]
    quoted = "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))
    return [Block(BlockKind.QUOTE, quoted, children=children)]


def _icon(icon: object) -> str:
    fields = as_mapping(icon)
    held = fields.get(type_of(fields))
    if isinstance(held, str):
        return as_text(held)
    name = as_text(as_mapping(held).get("name"))
    return f":{name}:" if name and type_of(fields) == "custom_emoji" else ""


def _code(raw: Json, children: _Children) -> list[Block]:
    held = payload(raw)
    text = plain(held.get("rich_text"))
    blocks = [Block(BlockKind.CODE, _fenced(text, as_text(held.get("language"))))] if text.strip() else []
    return [*blocks, *_caption(held), *children]


def _fenced(text: str, language: str) -> str:
    """A fenced block whose fence no line of the code can close (C16, U17)."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    name = "" if language == "plain text" else re.sub(r"[\s`]+", "-", language.strip())
    body = text.removesuffix("\n")
    return f"{fence}{name}\n{body}\n{fence}"


def _caption(held: Json) -> list[Block]:
    caption = render(held.get("caption"))
    return [Block(BlockKind.PARAGRAPH, caption)] if caption.strip() else []


def _equation(raw: Json, children: _Children) -> list[Block]:
    # On one line: a line of a formula may look like a list, and white space means nothing in it.
    expression = " ".join(as_text(payload(raw).get("expression")).split())
    return [Block(BlockKind.PARAGRAPH, f"$$ {expression} $$" if expression else "", children=children)]


def _container(raw: Json, children: _Children) -> list[Block]:
    """Children at their place, behind whatever text the block itself carries: template, meeting notes."""
    held = payload(raw)
    texts = [render(held.get(name)) for name in ("title", "rich_text", "caption")]
    own = [Block(BlockKind.PARAGRAPH, text) for text in texts if text.strip()]
    if isinstance(held.get("title"), str) and held["title"].strip():
        own.insert(0, Block(BlockKind.PARAGRAPH, render([{"plain_text": held["title"]}])))
    mirrored = block_id(as_mapping(held.get("synced_from")).get("block_id"))
    return [Block(BlockKind.CONTAINER, children=(*own, *children), mirrors=mirrored)]


def _stranger(raw: Json, children: _Children) -> list[Block]:
    """Of a type nobody knows, whatever looks like rich text is kept (NOT-10)."""
    texts = [render(found) for found in _rich_texts(payload(raw))]
    own = (Block(BlockKind.PARAGRAPH, text) for text in texts if text.strip())
    return [Block(BlockKind.CONTAINER, children=(*own, *children))]


def _rich_texts(held: Json) -> Iterator[Sequence[object]]:
    """Every list of items with ``plain_text`` within, in order."""
    stack: list[object] = [held]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(reversed(list(value.values())))
        elif isinstance(value, list | tuple):
            if any("plain_text" in as_mapping(item) for item in value):
                yield value
            else:
                stack.extend(reversed(value))


# --- Tables --------------------------------------------------------------------------------------------


def _table(raw: Json, _: _Children) -> list[Block]:
    """Markdown rows; without a header row the header cells are empty, since Markdown cannot do without."""
    held = payload(raw)
    rows = [
        [_cell(cell) for cell in as_list(payload(row).get("cells"))]
        for row in map(as_mapping, children_of(raw))
        if type_of(row) == "table_row" and not is_gone(row)
    ]
    rows = [row for row in rows if row]
    if not any(cell for row in rows for cell in row):
        return []
    width = max(map(len, rows))
    rows = [row + [""] * (width - len(row)) for row in rows]
    header_row = held.get("has_column_header") is True
    if held.get("has_row_header") is True:
        rows = [
            [_bold(row[0]) if number or not header_row else row[0], *row[1:]]
            for number, row in enumerate(rows)
        ]
    header, body = (rows[0], rows[1:]) if header_row else ([""] * width, rows)
    lines = [_row(header), _row(["---"] * width), *map(_row, body)]
    return [Block(BlockKind.TABLE, "\n".join(lines))]


def _cell(cell: object) -> str:
    """One line whose pipes do not end the cell (F14)."""
    return re.sub(r"(?<!\\)(\\*)\|", lambda match: match[1] * 2 + r"\|", render_line(cell))


def _bold(cell: str) -> str:
    return cell if not cell or "*" in cell else f"**{cell}**"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _lone_row(raw: Json, children: _Children) -> list[Block]:
    """A row outside any table, as prose."""
    cells = [render_line(cell) for cell in as_list(payload(raw).get("cells"))]
    return [Block(BlockKind.PARAGRAPH, " · ".join(filter(None, cells)), children=children)]


# --- Links and files -----------------------------------------------------------------------------------


def _child(raw: Json, _: _Children) -> list[Block]:
    title = as_text(payload(raw).get("title"))
    return [Block(BlockKind.PARAGRAPH, page_link(page_id(raw.get("id")), shown=title))]


def _link_to_page(raw: Json, children: _Children) -> list[Block]:
    held = payload(raw)
    if type_of(held) == "comment_id":
        return [Block(BlockKind.CONTAINER, children=children)]
    identifier = page_id(held.get(type_of(held)))
    text = page_link(identifier) if identifier else ""
    return [Block(BlockKind.PARAGRAPH, text, children=children)]


def _bookmark(raw: Json, children: _Children) -> list[Block]:
    held = payload(raw)
    url = safe_link(as_text(held.get("url")))
    return [Block(BlockKind.PARAGRAPH, _labelled(held, url=url) or url, children=children)]


def _file(raw: Json, children: _Children) -> list[Block]:
    """Name and caption; a link only to what lies outside Notion: its own file links expire (F19)."""
    held = payload(raw)
    source = as_mapping(held.get(type_of(held)))
    url = safe_link(as_text(source.get("url"))) if type_of(held) == "external" else ""
    name = as_text(held.get("name")).strip()
    if not name and type_of(raw) != "image":
        name = _file_name(as_text(source.get("url")))
    return [Block(BlockKind.PARAGRAPH, _labelled(held, url=url, name=name), children=children)]


def _file_name(url: str) -> str:
    """``report.pdf`` from the path of a link; the rest of the link is not looked at."""
    try:
        last = unquote(urlsplit(url).path).rstrip("/").rsplit("/", 1)[-1]
    except ValueError:
        return ""
    return last if re.fullmatch(r"[^\s/]{1,200}\.\w{1,8}", last) else ""


def _labelled(held: Json, *, url: str, name: str = "") -> str:
    """``[name](url): caption``, or whichever of them there is; links inside a caption stay whole."""
    caption = render(held.get("caption"))
    if name:
        shown = link(name, url) if url else escape_structure(name)
        return f"{shown}: {caption}" if caption.strip() and caption.strip() != name else shown
    inline = render_inline(held.get("caption"))
    if url and caption.strip() and "](" not in inline and "\n" not in inline:
        return link(inline.strip(), url)
    return f"{caption}\n{url}".strip() if url else caption


_Converter = Callable[[Json, _Children], list[Block]]

_CONVERTERS: Mapping[str, _Converter] = MappingProxyType(
    {
        "paragraph": _paragraph,
        "heading_1": _heading(1),
        "heading_2": _heading(2),
        "heading_3": _heading(3),
        "heading_4": _bold_heading,
        "bulleted_list_item": _bullet,
        "to_do": _to_do,
        "toggle": _bullet,
        "quote": _quote,
        "callout": _quote,
        "code": _code,
        "equation": _equation,
        "table": _table,
        "table_row": _lone_row,
        "template": _paragraph,
        "child_page": _child,
        "child_database": _child,
        "link_to_page": _link_to_page,
        "bookmark": _bookmark,
        "embed": _bookmark,
        "link_preview": _bookmark,
        "image": _file,
        "video": _file,
        "audio": _file,
        "file": _file,
        "pdf": _file,
    }
)


def is_known_type(kind: str) -> bool:
    """Whether the API documents this type, so that its children can be relied on."""
    return kind in _CONVERTERS or kind in CONTAINERS or kind == "numbered_list_item"
