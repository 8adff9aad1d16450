"""The question against every sentence, with the embedder that is there anyway."""

from collections.abc import Sequence

import pytest

from core.domain.models import Vector
from core.services import sentence_reranking
from core.services.sentence_reranking import SentenceReranker
from tests.core.services.found import WordEmbedder


class Counting(WordEmbedder):
    """Remembers which passages it was asked for; refuses the empty word."""

    def __init__(self) -> None:
        super().__init__()
        self.passages: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Their vectors."""
        self.passages += texts
        made = await super().embed_passages(texts)
        return [None if "unspeakable" in text else vector for text, vector in zip(texts, made, strict=True)]


LONG = "Nothing of interest stands in this long sentence about many other matters. "


async def test_one_good_sentence_is_enough() -> None:
    """A long passage with the very words beats a short one about something near."""
    reranker = SentenceReranker(Counting())

    good, near, none = await reranker.rerank(
        "vacation days", [f"{LONG}Vacation days. {LONG}", "Vacation home prices rise.", "Dogs bark."]
    )

    assert good > near > none
    assert good == pytest.approx(1.0, abs=1e-6)


async def test_a_sentence_is_embedded_once() -> None:
    """Shared by passages and kept between questions; what the model refuses counts as nothing."""
    embedder = Counting()
    reranker = SentenceReranker(embedder)

    first = await reranker.rerank("bark", ["Dogs bark.", "Dogs bark. Cats purr.", "unspeakable", ""])
    await reranker.rerank("purr", ["Cats purr."])

    assert embedder.passages == ["Dogs bark.", "Cats purr.", "unspeakable"]
    assert first[2] == first[3] == 0.0


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentences used longest ago are forgotten, never those of this question."""
    monkeypatch.setattr(sentence_reranking, "REMEMBERED", 2)
    embedder = Counting()
    reranker = SentenceReranker(embedder)

    await reranker.rerank("one", ["One.", "Two.", "Three."])
    await reranker.rerank("one", ["Three.", "One."])

    assert embedder.passages == ["One.", "Two.", "Three.", "One."]
