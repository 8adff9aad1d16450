"""Markdown to Slack's mrkdwn: no headings, no tables, other signs for bold and links. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.slack.escaping import INVISIBLE, escaped, mrkdwn_link

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
"""The dialect that answers are written in; HTML is text."""

REMEMBERED = 256
"""Texts whose drawing is kept: what is asked often is answered alike, and parsing is most of drawing."""

_MARKS = {"strong": "*", "em": "_", "s": "~"}
_WORD = re.compile(r"\w")


@lru_cache(maxsize=REMEMBERED)
def mrkdwn(markdown: str) -> str:
    """The same text in mrkdwn: ``& < >`` escaped once, code untouched, nothing that pings."""
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
            text = _bold_line(inside)
        case "paragraph_open":
            text = _inline(inside[0].children or ())
        case "bullet_list_open" | "ordered_list_open":
            text = _list(tokens)
        case "blockquote_open":
            text = "\n".join(f"> {line}" for line in "\n\n".join(_blocks(inside)).split("\n"))
        case "fence" | "code_block":
            text = _fence(tokens[0].content)
        case "table_open":
            text = _table(inside)
        case "hr":
            text = "———"
        case _:
            text = escaped(tokens[0].content)
    return text


def _bold_line(inside: Sequence[Token]) -> str:
    text = _inline(inside[0].children or (), marks=False).replace("*", "")
    return f"*{text}*" if text.strip() else ""


def _fence(code: str) -> str:
    # Three backticks inside would end the block early.
    body = escaped(code.rstrip("\n")).replace("```", f"``{INVISIBLE}`")
    return f"```\n{body}\n```"


def _list(tokens: Sequence[Token]) -> str:
    number = int(tokens[0].attrGet("start") or 1) if tokens[0].type == "ordered_list_open" else None
    lines: list[str] = []
    position = 1
    while position < len(tokens) - 1:
        end = _closing(tokens, position)
        marker = "•" if number is None else f"{number}."
        body = "\n".join(_blocks(tokens[position + 1 : end])).split("\n")
        lines.append(f"{marker} {body[0]}")
        lines.extend(f"    {line}" for line in body[1:])
        number = number + 1 if number is not None else None
        position = end + 1
    return "\n".join(lines)


def _table(tokens: Sequence[Token]) -> str:
    """Columns in a code block: the one way in which they stay columns."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token.children or ()))
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=False)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
    return _fence("\n".join(lines))


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(token.content or (" " if token.type.endswith("break") else "") for token in tokens)


def _inline(tokens: Sequence[Token], *, marks: bool = True) -> str:
    parts: list[str] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type == "link_open":
            end = _closing(tokens, position)
            label = _plain(tokens[position + 1 : end])
            parts.append(mrkdwn_link(str(token.attrGet("href") or ""), label))
            position = end
        elif marks and token.tag in _MARKS and token.nesting != 0:
            parts.append(_mark(token, before=parts[-1] if parts else "", after=_next_text(tokens, position)))
        else:
            parts.append(_leaf(token))
        position += 1
    return "".join(parts)


def _mark(token: Token, *, before: str, after: str) -> str:
    """The sign, set apart from a word that it touches: Slack formats whole words only."""
    sign = _MARKS[token.tag]
    if token.nesting == 1:
        return INVISIBLE + sign if _WORD.match(before[-1:]) else sign
    return sign + INVISIBLE if _WORD.match(after[:1]) else sign


def _next_text(tokens: Sequence[Token], position: int) -> str:
    return tokens[position + 1].content if position + 1 < len(tokens) else ""


def _leaf(token: Token) -> str:
    match token.type:
        case "code_inline":
            return escaped(token.content) if "`" in token.content else f"`{escaped(token.content)}`"
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return mrkdwn_link(str(token.attrGet("src") or ""), token.content or "image")
        case _:
            return escaped(token.content)
