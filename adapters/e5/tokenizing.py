"""Texts to the numbers of their pieces, as multilingual-e5-small was taught, and their places in the text."""

from dataclasses import dataclass

from adapters.e5.missing import MissingPackageError
from adapters.e5.packed_model import Vocabulary

BEGIN, END = 0, 2
"""The numbers of the pieces that mark begin and end of a text."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """``numbers`` of the pieces, and the stretch of the text that each covers, in characters."""

    numbers: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


class Tokenizer:
    """A SentencePiece unigram tokenizer."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Build it, which takes about a second: there are 250,000 pieces.

        Raises:
            MissingPackageError: the library is not installed.
        """
        try:
            from tokenizers import Tokenizer as Library
            from tokenizers.models import Unigram
            from tokenizers.pre_tokenizers import Metaspace
        except ImportError as error:
            raise MissingPackageError("tokenizers") from error
        self._library = Library(Unigram(vocabulary.pieces(), unk_id=vocabulary.unknown))
        self._library.pre_tokenizer = Metaspace(prepend_scheme="always")
        self._written_as = vocabulary.written_as

    def cut(self, text: str) -> Tokens:
        """The pieces of a text, without marks of beginning and end."""
        written, origins = self._written(text)
        found = self._library.encode(written, add_special_tokens=False)
        places = (
            # A piece that begins a word has the space before it.
            (origins[start + 1 if end - start > 1 and written[start] == " " else start], origins[end - 1] + 1)
            for start, end in found.offsets
        )
        return Tokens(tuple(found.ids), tuple(places))

    def _written(self, text: str) -> tuple[str, list[int]]:
        """The text with the usual forms of letters and single spaces, and where each letter came from."""
        letters: list[str] = []
        origins: list[int] = []
        # A lone surrogate is no letter, and nothing but letters can be cut.
        for place, character in enumerate(text.encode("utf-8", "replace").decode()):
            for letter in self._written_as.get(ord(character), character):
                if letter == " " and letters and letters[-1] == " ":
                    continue
                letters.append(letter)
                origins.append(place)
        return "".join(letters), origins
