"""Markdown to a tree of blocks, for sources that have files instead of an API.

Only hash headings of levels 1 to 3 that stand at the top level and hold text open sections (C10 to C12);
deeper ones are bold paragraphs. Callouts and toggles written as HTML are containers. Nothing but drawing is
lost: images leave their captions, dividers nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.markup.escaping import escape_structure
from adapters.markup.html_text import Mark, Text, parts
from adapters.markup.markdown_inline import ResolveLink, render_inline
from adapters.markup.markdown_text import fenced, quoted, table
from core.domain.documents import Block, BlockKind

MAX_NESTING = 300
"""Levels of the parser, two for each list. It drops what is nested further, so then nothing is parsed."""

DEEPEST_SECTION = 3


class _Parser(MarkdownIt):
    """CommonMark with tables, less what Notion has not."""

    def __init__(self, *disabled: str) -> None:
        super().__init__("commonmark", {"maxNesting": MAX_NESTING})
        self.enable(["table", "strikethrough"])
        # "lheading" would turn the line above a divider into a heading (C10), "reference" would swallow lines
        # such as "[note]: buy milk". Inline text is parsed piece by piece, where its size is looked at first.
        self.disable(["lheading", "reference", "inline", *disabled])

    def validateLink(self, url: str) -> bool:  # noqa: N802 # the library's name
        """Every address is taken for a link here, so that a bad one can be dropped and its text kept."""
        del url
        return True


_PARSER = _Parser()
_PARSER_WITHOUT_INDENTED_CODE = _Parser("code")


class BrokenTreeError(ValueError):
    """The parser's output makes no tree."""


def parse_markdown(
    text: str, *, resolve_link: ResolveLink | None = None, indented_code: bool = True
) -> tuple[Block, ...]:
    """The blocks of a Markdown text; none has an id.

    ``resolve_link`` gives the address of relative links; without it, or where it gives none, only the link's
    text stays. ``indented_code`` takes lines indented by four blanks for code, as CommonMark does.
    A text whose structure cannot be read gives its paragraphs as plain text (C20).
    """
    parser = _PARSER if indented_code else _PARSER_WITHOUT_INDENTED_CODE
    try:
        tokens = parser.parse(text)
        if any(token.level >= MAX_NESTING - 2 for token in tokens):
            raise BrokenTreeError(f"nested more than {MAX_NESTING // 2} levels deep")
        return _Builder(parser, resolve_link or _no_link).build(tokens)
    except (BrokenTreeError, RecursionError):
        return plain_blocks(text)


def plain_blocks(text: str) -> tuple[Block, ...]:
    """Paragraphs between empty lines, nothing in them read as structure."""
    lines = [line.strip() for line in text.splitlines()]
    paragraphs = "\n".join(lines).split("\n\n")
    return tuple(
        Block(BlockKind.PARAGRAPH, escape_structure(paragraph.strip("\n")))
        for paragraph in paragraphs
        if paragraph.strip()
    )


def _no_link(_: str) -> str | None:
    return None


@dataclass(slots=True)
class _Frame:
    """A block whose end was not met yet."""

    kind: BlockKind
    marker: str = ""
    text: str | None = None
    quotes: int = 0
    children: list[Block] = field(default_factory=list)

    def block(self) -> Block:
        text = self.marker if self.kind is BlockKind.LIST_ITEM and self.text is None else self.text or ""
        return Block(self.kind, text, children=tuple(self.children))


class _Builder:
    """Builds blocks from the parser's flat list of tokens, without recursion."""

    def __init__(self, parser: MarkdownIt, resolve: ResolveLink) -> None:
        self._parser = parser
        self._resolve = resolve
        self._frames = [_Frame(BlockKind.CONTAINER)]
        self._rows: list[list[str]] = []

    def build(self, tokens: Sequence[Token]) -> tuple[Block, ...]:
        """All blocks of the text."""
        self._read(tokens)
        while len(self._frames) > 1:
            self._close()
        return tuple(self._frames[0].children)

    def _read(self, tokens: Sequence[Token], *, html: bool = True) -> None:
        for number, token in enumerate(tokens):
            match token.type:
                case "list_item_open":
                    marker = f"{token.info}{token.markup}" if token.info else "-"
                    self._frames.append(_Frame(BlockKind.LIST_ITEM, marker))
                case "list_item_close":
                    self._close_item()
                case "blockquote_open":
                    self._frames[-1].quotes += 1
                case "blockquote_close":
                    self._frames[-1].quotes -= 1
                case "inline":
                    self._inline(token, tokens[number - 1])
                case "fence" | "code_block":
                    self._add(Block(BlockKind.CODE, fenced(token.content.rstrip("\n"), token.info)))
                case "tr_open":
                    self._rows.append([])
                case "table_close":
                    self._add(Block(BlockKind.TABLE, table(self._rows)))
                    self._rows = []
                case "html_block":
                    self._html(token.content, html=html)
                case _:
                    pass

    def _inline(self, token: Token, opening: Token) -> None:
        text = render_inline(token.content, self._parser, self._resolve)
        if opening.type in {"th_open", "td_open"}:
            if not self._rows:
                raise BrokenTreeError("a cell outside of a row")
            self._rows[-1].append(text)
        elif opening.type == "heading_open":
            self._heading(" ".join(text.split()), int(opening.tag[1:]))
        else:
            self._paragraph(escape_structure(text.strip()))

    def _paragraph(self, text: str) -> None:
        if not text.strip():
            return
        frame = self._frames[-1]
        if frame.quotes > 0:
            self._add(Block(BlockKind.QUOTE, quoted(text, frame.quotes)))
        elif frame.kind is BlockKind.LIST_ITEM and frame.text is None and not frame.children:
            frame.text = f"{frame.marker} {text}"
        else:
            self._add(Block(BlockKind.PARAGRAPH, text))

    def _heading(self, text: str, level: int) -> None:
        if not text:
            return
        frame = self._frames[-1]
        is_first_in_item = frame.kind is BlockKind.LIST_ITEM and frame.text is None and not frame.children
        if frame.quotes > 0 or is_first_in_item:
            self._paragraph(f"{'#' * level} {text}")
        elif level <= DEEPEST_SECTION and not self._in_list:
            self._add(Block(BlockKind.HEADING, text, level=level))
        else:
            self._add(Block(BlockKind.PARAGRAPH, text if text.startswith("**") else f"**{text}**"))

    @property
    def _in_list(self) -> bool:
        return any(frame.kind is BlockKind.LIST_ITEM for frame in self._frames)

    def _html(self, content: str, *, html: bool) -> None:
        if not html:
            self._paragraph(escape_structure(content.strip()))
            return
        for part in parts(content):
            match part:
                case Text(text):
                    # Text between tags is Markdown again, for example a callout's first line.
                    self._read(self._parser.parse(text.strip()), html=False)
                case Mark.OPEN:
                    self._frames.append(_Frame(BlockKind.CONTAINER))
                case Mark.CLOSE:
                    if len(self._frames) > 1 and self._frames[-1].kind is BlockKind.CONTAINER:
                        self._close()

    def _add(self, block: Block) -> None:
        self._frames[-1].children.append(block)

    def _close_item(self) -> None:
        """End a list item, and containers inside it that were never closed."""
        while len(self._frames) > 1 and self._frames[-1].kind is BlockKind.CONTAINER:
            self._close()
        if len(self._frames) == 1:
            raise BrokenTreeError("an item ends that never began")
        self._close()

    def _close(self) -> None:
        frame = self._frames.pop()
        if frame.kind is BlockKind.LIST_ITEM or frame.children:
            self._add(frame.block())
