"""Inline code and links in Markdown, and which addresses a reader may be sent to."""

import re
from urllib.parse import quote, urljoin, urlsplit

from core.domain.references import escape_label

NOTION = "https://www.notion.so/"
"""Where an id without a link of its own is shown; a page's own link is never rebuilt (NOT-12)."""


def code_span(text: str) -> str:
    """Inline code, fenced by more backticks than it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def link(label: str, url: str) -> str:
    """A Markdown link whose label cannot end it early; a bare address stays bare."""
    if not url:
        return label
    if label.strip() == url:
        return label
    if label.startswith("`"):
        return f"[{label}]({_destination(url)})"
    return f"[{escape_label(label)}]({_destination(url)})"


def _destination(url: str) -> str:
    return quote(url, safe="%/:=&?~#+!$,;'@*[]-._|").replace("(", "%28").replace(")", "%29")


_SIGNATURES = re.compile(
    r"[?&](x-amz-(signature|credential|security-token)|signature|sig|awsaccesskeyid|x-goog-signature)=",
    re.IGNORECASE,
)


def safe_link(url: str) -> str:
    """The address, absolute, if a reader may be sent there: no scripts, and nothing signed (F19, NOT-13)."""
    url = url.strip()
    if not url:
        return ""
    try:
        absolute = urljoin(NOTION, url) if url.startswith("/") else url
        scheme = urlsplit(absolute).scheme.lower()
    except ValueError:
        return ""
    if scheme not in {"http", "https", "mailto", "tel"} or _SIGNATURES.search(absolute):
        return ""
    return absolute
