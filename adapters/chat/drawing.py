"""Markdown as answers are written in, walked through once; each platform draws the pieces itself. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
"""The dialect that answers are written in; HTML is text."""

REMEMBERED = 256
"""Texts whose drawing is kept: what is asked often is answered alike, and parsing is most of drawing."""

MARKS = frozenset({"strong", "em", "s"})


class Drawing(ABC):
    """What a platform makes of each piece; the walk through them is the same for all.

    Whatever a platform returns must show the piece as it is, and ping nobody.
    """

    bullet: str
    rule: str

    @abstractmethod
    def text(self, content: str) -> str:
        """Plain text."""

    @abstractmethod
    def code(self, content: str) -> str:
        """Code within a line."""

    @abstractmethod
    def fence(self, body: str, language: str = "") -> str:
        """A block of code."""

    @abstractmethod
    def link(self, url: str, label: str) -> str:
        """A link; the label alone where the address is none that may be followed."""

    @abstractmethod
    def mark(self, tag: str, *, opens: bool, before: str, after: str) -> str:
        """The sign of ``strong``, ``em`` or ``s`` between what stands ``before`` it and ``after`` it."""

    @abstractmethod
    def heading(self, level: int, words: Sequence[Token]) -> str:
        """A heading; empty where it has no words."""

    @abstractmethod
    def continued(self, line: str, marker: str) -> str:
        """A further line of a list item that begins with ``marker``."""

    def draw(self, markdown: str) -> str:
        """The whole text."""
        return "\n\n".join(self._blocks(PARSER.parse(markdown))).strip()

    def inline(self, tokens: Sequence[Token], *, marks: bool = True) -> str:
        """What stands within a block, with or without its signs."""
        parts: list[str] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "link_open":
                end = _closing(tokens, position)
                label = _plain(tokens[position + 1 : end])
                parts.append(self.link(str(token.attrGet("href") or ""), label))
                position = end
            elif marks and token.tag in MARKS and token.nesting != 0:
                after = tokens[position + 1].content if position + 1 < len(tokens) else ""
                before = parts[-1] if parts else ""
                parts.append(self.mark(token.tag, opens=token.nesting == 1, before=before, after=after))
            else:
                parts.append(self._leaf(token))
            position += 1
        return "".join(parts)

    def _blocks(self, tokens: Sequence[Token]) -> Iterator[str]:
        """Each top-level block as text without a line end."""
        position = 0
        while position < len(tokens):
            end = _closing(tokens, position)
            text = self._block(tokens[position : end + 1])
            if text.strip():
                yield text
            position = end + 1

    def _block(self, tokens: Sequence[Token]) -> str:
        first, inside = tokens[0], tokens[1:-1]
        match first.type:
            case "heading_open":
                text = self.heading(int(first.tag.removeprefix("h")), inside[0].children or ())
            case "paragraph_open":
                text = self.inline(inside[0].children or ())
            case "bullet_list_open" | "ordered_list_open":
                text = self._list(tokens)
            case "blockquote_open":
                text = "\n".join(f"> {line}" for line in "\n\n".join(self._blocks(inside)).split("\n"))
            case "fence":
                text = self.fence(first.content, next(iter(first.info.split()), ""))
            case "code_block":
                text = self.fence(first.content)
            case "table_open":
                text = self._table(inside)
            case "hr":
                text = self.rule
            case _:
                text = self.text(first.content)
        return text

    def _list(self, tokens: Sequence[Token]) -> str:
        number = int(tokens[0].attrGet("start") or 1) if tokens[0].type == "ordered_list_open" else None
        lines: list[str] = []
        position = 1
        while position < len(tokens) - 1:
            end = _closing(tokens, position)
            marker = self.bullet if number is None else f"{number}."
            body = "\n".join(self._blocks(tokens[position + 1 : end])).split("\n")
            lines.append(f"{marker} {body[0]}")
            lines.extend(self.continued(line, marker) for line in body[1:])
            number = number + 1 if number is not None else None
            position = end + 1
        return "\n".join(lines)

    def _table(self, tokens: Sequence[Token]) -> str:
        """Columns in a code block: the one way in which they stay columns."""
        rows: list[list[str]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(_plain(token.children or ()))
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=False)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
            for row in rows
        )
        return self.fence("\n".join(lines))

    def _leaf(self, token: Token) -> str:
        match token.type:
            case "code_inline":
                return self.code(token.content)
            case "softbreak" | "hardbreak":
                return "\n"
            case "image":
                return self.link(str(token.attrGet("src") or ""), token.content or "image")
            case _:
                return self.text(token.content)


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for position in range(opening, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(token.content or (" " if token.type.endswith("break") else "") for token in tokens)
