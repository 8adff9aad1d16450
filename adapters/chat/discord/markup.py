"""Markdown as answers are written in to Markdown as Discord draws it: no tables, images or HTML. Pure."""

from collections.abc import Sequence
from functools import lru_cache

from markdown_it.token import Token

from adapters.chat.discord.escaping import code, escaped, fence, link
from adapters.chat.drawing import REMEMBERED, Drawing

_MARKS = {"strong": "**", "em": "*", "s": "~~"}
_DEEPEST_HEADING = 3
"""Discord draws three levels; deeper ones become bold lines."""


class _DiscordMarkdown(Drawing):
    bullet = "-"
    rule = "\\_\\_\\_"

    def text(self, content: str) -> str:
        return escaped(content)

    def code(self, content: str) -> str:
        return code(content)

    def fence(self, body: str, language: str = "") -> str:
        return fence(body, language)

    def link(self, url: str, label: str) -> str:
        return link(url, label)

    def mark(self, tag: str, *, opens: bool, before: str, after: str) -> str:
        del opens, before, after
        return _MARKS[tag]

    def heading(self, level: int, words: Sequence[Token]) -> str:
        text = self.inline(words).replace("\n", " ").strip()
        if not text:
            return ""
        return f"{'#' * level} {text}" if level <= _DEEPEST_HEADING else f"**{text.replace('**', '')}**"

    def continued(self, line: str, marker: str) -> str:
        """A fence inside an item stays at the margin: Discord shows its indentation as code."""
        return f"{' ' * (len(marker) + 1)}{line}" if line else line


@lru_cache(maxsize=REMEMBERED)
def discord_markdown(markdown: str) -> str:
    """The same text for Discord: everything that is text is escaped, code untouched, nothing pings."""
    return _DiscordMarkdown().draw(markdown)
