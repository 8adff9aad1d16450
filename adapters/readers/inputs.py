"""A question and a passage as one text, as the reader was taught to be given them."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.e5.tokenizing import BEGIN, END, Tokenizer
from core.ports.reading import Writing

LONGEST, LONGEST_QUESTION, LONGEST_TITLE = 288, 64, 48
"""Tokens of the whole, of the question and of the title with its headings: longer ones lose their end."""


@dataclass(frozen=True, slots=True)
class Input:
    """``numbers`` of the pieces of the whole; from the ``first`` on they are the text's, whose ``places`` in
    the text are in characters."""

    numbers: tuple[int, ...]
    first: int
    places: tuple[tuple[int, int], ...]


class Inputs:
    """Makes ``<s> question </s></s> title text </s>``."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def question(self, text: str) -> tuple[int, ...]:
        """The question's pieces: cut once for all passages."""
        return self._tokenizer.cut(f"query: {text}").numbers[:LONGEST_QUESTION]

    def of(self, question: Sequence[int], writing: Writing) -> Input:
        """The whole."""
        title = self._tokenizer.cut(writing.title).numbers[:LONGEST_TITLE]
        before = (BEGIN, *question, END, END, *title)
        text = self._tokenizer.cut(writing.text)
        room = LONGEST - len(before) - 1
        return Input((*before, *text.numbers[:room], END), len(before), text.places[:room])
