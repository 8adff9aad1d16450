"""HTML to blocks by way of Markdown, without what frames a page instead of being its text."""

from adapters.extractors.limits import Room
from adapters.markup.markdown import parse_markdown, plain_blocks
from core.domain.attachments import ExtractedPart
from core.domain.documents import Block

_FRAME = (
    *("script", "style", "noscript", "template", "svg", "iframe", "object", "form"),
    *("nav", "footer", "aside", "dialog", "img", "picture"),
    *('[role="navigation"]', '[role="banner"]', '[role="contentinfo"]', '[aria-hidden="true"]', "[hidden]"),
)
"""Selectors of what is not the document's own text."""


def read_html(text: str, room: Room) -> list[ExtractedPart]:
    """The document as one part."""
    return [ExtractedPart("", blocks_of_html(text, room))]


def blocks_of_html(html: str, room: Room) -> tuple[Block, ...]:
    """The document's own text; markup nested too deeply for its structure gives its words."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    try:
        for found in soup.select(", ".join(_FRAME)):
            found.decompose()
        body = soup.body or soup
        markdown: str = MarkdownConverter(heading_style=ATX, bullets="-").convert_soup(body)
        return parse_markdown(room.take(markdown))
    except RecursionError:
        return plain_blocks(room.take("\n\n".join(soup.stripped_strings)))
