"""Which of the things that a passage says holds the answer that a reader pointed at. Pure."""

from collections.abc import Sequence

from core.domain.answers import Reading
from core.services.markdown_text import plain
from core.services.tokens import word_forms

AROUND = 60
"""Characters before and behind the answer, on its line, by which equal words elsewhere are told from it."""


def said_at(units: Sequence[str], body: str, reading: Reading) -> int | None:
    """The place of the unit that holds the answer, null where none has its words.

    Units are the plain texts of what the body says, some in another form (cells of a table under their
    heads), so they are known by words and not by place: by those of the answer, and of what stands around it.
    """
    start, end = reading.start, reading.end
    words = word_forms(plain(body[start:end]))
    if not words:
        return None
    line_start = body.rfind("\n", 0, start) + 1
    line_end = body.find("\n", end) if "\n" in body[end:] else len(body)
    near = word_forms(plain(body[max(line_start, start - AROUND) : min(line_end, end + AROUND)]))
    said = [word_forms(unit) for unit in units]
    holding = [place for place, forms in enumerate(said) if words <= forms]
    return max(holding, key=lambda place: (len(near & said[place]), -place), default=None)
