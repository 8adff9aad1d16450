"""Writing Markdown blocks whose content cannot break out of them: fences, quotes, tables."""

import re
from collections.abc import Iterable, Sequence

_BACKTICKS = re.compile("`{3,}")


def fence_for(text: str) -> str:
    """A run of backticks longer than any inside ``text``, at least three (C16)."""
    return "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))


def fenced(text: str, language: str = "") -> str:
    """A code block; the language is kept on one line and free of backticks."""
    fence = fence_for(text)
    info = " ".join(language.replace("`", "").split())
    return f"{fence}{info}\n{text}\n{fence}"


def quoted(text: str, depth: int = 1) -> str:
    """Every line behind quote marks."""
    mark = "> " * depth
    return "\n".join((mark + line).rstrip() for line in text.split("\n"))


def cell(text: str) -> str:
    """The text of a table cell on one line, bars escaped (F14)."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


MOST_CELLS = 200_000
"""Up to which short rows are filled up: one long row must not make all of them long."""


def table(rows: Sequence[Iterable[str]]) -> str:
    """Rows of cells, the first one the header; short rows are filled up, so that none loses its shape."""
    cells = [[cell(text) for text in row] for row in rows]
    width = max(map(len, cells), default=0)
    if width * len(cells) > MOST_CELLS + 2 * sum(map(len, cells)):
        width = len(cells[0])
    else:
        cells = [[*row, *[""] * (width - len(row))] for row in cells]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([*lines[:1], f"|{' --- |' * width}", *lines[1:]])
