"""How large a text is, in characters and in tokens of models whose tokenizer is not at hand."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Counter = Callable[[str], int]
"""Text to its size; the size of two texts together is at most the sum of theirs."""

QUARTERS = 4
"""Estimated tokens are counted in quarters, so that adding pieces up loses nothing to rounding."""

TENTHS = 10
"""Upper bounds of tokens are counted in tenths."""

SPECIAL_TOKENS = 4
"""Start and end marks that embedders add to every input, generously."""

# Scripts written without blanks, and pictures: about one token a character.
_WIDE = re.compile(
    "[\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uffef\U00010000-\U0010ffff]+"
)
_BLANK = re.compile(r"\s+")
_COMMON_LETTER = re.compile("[abcdefghilmnoprstuy]+")
_RUN_OF_RARE_LETTER = re.compile(r"([jkqvwxz])\1{3,}")
_OTHER_ALPHABET = re.compile("[\u0370-\u07ff]+")
_DOUBLE = re.compile("[\u0300-\u036f\U00010000-\U0010ffff]+")


def _count(pattern: re.Pattern[str], text: str) -> int:
    return len(text) - len(pattern.sub("", text))


def quarter_tokens(text: str) -> int:
    """Estimated tokens times four: a character is a quarter, one of a script without blanks a whole token."""
    wide = 0 if text.isascii() else _count(_WIDE, text)
    return len(text) + (QUARTERS - 1) * wide


def estimate_tokens(text: str) -> int:
    """The customary estimate: a quarter token a character, a whole one for CJK and emoji."""
    return -(-quarter_tokens(text) // QUARTERS)


def tenths_at_most(text: str) -> int:
    """An upper bound of the tokens in ``text``, times ten.

    Measured with the tokenizer of multilingual-e5-small (nomic v2 has the same vocabulary) over prose in 20
    languages, code, links, base64, symbols and random letters: a blank costs at most 0.5, a lower-case ASCII
    letter 0.7 (rare ones 1 unless repeated), Greek to Arabic 0.9, everything else 1, an accent written apart
    also the letter it parts from its word. Byte-level tokenizers may need two beyond the basic plane.
    """
    weight = TENTHS * len(text)
    weight -= 5 * _count(_BLANK, text) + 3 * _count(_COMMON_LETTER, text)
    weight -= 3 * _count(_RUN_OF_RARE_LETTER, text)
    if not text.isascii():
        weight += TENTHS * _count(_DOUBLE, text) - _count(_OTHER_ALPHABET, text)
    return weight


def tokens_at_most(text: str) -> int:
    """No known multilingual tokenizer makes more tokens of ``text`` than this."""
    return -(-tenths_at_most(text) // TENTHS)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``most`` by one way of weighing; ``joint`` is what a line break between paragraphs weighs."""

    weigh: Counter
    most: int
    joint: int

    def weigh_glue(self, glue: str) -> int:
        """The weight of what stands between two pieces."""
        return self.joint if glue == "\n" else self.weigh(glue)

    def longest_prefix(self, text: str, room: int) -> int:
        """How many characters at the start of ``text`` weigh at most ``room``."""
        return _gallop(len(text), lambda length: self.weigh(text[:length]) <= room)

    def longest_suffix(self, text: str, room: int) -> int:
        """How many characters at the end of ``text`` weigh at most ``room``."""
        return _gallop(len(text), lambda length: self.weigh(text[len(text) - length :]) <= room)


Weights = tuple[int, ...]
"""One weight for each limit of a budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Several limits that all have to hold."""

    limits: tuple[Limit, ...]

    @property
    def nothing(self) -> Weights:
        """The weights of an empty text."""
        return (0,) * len(self.limits)

    def weigh(self, text: str) -> Weights:
        """How much a text weighs by each limit."""
        return tuple(limit.weigh(text) for limit in self.limits)

    def weigh_glue(self, glue: str) -> Weights:
        """How much the text between two pieces weighs by each limit."""
        return tuple(limit.weigh_glue(glue) for limit in self.limits)

    def fits(self, *parts: Weights) -> bool:
        """Whether all these together stay within every limit."""
        return all(sum(weights) <= limit.most for limit, weights in self._with(parts))

    def longest_prefix(self, text: str, *used: Weights) -> int:
        """How many characters of ``text`` still fit beside what is used."""
        return min(
            limit.longest_prefix(text, limit.most - sum(weights)) for limit, weights in self._with(used)
        )

    def longest_suffix(self, text: str, *used: Weights) -> int:
        """How many characters from the end of ``text`` still fit beside what is used."""
        return min(
            limit.longest_suffix(text, limit.most - sum(weights)) for limit, weights in self._with(used)
        )

    def _with(self, parts: tuple[Weights, ...]) -> Iterator[tuple[Limit, Weights]]:
        """Each limit with its own weight of every part."""
        return zip(self.limits, zip(*(parts or (self.nothing,)), strict=True), strict=True)


def _gallop(length: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``length`` that fits, found without measuring far past it."""
    good, bad = 0, 1
    while bad <= length and fits(bad):
        good, bad = bad, bad * 2
    bad = min(bad, length + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good
