"""Three levels of cache, none of which can serve the past.

1. question -> vector (`CachingEmbedder`): depends on the model alone.
2. question, audience and index generation -> finished answer (`AnswerCache.find`): the generation comes from
   PostgreSQL with every question, so an answer made before a sync has a key that nobody asks for any more.
3. question and the exact passages -> what the model wrote (`AnswerCache.find_draft`): after a sync that
   touched other pages, retrieval runs again and the expensive writing is reused.

Every key holds the audience and a digest of all that shapes an answer (`Making`). Values hold no asker and
no channel. Failed, degraded and unanswered results are not kept, except that a model found no answer in
exactly these passages, for seconds. A cache that is away is a miss.
"""

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import assert_never

import numpy as np

from core.domain.answers import Answer, Draft, NoAnswer, Outcome, Passage
from core.domain.ids import ChunkId
from core.domain.models import Fingerprint, ModelProfile, Vector
from core.domain.questions import Conversation, Question
from core.ports import Cache, Embedder
from core.services.flights import SingleFlight
from core.services.packing import ANSWERS, DRAFTS

DAY = 24 * 60 * 60
KEPT_LONGER = 4096
"""Keys of which is remembered that they were kept longer; those forgotten are written once more."""
VECTOR_SECONDS = 30 * DAY
ANSWER_SECONDS = DAY
FREQUENT_SECONDS = 7 * DAY
"""For answers to what is asked often."""
DRAFT_SECONDS = 7 * DAY
REFUSAL_SECONDS = 30
"""That a model found no answer is remembered so briefly: it spares the model those who ask again at once,
and the next one may get a better draft from the same passages."""

UNPACKED = 512
"""Answers that are kept unpacked in the process, found by their bytes as they came out of the cache."""

_SPACES = re.compile(r"\s+")
_NOBODY = Conversation(platform="")


def normalised(text: str) -> str:
    """The question as it is compared: compatibility forms, case and runs of space make no difference."""
    # Casefolding can undo composition (U+0345), so normalise once more behind it.
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", folded)).strip()


def readdressed(outcome: Outcome, question: Question) -> Outcome:
    """The same outcome as the result of another asker's equal question."""
    match outcome:
        case Answer():
            return replace(outcome, retrieval=replace(outcome.retrieval, question=question))
        case NoAnswer(retrieval=None):
            return outcome
        case NoAnswer(retrieval=retrieval) if retrieval is not None:
            return replace(outcome, retrieval=replace(retrieval, question=question))
        case _:
            assert_never(outcome)  # type: ignore[arg-type]  # mypy does not narrow by guards


@dataclass(frozen=True, slots=True)
class Making:
    """All that shapes an answer beside question, audience and index content.

    ``model`` writes, ``prompt`` names version and style of its instructions, ``index`` is the fingerprint of
    the index, ``retrieval`` describes what ranks and refuses: thresholds, weights, result counts.
    """

    model: str
    prompt: str
    index: Fingerprint
    retrieval: str = ""


