"""How much of one file is read."""

from collections.abc import Sequence
from dataclasses import dataclass

MEGABYTE = 1_000_000
BETWEEN_CELLS = len(" | ")


@dataclass(frozen=True, slots=True)
class FileLimits:
    """``size`` in bytes, ``pages`` (slides, sheets), ``characters`` of text in all, ``seconds`` and bytes of
    ``memory`` for the process that reads the file, ``unpacked`` bytes and ``entries`` of an archive.

    Notion's free plan takes files of 5 MB; a 300-page manual has about a million characters.
    """

    size: int = 25 * MEGABYTE
    pages: int = 500
    characters: int = 2 * MEGABYTE
    seconds: int = 60
    memory: int = 1024 * MEGABYTE
    unpacked: int = 300 * MEGABYTE
    entries: int = 5000


class Room:
    """Counts characters down; what does not fit is left out and said so."""

    def __init__(self, limits: FileLimits) -> None:
        self.limits = limits
        self._left = limits.characters
        self.notes: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether nothing fits any more."""
        return self._left <= 0

    def take(self, text: str) -> str:
        """The text as far as it fits."""
        if len(text) > self._left:
            self.note(f"only the first {self.limits.characters} characters were read")
            text = text[: max(0, self._left)]
        self._left -= len(text)
        return text

    def take_cells(self, cells: Sequence[str]) -> list[str]:
        """A row of a table as far as it fits; what stands between two cells counts as well."""
        fitting = cells[: max(1, self._left // BETWEEN_CELLS)]
        if len(fitting) < len(cells):
            self.note(f"only the first {self.limits.characters} characters were read")
        self._left -= BETWEEN_CELLS * len(fitting)
        return [self.take(cell) for cell in fitting]

    def pages(self, count: int) -> int:
        """How many of so many pages are read."""
        if count > self.limits.pages:
            self.note(f"only the first {self.limits.pages} of {count} pages were read")
        return min(count, self.limits.pages)

    def note(self, text: str) -> None:
        """Remember what was left out, once."""
        if text not in self.notes:
            self.notes.append(text)
