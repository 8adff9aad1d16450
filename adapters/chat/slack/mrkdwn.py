"""Markdown to Slack's mrkdwn: no headings, no tables, other signs for bold and links. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache

from markdown_it.token import Token

from adapters.chat.drawing import REMEMBERED, Drawing
from adapters.chat.slack.escaping import INVISIBLE, escaped, mrkdwn_link

_MARKS = {"strong": "*", "em": "_", "s": "~"}
_WORD = re.compile(r"\w")


class _Mrkdwn(Drawing):
    bullet = "•"
    rule = "———"

    def text(self, content: str) -> str:
        return escaped(content)

    def code(self, content: str) -> str:
        return escaped(content) if "`" in content else f"`{escaped(content)}`"

    def fence(self, body: str, language: str = "") -> str:
        del language  # Slack would show it as the first line.
        # Three backticks inside would end the block early.
        kept = escaped(body.rstrip("\n")).replace("```", f"``{INVISIBLE}`")
        return f"```\n{kept}\n```"

    def link(self, url: str, label: str) -> str:
        return mrkdwn_link(url, label)

    def mark(self, tag: str, *, opens: bool, before: str, after: str) -> str:
        """Set apart from a word that it touches: Slack formats whole words only."""
        sign = _MARKS[tag]
        if opens:
            return INVISIBLE + sign if _WORD.match(before[-1:]) else sign
        return sign + INVISIBLE if _WORD.match(after[:1]) else sign

    def heading(self, level: int, words: Sequence[Token]) -> str:
        """A bold line, whatever the level."""
        del level
        text = self.inline(words, marks=False).replace("*", "")
        return f"*{text}*" if text.strip() else ""

    def continued(self, line: str, marker: str) -> str:
        del marker
        return f"    {line}"


@lru_cache(maxsize=REMEMBERED)
def mrkdwn(markdown: str) -> str:
    """The same text in mrkdwn: ``& < >`` escaped once, code untouched, nothing that pings."""
    return _Mrkdwn().draw(markdown)