class AnswerCache:
    """Finished answers and drafts, for those who may see them."""

    def __init__(
        self,
        cache: Cache,
        making: Making,
        *,
        answer_seconds: int = ANSWER_SECONDS,
        draft_seconds: int = DRAFT_SECONDS,
        is_frequent: Callable[[Question], bool] = lambda _: False,
    ) -> None:
        self._cache = cache
        self._making = making
        self._is_frequent = is_frequent
        self._kept_longer: OrderedDict[str, None] = OrderedDict()
        self._answer_seconds = answer_seconds
        # Equal bytes are equal answers: what is asked often is unpacked once.
        self._unpack = lru_cache(maxsize=UNPACKED)(_unpacked)
        self._draft_seconds = draft_seconds

    def key(self, question: Question, *, generation: int) -> str:
        """Equal for questions that have the same answer; also what a single flight is keyed by."""
        return _key("answer", *self._shared(question), str(generation))

    async def find(self, question: Question, *, generation: int) -> Answer | None:
        """The answer given to an equal question of an equal audience while the index was as it is now."""
        key = self.key(question, generation=generation)
        data = await self._cache.get(key)
        answer = None if data is None else self._unpack(data)
        if data is None or answer is None:
            return None
        if key not in self._kept_longer and self._is_frequent(question):
            await self._keep_longer(key, data)
        return replace(answer, cached=True, retrieval=replace(answer.retrieval, question=question))

    async def keep(self, outcome: Outcome) -> bool:
        """Keep an answer under the generation its passages were read with; false if it is none to keep."""
        if not isinstance(outcome, Answer) or not _is_whole(outcome):
            return False
        question = outcome.retrieval.question
        anonymous = replace(question, id="", asker="", conversation=_NOBODY, turns=())
        stored = replace(outcome, cached=False, retrieval=replace(outcome.retrieval, question=anonymous))
        key = self.key(question, generation=outcome.retrieval.generation)
        data = ANSWERS.pack(stored)
        if self._is_frequent(question):
            await self._keep_longer(key, data)
        else:
            await self._cache.put(key, data, seconds=self._answer_seconds)
        return True

    async def _keep_longer(self, key: str, data: bytes) -> None:
        """Keep what is asked often beyond a quiet weekend; once a process and answer, since it is a write."""
        self._kept_longer[key] = None
        if len(self._kept_longer) > KEPT_LONGER:
            self._kept_longer.popitem(last=False)
        await self._cache.put(key, data, seconds=max(FREQUENT_SECONDS, self._answer_seconds))

    async def find_draft(self, question: Question, passages: Sequence[Passage]) -> Draft | None:
        """What the model wrote for an equal question from exactly these passages in this order."""
        data = await self._cache.get(self._draft_key(question, passages))
        return None if data is None else DRAFTS.unpack(data)

    async def keep_draft(
        self,
        question: Question,
        passages: Sequence[Passage],
        draft: Draft,
        *,
        is_refusal: bool = False,
    ) -> bool:
        """Keep what the model wrote, a refusal for seconds only; false for a degraded or empty draft."""
        if draft.degraded or not draft.text.strip():
            return False
        key = self._draft_key(question, passages)
        seconds = min(REFUSAL_SECONDS, self._draft_seconds) if is_refusal else self._draft_seconds
        await self._cache.put(key, DRAFTS.pack(draft), seconds=seconds)
        return True

    def _draft_key(self, question: Question, passages: Sequence[Passage]) -> str:
        return _key("draft", *self._shared(question), *(_content(passage) for passage in passages))

    def _shared(self, question: Question) -> tuple[str, ...]:
        making = self._making
        return (
            making.model,
            making.prompt,
            making.index,
            making.retrieval,
            question.audience.key,
            normalised(question.text),
            *(normalised(turn.text) for turn in question.turns),
            "",
        )


class CachingEmbedder:
    """An embedder that remembers the vectors of questions; passages go straight through.

    Equal questions at the same moment are embedded once. Case is kept apart here: models read it.
    """

    def __init__(self, embedder: Embedder, cache: Cache, *, seconds: int = VECTOR_SECONDS) -> None:
        self._embedder = embedder
        self._cache = cache
        self._seconds = seconds
        self._flights: SingleFlight[Vector] = SingleFlight()

    @property
    def profile(self) -> ModelProfile:
        """The space of the embedder behind."""
        return self._embedder.profile

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, remembered or new.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as the embedder behind.
        """
        tidy = _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).strip()
        profile = self.profile
        key = _key("vector", profile.name, str(profile.dimensions), profile.query_prefix, tidy)
        data = await self._cache.get(key)
        remembered = None if data is None else _vector(data, dimensions=profile.dimensions)
        if remembered is not None:
            return remembered
        return await self._flights.run(key, lambda: self._embed(tidy, key))

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages; the index remembers those."""
        return await self._embedder.embed_passages(texts)

    async def _embed(self, text: str, key: str) -> Vector:
        vector = await self._embedder.embed_query(text)
        await self._cache.put(key, np.asarray(vector, dtype="<f4").tobytes(), seconds=self._seconds)
        return vector


def _unpacked(data: bytes) -> Answer | None:
    """An answer whose citations hold the very passages of its retrieval: what is one is compared at once."""
    answer = ANSWERS.unpack(data)
    if answer is None:
        return None
    passages = answer.retrieval.passages
    citations = tuple(replace(one, passage=passages[passages.index(one.passage)]) for one in answer.citations)
    return replace(answer, citations=citations)


def _is_whole(answer: Answer) -> bool:
    degraded = answer.degraded or answer.retrieval.degraded
    return not degraded and any(span.text.strip() for span in answer.spans)


def _vector(data: bytes, *, dimensions: int) -> Vector | None:
    if len(data) != 4 * dimensions:
        return None
    vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    return vector if np.isfinite(vector).all() and vector.any() else None


def _content(passage: Passage) -> str:
    """All of a passage that a prompt can show; not its scores, nor its row, which a re-index renumbers."""
    bare = replace(
        passage.candidate,
        chunk_id=ChunkId(0),
        semantic_rank=None,
        lexical_rank=None,
        cosine=None,
        lexical=None,
    )
    return repr(bare)


def _key(kind: str, *parts: str) -> str:
    digest = sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        # Lengths keep parts apart: "a", "bc" is not "ab", "c".
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{kind}:{digest.hexdigest()}"
