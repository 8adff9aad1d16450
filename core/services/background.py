"""How similar questions and passages are when they have nothing to do with each other, learned from an index.

Cosines of one model lie in a band of its own (e5: 0.70 to 0.90 for everything), another one for each pair of
languages: what a language has in common fills much of a vector. Both are taken away here, so that a German
page can be compared with an English one, and "similar" means the same whatever the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import numpy.typing as npt

from core.domain.models import Vector

Vectors = npt.NDArray[np.float32]
"""Shape (number, dimensions), one embedding in each row."""

FEWEST_PASSAGES = 10
"""A language with fewer passages than this borrows the mean of all: its own would be those passages."""

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Chance:
    """What cosines a question reaches by chance among passages of one language.

    ``best`` is the median, over typical questions, of the best cosine with any passage; ``spread`` the
    standard deviation of single cosines.
    """

    best: float
    spread: float


@dataclass(frozen=True, slots=True)
class Background:
    """What a model's vectors have in common within this index; kept beside the embedding contract.

    Means are by language, the mean of all under ``""``. ``chances`` are by (question language, passage
    language). ``spread`` is the standard deviation of similarities once the means are gone.
    """

    question_means: Mapping[str, Vector]
    passage_means: Mapping[str, Vector]
    chances: Mapping[tuple[str, str], Chance]
    spread: float

    def centred_question(self, vector: Vector, language: str) -> Vector:
        """The question's vector without what all questions of its language share, of length 1."""
        centred: Vector = unit_rows((vector - _for(self.question_means, language))[np.newaxis])[0]
        return centred

    def centred_passages(self, vectors: Vectors, languages: Sequence[str]) -> Vectors:
        """Passages without what all passages of their language share, rows of length 1."""
        if not len(vectors):
            return vectors
        return unit_rows(vectors - np.stack([_for(self.passage_means, one) for one in languages]))

    def towards(self, vector: Vector, *, question_language: str, passage_language: str) -> Vector:
        """The question's vector as if it were asked in the passages' language, for finding candidates.

        Its nearest passages, by raw cosine and without any filter, are those of that language: one search
        for each language of the index keeps a large language from crowding out a small one.
        """
        if question_language == passage_language:
            return vector
        moved = (
            vector + _for(self.passage_means, passage_language) - _for(self.passage_means, question_language)
        )
        towards: Vector = unit_rows(moved[np.newaxis])[0]
        return towards

    def stands_out(self, cosine: float, *, question_language: str, passage_language: str) -> float:
        """How far a raw cosine lies above the best that chance gives, in standard deviations."""
        chance = (
            self.chances.get((question_language, passage_language))
            or self.chances.get(("", passage_language))
            or self.chances[("", "")]
        )
        return (cosine - chance.best) / max(chance.spread, _TINY)


def learn(
    passages: Vectors,
    languages: Sequence[str],
    typical: Mapping[str, Vectors],
    about: Mapping[str, Vectors] | None = None,
) -> Background:
    """Learn the background of an index.

    Args:
        passages: Its vectors, or a sample of a few thousand.
        languages: Of their texts, in the same order.
        typical: Typical questions by language, embedded as questions. What they find is chance.
        about: Questions about the index's own titles by language. They tell what questions here have in
            common, and nothing of chance, since the index answers them.

    Raises:
        ValueError: there are no passages or no questions to learn from.
    """
    asked = {code: vectors for code, vectors in typical.items() if len(vectors)}
    if not len(passages) or not asked:
        raise ValueError("a background needs passages and questions to be learned from")
    everyone = {"": np.concatenate(list(asked.values()))}
    rows = {code: passages[np.asarray(languages) == code] for code in set(languages)}
    known = {code: own for code, own in rows.items() if len(own) >= FEWEST_PASSAGES}
    background = Background(
        question_means={
            code: _middle(vectors, (about or {}).get(code)) for code, vectors in (asked | everyone).items()
        },
        passage_means={code: _mean(own) for code, own in (known | {"": passages}).items()},
        chances={
            (question, passage): _chance(vectors, own)
            for question, vectors in (asked | everyone).items()
            for passage, own in (rows | {"": passages}).items()
        },
        spread=1.0,
    )
    return replace(background, spread=_spread(background, passages, languages, asked))


def _spread(
    background: Background, passages: Vectors, languages: Sequence[str], asked: Mapping[str, Vectors]
) -> float:
    centred = background.centred_passages(passages, languages)
    similarities = [
        unit_rows(vectors - background.question_means[code]) @ centred.T for code, vectors in asked.items()
    ]
    return max(float(np.concatenate(similarities).std()), _TINY)


def _middle(typical: Vectors, about: Vectors | None) -> Vector:
    """Both kinds of questions weigh the same, however many there are of each."""
    if about is None or not len(about):
        return _mean(typical)
    return np.asarray((_mean(typical) + _mean(about)) / 2, dtype=np.float32)


def _for(means: Mapping[str, Vector], language: str) -> Vector:
    found = means.get(language)
    return means[""] if found is None else found


def _mean(vectors: Vectors) -> Vector:
    return np.asarray(vectors.mean(axis=0), dtype=np.float32)


def _chance(questions: Vectors, passages: Vectors) -> Chance:
    cosines = questions @ passages.T
    return Chance(best=float(median(cosines.max(axis=1).tolist())), spread=float(cosines.std()))


def unit_rows(vectors: Vectors) -> Vectors:
    """Every row with length 1; not all models give them so."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
    return np.asarray(vectors / lengths, dtype=np.float32)
