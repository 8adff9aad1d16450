"""A reranker without a model of its own: the question against every sentence of a passage (late interaction).

Sentences are embedded with the embedder that is there anyway, the first time a passage is read; afterwards
they are remembered. A passage is as good as its best sentence.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from core.domain.models import Vector
from core.ports import Embedder
from core.services.background import unit_rows
from core.services.splitting import sentences

REMEMBERED = 20_000
"""Sentences; of 384 figures each some 30 MB."""

MOST_OF_A_PASSAGE = 12
"""Sentences read of one passage."""


class SentenceReranker:
    """A `Reranker` over an `Embedder`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: OrderedDict[str, Vector | None] = OrderedDict()
        self.model = f"sentences:{embedder.profile.name}"

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """The cosine of each passage's best sentence, 0 for a passage without any.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as the embedder.
        """
        asked = await self._embedder.embed_query(question)
        parts = [_sentences(passage) for passage in passages]
        vectors = await self._vectors(list(dict.fromkeys(one for own in parts for one in own)))
        scores = []
        for own in parts:
            known = [vector for one in own if (vector := vectors[one]) is not None and vector.any()]
            scores.append(float(np.max(unit_rows(np.stack(known)) @ asked)) if known else 0.0)
        return scores

    async def _vectors(self, texts: Sequence[str]) -> dict[str, Vector | None]:
        new = [text for text in texts if text not in self._known]
        if new:
            made = await self._embedder.embed_passages(new)
            self._known.update(zip(new, made, strict=True))
        for text in texts:
            self._known.move_to_end(text)
        found = {text: self._known[text] for text in texts}
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return found


def _sentences(passage: str) -> list[str]:
    found = [sentence.strip() for sentence, _ in sentences(passage) if sentence.strip()]
    return found[:MOST_OF_A_PASSAGE]
