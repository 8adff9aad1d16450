"""Markdown as answers are written in to Markdown as Discord draws it: no tables, images or HTML. Pure."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.discord.escaping import code, escaped, fence, link

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
"""The dialect that answers are written in; HTML is text."""

REMEMBERED = 256
"""Texts whose drawing is kept: what is asked often is answered alike, and parsing is most of drawing."""

_MARKS = {"strong": "**", "em": "*", "s": "~~"}
_DEEPEST_HEADING = 3
"""Discord draws three levels; deeper ones become bold lines."""


@lru_cache(maxsize=REMEMBERED)
def discord_markdown(markdown: str) -> str:
    """The same text for Discord: everything that is text is escaped, code untouched, nothing pings."""
    return "\n\n".join(_blocks(PARSER.parse(markdown))).strip()


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    """Each top-level block as text without a line end."""
    position = 0
    while position < len(tokens):
        end = _closing(tokens, position)
        text = _block(tokens[position : end + 1])
        if text.strip():
            yield text
        position = end + 1


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for position in range(opening, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _block(tokens: Sequence[Token]) -> str:
    inside = tokens[1:-1]
    match tokens[0].type:
        case "heading_open":
            text = _heading(tokens[0], inside)
        case "paragraph_open":
            text = _inline(inside[0].children or ())
        case "bullet_list_open" | "ordered_list_open":
            text = _list(tokens)
        case "blockquote_open":
            text = "\n".join(f"> {line}" for line in "\n\n".join(_blocks(inside)).split("\n"))
        case "fence":
            language = tokens[0].info.split()[0] if tokens[0].info.split() else ""
            text = fence(tokens[0].content, language)
        case "code_block":
            text = fence(tokens[0].content)
        case "table_open":
            text = _table(inside)
        case "hr":
            text = "\\_\\_\\_"
        case _:
            text = escaped(tokens[0].content)
    return text


def _heading(opening: Token, inside: Sequence[Token]) -> str:
    text = _inline(inside[0].children or ()).replace("\n", " ").strip()
    if not text:
        return ""
    level = int(opening.tag.removeprefix("h"))
    return f"{'#' * level} {text}" if level <= _DEEPEST_HEADING else f"**{text.replace('**', '')}**"


def _list(tokens: Sequence[Token]) -> str:
    number = int(tokens[0].attrGet("start") or 1) if tokens[0].type == "ordered_list_open" else None
    lines: list[str] = []
    position = 1
    while position < len(tokens) - 1:
        end = _closing(tokens, position)
        marker = "-" if number is None else f"{number}."
        body = "\n".join(_blocks(tokens[position + 1 : end])).split("\n")
        lines.append(f"{marker} {body[0]}")
        # A fence inside an item stays at the margin: Discord shows its indentation as code.
        lines.extend(_indented(body[1:], width=len(marker) + 1))
        number = number + 1 if number is not None else None
        position = end + 1
    return "\n".join(lines)


def _indented(lines: Sequence[str], *, width: int) -> Iterator[str]:
    for line in lines:
        yield f"{' ' * width}{line}" if line else line


def _table(tokens: Sequence[Token]) -> str:
    """Columns in a code block: the one way in which they stay columns."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token.children or ()))
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=False)]
    return fence(
        "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
            for row in rows
        )
    )


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(token.content or (" " if token.type.endswith("break") else "") for token in tokens)


def _inline(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type == "link_open":
            end = _closing(tokens, position)
            parts.append(link(str(token.attrGet("href") or ""), _plain(tokens[position + 1 : end])))
            position = end
        elif token.tag in _MARKS and token.nesting != 0:
            parts.append(_MARKS[token.tag])
        else:
            parts.append(_leaf(token))
        position += 1
    # Line starts are only known once a whole line is.
    return "".join(parts)


def _leaf(token: Token) -> str:
    match token.type:
        case "code_inline":
            return code(token.content)
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return link(str(token.attrGet("src") or ""), token.content or "image")
        case _:
            return escaped(token.content)
