"""Deterministic vectors without a model: words and their trigrams, hashed.

Texts that share words, or parts of words, are near each other in any language. It knows no meaning: good
for tests and load runs, where the real model would only cost time.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import log1p

import numpy as np

from core.domain.models import ModelProfile, Vector
from core.domain.profiles import profile_for

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 1.0
_TRIGRAM_WEIGHT = 0.4
"""A word of average length has about five trigrams: together they weigh a little more than the word."""


class HashingEmbedder:
    """Embeds by feature hashing; queries and passages alike."""

    def __init__(self, dimensions: int = 384) -> None:
        self._profile = profile_for(f"hashing:{dimensions}")

    @property
    def profile(self) -> ModelProfile:
        """A space of its own: no prefixes, the size in the name."""
        return self._profile

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self._embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages, in order."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        vector = np.zeros(self._profile.dimensions, dtype=np.float64)
        for feature, weight in _features(text):
            position, sign = _slot(feature, self._profile.dimensions)
            vector[position] += sign * weight
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            # Nothing to hash, or everything cancelled out: a fixed direction, since zero has no cosine.
            vector[_slot("", self._profile.dimensions)[0]] = length = 1.0
        return (vector / length).astype(np.float32)


def _features(text: str) -> Iterator[tuple[str, float]]:
    normalised = unicodedata.normalize("NFKC", text).casefold()
    for word, count in Counter(_WORD.findall(normalised)).items():
        weight = log1p(count)
        yield f"word {word}", _WORD_WEIGHT * weight
        marked = f"^{word}$"
        for start in range(len(marked) - 2):
            yield f"part {marked[start : start + 3]}", _TRIGRAM_WEIGHT * weight


def _slot(feature: str, dimensions: int) -> tuple[int, float]:
    # Not hash(): that one differs from process to process.
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0
