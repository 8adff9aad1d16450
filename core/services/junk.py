"""Telling text from drawings: a chunk that holds too few letters and digits is not worth finding."""

import re
import unicodedata
from dataclasses import dataclass

from core.domain.documents import BlockKind

MIN_PERCENT = 40
"""Niles drops chunks whose share of letters and digits is below 40 % (inventory row 35)."""

_BLANKS = re.compile(r"\s+")
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*+\|?[ \t]*+:?-+:?[ \t]*+(?:\|[ \t]*+:?-*:?[ \t]*+)*$", re.MULTILINE)
_LIST_MARKER = re.compile(r"^[ \t]*(?:[-*+•▸]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many letters, digits and marks on letters a text has among its visible characters."""

    letters: int = 0
    visible: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.letters + other.letters, self.visible + other.visible)

    @property
    def is_junk(self) -> bool:
        """Whether fewer than 40 % are letters or digits; a blank text is junk too."""
        return self.letters == 0 or 100 * self.letters < MIN_PERCENT * self.visible


def tally(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> Tally:
    """Count a text of this kind; what only draws a table, a list or a fence is not the text's own."""
    visible = _BLANKS.sub("", _without_drawing(text, kind))
    if visible.isalnum():
        return Tally(len(visible), len(visible))
    return Tally(sum(map(_is_letter, visible)), len(visible))


def _without_drawing(text: str, kind: BlockKind) -> str:
    if kind is BlockKind.CODE:
        return _FENCE_LINE.sub("", text)
    if kind is BlockKind.TABLE:
        return _TABLE_RULE.sub("", text).replace("|", " ")
    if kind is BlockKind.HEADING:
        return text.lstrip("#")
    if kind is BlockKind.LIST_ITEM:
        return _LIST_MARKER.sub("", text)
    return text


def _is_letter(character: str) -> bool:
    # Vowel signs of Indic scripts and accents written apart belong to their letters.
    return character.isalnum() or unicodedata.category(character)[0] == "M"
