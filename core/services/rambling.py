"""Text that a model did not mean as its answer: thinking aloud, and the same words without end."""

import re
from collections import Counter

_THINKING = re.compile(
    r"<(?P<tag>think|thinking|thought|reasoning|reflection)\b[^>]*>.*?(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_END_OF_THINKING = re.compile(
    r"\A.*</(?:think|thinking|thought|reasoning|reflection)\s*>", re.DOTALL | re.IGNORECASE
)

MOST_REPEATS = 3
"""A line that comes a fourth time is a loop, not style."""

SHORTEST_LINE = 20
"""Shorter lines (table rows of ticks, "Yes.") may repeat."""

_LOOP = re.compile(r"(?P<unit>[^\n]{4,200}?)(?P=unit){3,}", re.DOTALL)
SHORTEST_LOOP = 80
"""Characters; shorter runs (rulers, "ha ha ha ha") are no loops."""

_NUMBER = re.compile(r"\d+")


def without_thinking(text: str) -> str:
    """The text without ``<think>`` blocks; one that never ends takes everything behind it (F71)."""
    visible = _THINKING.sub("", text)
    # Some servers swallow the opening tag and leave the closing one.
    return _END_OF_THINKING.sub("", visible).strip()


def cut_loop(text: str) -> str:
    """The text up to where it starts to repeat itself; what is repeated is kept once."""
    return _cut_repeated_lines(_cut_repeated_phrase(text))


def _cut_repeated_phrase(text: str) -> str:
    for match in _LOOP.finditer(text):
        if len(match.group()) >= SHORTEST_LOOP and _has_words(match["unit"]):
            return text[: match.end("unit")].rstrip()
    return text


def _cut_repeated_lines(text: str) -> str:
    seen: Counter[str] = Counter()
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        # "1. Restart it. 2. Restart it." repeats although the numbers differ.
        bare = _NUMBER.sub("0", line).strip()
        seen[bare] += 1
        if len(bare) >= SHORTEST_LINE and _has_words(bare) and seen[bare] > MOST_REPEATS:
            return _with_single(kept, bare)
        kept.append(line)
    return text


def _with_single(kept: list[str], bare: str) -> str:
    """The lines before the loop and its first turn."""
    first = next(place for place, line in enumerate(kept) if _NUMBER.sub("0", line).strip() == bare)
    return "".join(kept[: first + 1]).rstrip()


def _has_words(text: str) -> bool:
    return len({character for character in text if character.isalpha()}) > 1
