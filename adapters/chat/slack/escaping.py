"""What may not reach Slack as it is: control tokens, characters of markup, labels and links. Pure.

Two languages are spoken, never mixed: *Markdown* (the ``markdown`` block and streams) and *mrkdwn* (``text``,
``section`` and ``context``), in which ``& < >`` are written as entities exactly once.
"""

import re
from urllib.parse import quote, urlsplit

INVISIBLE = "\u200b"
"""Zero-width space: breaks a token without being seen."""

_CONTROL = re.compile(r"<(?=[!@#])")
_BROADCAST = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.IGNORECASE)
_ENTITY = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the writing direction of whatever follows, links and dates included."""

_SPACES = re.compile(r"\s+")
_MARKDOWN_SYNTAX = re.compile(r"([\\\[\]`*_~<>|&])")
_PIPE = "\u00a6"
"""Stands for a pipe in a mrkdwn label, where a real one would end the link."""


def inert(markdown: str) -> str:
    """Markdown in which nothing pings: ``<!channel>``, ``<@U1>``, ``<#C1>`` and ``@here`` are mere text."""
    upright = _OVERRIDES.sub("", markdown)
    return _BROADCAST.sub(f"@{INVISIBLE}", _CONTROL.sub(f"<{INVISIBLE}", upright))


def escaped(text: str) -> str:
    """Plain text for mrkdwn: ``& < >`` as entities, once; broadcasts inert."""
    upright = _OVERRIDES.sub("", text)
    return _BROADCAST.sub(
        f"@{INVISIBLE}", "".join(_ENTITY.get(character, character) for character in upright)
    )


def plain(text: str, *, limit: int) -> str:
    """One line of at most ``limit`` characters for a ``plain_text`` object."""
    line = inert(_SPACES.sub(" ", text).strip())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def mrkdwn_link(url: str, label: str) -> str:
    """``<url|label>``; the label alone where the address is no web or mail address."""
    shown = escaped(_SPACES.sub(" ", label).strip().replace("|", _PIPE))
    address = safe_url(url)
    if not address:
        return shown
    return f"<{escaped(address)}|{shown}>" if shown else f"<{escaped(address)}>"


def markdown_link(url: str, label: str) -> str:
    """``[label](url)`` with whatever the label holds shown as it is."""
    shown = inert(_MARKDOWN_SYNTAX.sub(r"\\\1", _SPACES.sub(" ", label).strip()))
    address = safe_url(url)
    return f"[{shown}]({address})" if address else shown


def safe_url(url: str) -> str:
    """The address with the characters encoded that would end a link; empty unless http, https or mailto."""
    try:
        scheme = urlsplit(url.strip()).scheme.lower()
    except ValueError:
        return ""
    if scheme not in ("http", "https", "mailto"):
        return ""
    return quote(url.strip(), safe="!#$%&'*+,/:;=?@[]~-._")


def unescaped(incoming: str) -> str:
    """What the person typed: Slack delivers ``& < >`` as entities."""
    return incoming.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
