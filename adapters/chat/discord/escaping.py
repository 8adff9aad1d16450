"""What may not reach Discord as it is: mentions, markup, labels and links. Pure."""

import re
from urllib.parse import quote, urlsplit

INVISIBLE = "\u200b"
"""Zero-width space: breaks a token without being seen."""

CUT = "…"
"""Ends what was cut by `plain`."""

LABEL_LENGTH = 500

URL_LENGTH = 1_000
"""Characters of an address in a text; a longer one is left out, its words stay."""

_MENTION = re.compile(r"@(?=everyone\b|here\b|[!&]?\d{15,})", re.IGNORECASE)
_TOKEN = re.compile(r"<(?=[@#/:]|a:|t:|id:|sound:)")
_SYNTAX = re.compile(r"([\\*_~|`\[\]<>])")
_LINE_START = re.compile(
    r"^([ \t]*)(?:(#{1,6}(?=\s|$)|-#(?=\s|$)|[-+](?=\s|$))|(\d+)([.)](?=\s|$)))", re.MULTILINE
)
_BARE = re.compile(r"https?://[^\s<>]+[^\s<>.,;:!?\"')\]]", re.IGNORECASE)
_INVITE = re.compile(r"\b(discord(?:app)?\.(?:gg|com/invite))/", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def inert(text: str) -> str:
    """Text in which nothing pings or is drawn by Discord: ``@everyone``, ``<@1>``, ``<#1>``, ``<t:1>``.

    Nor does anything turn round what stands behind it: signs that force a direction are left out.
    """
    kept = _DIRECTIONS.sub("", text)
    return _TOKEN.sub(f"<{INVISIBLE}", _MENTION.sub(f"@{INVISIBLE}", kept))


def escaped(text: str) -> str:
    """Plain text that shows as it is: no emphasis, spoiler, link, heading, list, quote or mention.

    Addresses stay usable and make no preview.
    """
    parts: list[str] = []
    position = 0
    for match in _BARE.finditer(text):
        parts.append(_literal(text[position : match.start()]))
        # Without brackets Discord draws a preview; a bracket inside cannot occur.
        address = safe_url(match.group())
        parts.append(f"<{address}>" if address else _literal(match.group()))
        position = match.end()
    parts.append(_literal(text[position:]))
    return _LINE_START.sub(_escaped_start, "".join(parts))


def plain(text: str, *, limit: int) -> str:
    """One line of at most ``limit`` characters where Discord draws no markup: labels, choices, titles."""
    line = inert(_SPACES.sub(" ", text).strip())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + CUT


def link(url: str, label: str) -> str:
    """``[label](<url>)``, which makes no preview; the label alone where the address is none of the web.

    Discord knows no escaped brackets inside a label: they become parentheses. A label that looks like an
    address itself could pretend to lead elsewhere, so its dots are broken.
    """
    words = _SPACES.sub(" ", label).strip()[:LABEL_LENGTH].translate(str.maketrans("[]", "()"))
    shown = _literal(_undotted(words))
    address = safe_url(url)
    if not address or len(address) > URL_LENGTH:
        return shown
    return f"[{shown or '…'}](<{address}>)"


def safe_url(url: str) -> str:
    """The address with the characters encoded that would end a link; empty unless http or https."""
    try:
        scheme = urlsplit(url.strip()).scheme.lower()
    except ValueError:
        return ""
    if scheme not in ("http", "https"):
        return ""
    # Discord reads mentions inside addresses too.
    return _MENTION.sub("%40", quote(url.strip(), safe="!#$%&'*+,/:;=?@[]~-._"))


def code(text: str) -> str:
    """A code span; longer backticks than those inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    if longest == 0:
        return f"`{inert(text)}`" if text.strip() else text
    if longest > 1:
        text = text.replace("``", f"`{INVISIBLE}`")
    return f"`` {inert(text)} ``"


def fence(body: str, language: str = "") -> str:
    """A code block; three backticks inside would end it early."""
    kept = re.sub(r"[^\w+#.-]", "", language)[:20]
    return f"```{kept}\n{inert(body.rstrip(chr(10))).replace('```', f'``{INVISIBLE}`')}\n```"


def _literal(text: str) -> str:
    return inert(_INVITE.sub(rf"\1{INVISIBLE}/", _SYNTAX.sub(r"\\\1", text)))


def _undotted(label: str) -> str:
    return re.sub(r"(?i)\b(https?:/|www\.)", rf"\1{INVISIBLE}", label)


def _escaped_start(match: re.Match[str]) -> str:
    if match[2]:
        return f"{match[1]}\\{match[2]}"
    return f"{match[1]}{match[3]}\\{match[4]}"
