"""What an index teaches about its model: learned at the end of a sync, kept with it, used by searches."""

import asyncio
import io
import json
import logging
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import FootnoteError
from core.ports import BackgroundStore, Embedder, SampledPassage
from core.services.background import Background, Chance, Vectors, learn, unit_rows
from core.services.bm25 import TermStatistics, statistics
from core.services.grams import gram_counts
from core.services.typical_questions import TEMPLATES, TYPICAL_QUESTIONS, questions_about, typical_questions

logger = logging.getLogger(__name__)

SAMPLE = 3000
"""Passages learned from. More move no figure noticeably; these take a second."""

LEAST_PASSAGES = 20
"""Of fewer nothing is learned: every question would seem unusually near to the only page there is."""

FORMAT = 2
"""Raised when the figures or their packing change: older ones are then learned anew."""

_ALWAYS_ASKED = ("en",)
"""Languages in which questions about the titles are made even if no passage is written in them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The background of similarities, and how rare runs of letters are."""

    background: Background
    runs: TermStatistics


class Calibrator:
    """Learns when enough has changed. Give it an embedder that remembers: most questions stay the same."""

    def __init__(self, *, store: BackgroundStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self) -> bool:
        """Learn, if it is due; whether something was learned. A model that is away costs this alone.

        Raises:
            TemporaryError: the index cannot be reached.
        """
        kept = await self._store.background()
        is_usable = kept is not None and unpack(kept[1]) is not None
        if is_usable and not await self._store.is_background_due():
            return False
        passages = [one for one in await self._store.sample_passages(SAMPLE) if one.vector.any()]
        if len(passages) < LEAST_PASSAGES:
            return False
        try:
            typical, about = await self._questions(passages)
        except FootnoteError as error:
            logger.warning("nothing was learned of the index: the embedding model failed: %s", error)
            return False
        # Seconds of arithmetic; questions are answered meanwhile.
        figures = await asyncio.to_thread(lambda: pack(_learn(passages, typical, about)))
        await self._store.keep_background(figures)
        return True

    async def _questions(
        self, passages: Sequence[SampledPassage]
    ) -> tuple[dict[str, Vectors], dict[str, Vectors]]:
        spoken = {one.language for one in passages}
        titles = [title for one in passages for title in (one.title.rsplit(" > ", 1)[-1], _heading(one))]
        typical = {code: await self._embed(typical_questions(code)) for code in TYPICAL_QUESTIONS}
        about = {
            code: await self._embed(questions_about(titles, code))
            for code in TEMPLATES
            if code in spoken or code in _ALWAYS_ASKED
        }
        return typical, {code: vectors for code, vectors in about.items() if len(vectors)}

    async def _embed(self, questions: Sequence[str]) -> Vectors:
        vectors = [await self._embedder.embed_query(question) for question in questions]
        return unit_rows(np.stack(vectors)) if vectors else np.zeros((0, 1), dtype=np.float32)


class Calibrations:
    """What was learned of the index, read again when it changed."""

    def __init__(self, store: BackgroundStore) -> None:
        self._store = store
        self._state = 0
        self._calibration: Calibration | None = None

    async def at(self, state: int) -> Calibration | None:
        """What a search with this state (`SearchResult.background`) is to be judged by; null if nothing.

        Raises:
            TemporaryError: the index cannot be reached.
        """
        if state != self._state:
            kept = await self._store.background()
            self._state, self._calibration = (0, None) if kept is None else (kept[0], unpack(kept[1]))
        return self._calibration if state else None


def passage_text(passage: SampledPassage) -> str:
    """The passage as it was embedded."""
    prefix = " > ".join(part for part in (passage.title, passage.headings) if part)
    return f"[{prefix}] {passage.body}" if prefix else passage.body


def pack(calibration: Calibration) -> bytes:
    """Figures as bytes: arrays, and a description of what they mean."""
    background, runs = calibration.background, calibration.runs
    meaning = {
        "format": FORMAT,
        "spread": background.spread,
        "chances": [
            [question, passage, chance.best, chance.spread]
            for (question, passage), chance in background.chances.items()
        ],
        "question_means": list(background.question_means),
        "passage_means": list(background.passage_means),
        "passages": runs.passages,
        "average_length": runs.average_length,
        "runs": list(runs.containing),
    }
    written = io.BytesIO()
    np.savez_compressed(
        written,
        meaning=np.frombuffer(json.dumps(meaning).encode(), dtype=np.uint8),
        question_means=np.stack(list(background.question_means.values())),
        passage_means=np.stack(list(background.passage_means.values())),
        containing=np.array(list(runs.containing.values()), dtype=np.int32),
    )
    return written.getvalue()


def unpack(figures: bytes) -> Calibration | None:
    """What `pack` packed; null where another version did."""
    try:
        with np.load(io.BytesIO(figures), allow_pickle=False) as arrays:
            meaning = json.loads(arrays["meaning"].tobytes())
            return _read(meaning, arrays) if meaning["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, OSError, zipfile.BadZipFile):
        return None


def _read(meaning: Mapping[str, Any], arrays: Mapping[str, Any]) -> Calibration:
    return Calibration(
        background=Background(
            question_means=_by_name(meaning["question_means"], arrays["question_means"]),
            passage_means=_by_name(meaning["passage_means"], arrays["passage_means"]),
            chances={
                (question, passage): Chance(best=best, spread=spread)
                for question, passage, best, spread in meaning["chances"]
            },
            spread=meaning["spread"],
        ),
        runs=TermStatistics(
            passages=meaning["passages"],
            average_length=meaning["average_length"],
            containing=dict(zip(meaning["runs"], arrays["containing"].tolist(), strict=True)),
        ),
    )


def _by_name(names: Sequence[str], rows: Vectors) -> dict[str, Vectors]:
    return dict(zip(names, rows, strict=True))


def _learn(
    passages: Sequence[SampledPassage], typical: Mapping[str, Vectors], about: Mapping[str, Vectors]
) -> Calibration:
    return Calibration(
        background=learn(
            unit_rows(np.stack([one.vector for one in passages])),
            [one.language for one in passages],
            typical,
            about,
        ),
        runs=statistics(gram_counts(passage_text(one)) for one in passages),
    )


def _heading(passage: SampledPassage) -> str:
    return passage.headings.rsplit(" > ", 1)[-1].lstrip("# ")
