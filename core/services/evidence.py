"""What is known of passages for one question: vectors, sentences and words measured in one place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.models import Vector
from core.services.background import Background, Vectors
from core.services.bm25 import TermStatistics, share
from core.services.fusion import Evidence
from core.services.grams import count_runs, gram_counts
from core.services.lateinteraction import best_sentences


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its text, its language (empty if unknown) and its vector as the model gave it."""

    text: str
    language: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate as the index knows it.

    ``text`` is what was embedded, prefix included. ``vector`` and ``sentences`` (one row each, none if they
    are not stored) are as the model gave them. ``stems`` is the BM25 share of its stemmed words, or null
    where the store does not rank by BM25: the runs of letters then speak for both.
    """

    text: str
    language: str
    vector: Vector
    sentences: Vectors | None = None
    stems: float | None = None


def gather(
    asked: Asked,
    found: Sequence[Found],
    *,
    background: Background,
    runs: TermStatistics,
) -> tuple[Evidence, ...]:
    """The evidence for each passage, in the order given.

    ``runs`` are the statistics of all passages' runs of letters, or of a sample of them.
    """
    if not found:
        return ()
    question = background.centred_question(asked.vector, asked.language)
    similarities = background.centred_passages(
        np.stack([one.vector for one in found]), [one.language for one in found]
    )
    spoken = _best_sentences(question, found, background)
    wanted = gram_counts(asked.text)
    evidence = []
    for one, passage, sentence in zip(found, similarities, spoken, strict=True):
        counts, length = count_runs(wanted, one.text)
        letters = share(wanted, counts, runs, length=length)
        evidence.append(
            Evidence(
                language=one.language,
                similarity=float(passage @ question),
                best_sentence=sentence,
                stems=letters if one.stems is None else one.stems,
                grams=letters,
            )
        )
    return tuple(evidence)


def _best_sentences(
    question: Vector, found: Sequence[Found], background: Background
) -> tuple[float | None, ...]:
    parts = [
        (place, one) for place, one in enumerate(found) if one.sentences is not None and len(one.sentences)
    ]
    if not parts:
        return (None,) * len(found)
    rows = [one.sentences for _, one in parts if one.sentences is not None]
    owners = [place for (place, _), own in zip(parts, rows, strict=True) for _ in own]
    spoken = [found[owner].language for owner in owners]
    centred = background.centred_passages(np.concatenate(rows), spoken)
    return best_sentences(question, centred, owners, passages=len(found))
