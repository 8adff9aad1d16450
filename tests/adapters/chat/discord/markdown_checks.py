"""What a reader of Discord's Markdown would find wrong with a message; shared by the renderer's tests."""

import re

FENCE = re.compile(r"^\s*```([\w+#.-]*)\s*$")
LINK = re.compile(r"\[([^\[\]\n]*)\]\(<([^<>\s]+)>\)")
_PINGING = re.compile(r"@(everyone|here)\b|<@[!&]?\d{15,}>", re.IGNORECASE)


def units(text: str) -> int:
    """UTF-16 code units, the strictest way of counting."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def open_fence(text: str) -> bool:
    """Whether a code block is begun and not ended."""
    is_open = False
    for line in text.split("\n"):
        if FENCE.match(line):
            is_open = not is_open
    return is_open


def cut_links(text: str) -> list[str]:
    """Openings of links that are not whole: ``](<`` that no link contains."""
    rest = re.sub(r"\\.", "", LINK.sub("", without_code(text)))
    return re.findall(r"\]\(<[^>]*$|\]\([^<)]*$", rest, re.MULTILINE)


def links(text: str) -> list[tuple[str, str]]:
    """Labels and addresses of the whole links."""
    return LINK.findall(without_code(text))


def pings(text: str) -> list[str]:
    """Tokens that Discord would take for mentions."""
    return [match.group() for match in _PINGING.finditer(text)]


def without_code(text: str) -> str:
    """The text that Discord formats."""
    kept, inside = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return re.sub(r"(?<!\\)(`+)(?!`).+?(?<!`)\1(?!`)", "", "\n".join(kept))
