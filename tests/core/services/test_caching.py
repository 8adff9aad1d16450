"""What is served from a cache is what would be answered now."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from adapters.caches.memory import MemoryCache
from adapters.embedders.hashing import HashingEmbedder
from core.domain.answers import Draft, NoAnswer, NoAnswerReason
from core.domain.audiences import EVERYTHING, WHOLE_WORKSPACE, Audience, Scope
from core.domain.ids import PageId
from core.domain.models import Fingerprint, ModelProfile, Vector
from core.errors import UnavailableError
from core.services.caching import (
    ANSWER_SECONDS,
    FREQUENT_SECONDS,
    AnswerCache,
    CachingEmbedder,
    Making,
    normalised,
    readdressed,
)
from tests.core.services.answered import a_passage, a_question, an_answer

MAKING = Making(model="ollama:llama3.1:8b", prompt="guided 1", index=Fingerprint("f1"), retrieval="t=0.3 k=5")
SALARIES = PageId("0b4d7f5e-0000-4000-8000-0000000000aa")


class RecordingCache(MemoryCache):
    """A memory cache that shows what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: dict[str, bytes] = {}

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        self.stored[key] = value
        await super().put(key, value, seconds=seconds)


class BrokenCache:
    """Returns garbage for every key."""

    def __init__(self, value: bytes) -> None:
        self.value = value

    async def get(self, key: str) -> bytes | None:
        assert key
        return self.value

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        assert key
        assert value
        assert seconds > 0


class CountingEmbedder:
    """Counts queries, and fails where told to."""

    def __init__(self) -> None:
        self.inner = HashingEmbedder()
        self.queries: list[str] = []
        self.fails = False

    @property
    def profile(self) -> ModelProfile:
        return self.inner.profile

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        await asyncio.sleep(0)
        if self.fails:
            raise UnavailableError("away")
        return await self.inner.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        return await self.inner.embed_passages(texts)


@pytest.mark.parametrize(
    "variant",
    [
        "how many VACATION days do i have?",
        "  How many  vacation\u00a0days\n do I have? ",
        "Ｈow many vacation days do I have?",
    ],
)
async def test_a11_case_and_spaces_make_no_difference(variant: str) -> None:
    """The answer to the same question in other letters is the same entry, marked as cached."""
    answers = AnswerCache(MemoryCache(), MAKING)
    await answers.keep(an_answer())

    found = await answers.find(a_question(variant), generation=1)

    assert found is not None
    assert found.cached
    assert found.spans == an_answer().spans


def test_normalising_twice_changes_nothing() -> None:
    """Also for letters whose folding comes apart again."""
    for text in ("STRASSE  straße", "\u1fb3\u0345Ι\u0390", "ΑΪΌΣ", "Ⅻ ﬁ", "İstanbul"):
        assert normalised(normalised(text)) == normalised(text)


@pytest.mark.parametrize(
    "other",
    [
        Audience(name="some", groups=((Scope("some", frozenset({SALARIES})),),)),
        Audience(name="all but", groups=((replace(WHOLE_WORKSPACE, exclude=frozenset({SALARIES})),),)),
        Audience(name="all", groups=()),
    ],
)
async def test_a12_another_scope_is_another_entry(other: Audience) -> None:
    """Neither answers nor drafts cross from one audience to another, whatever the audience is called."""
    answers = AnswerCache(MemoryCache(), MAKING)
    await answers.keep(an_answer(a_question(audience=EVERYTHING)))
    await answers.keep_draft(a_question(), [a_passage()], Draft("thirty days [1]", "m"))

    assert await answers.find(a_question(audience=other), generation=1) is None
    assert await answers.find_draft(a_question(audience=other), [a_passage()]) is None


async def test_a13_f66_an_answer_from_before_a_sync_is_not_served() -> None:
    """The generation of the passages is in the key: once it rises, nobody asks for the old one."""
    answers = AnswerCache(MemoryCache(), MAKING)
    await answers.keep(an_answer(generation=4))

    assert await answers.find(a_question(), generation=4) is not None
    assert await answers.find(a_question(), generation=5) is None


@pytest.mark.parametrize(
    "making",
    [
        replace(MAKING, model="ollama:qwen3"),
        replace(MAKING, prompt="strict 1"),
        replace(MAKING, index=Fingerprint("f2")),
        replace(MAKING, retrieval="t=0.4 k=5"),
    ],
)
async def test_a13_another_model_prompt_index_or_threshold_is_another_entry(making: Making) -> None:
    """Changing a setting never serves what the old one made."""
    cache = MemoryCache()
    before = AnswerCache(cache, MAKING)
    await before.keep(an_answer())
    await before.keep_draft(a_question(), [a_passage()], Draft("thirty days [1]", "m"))

    after = AnswerCache(cache, making)

    assert await after.find(a_question(), generation=1) is None
    assert await after.find_draft(a_question(), [a_passage()]) is None


async def test_a14_failed_degraded_and_unanswered_results_are_not_kept() -> None:
    """The next asker gets another try."""
    cache = RecordingCache()
    answers = AnswerCache(cache, MAKING)
    whole = an_answer()
    kept = [
        await answers.keep(an_answer(degraded=True)),
        await answers.keep(replace(whole, retrieval=replace(whole.retrieval, degraded=True))),
        await answers.keep(an_answer(text=" \n")),
        await answers.keep(NoAnswer(NoAnswerReason.NO_RELEVANT_PAGES, "en", whole.retrieval)),
        await answers.keep_draft(a_question(), [a_passage()], Draft("text", "m", degraded=True)),
        await answers.keep_draft(a_question(), [a_passage()], Draft("  ", "m")),
    ]

    assert kept == [False] * 6
    assert cache.stored == {}


async def test_earlier_turns_are_part_of_the_question() -> None:
    """'And for interns?' means something else in every thread."""
    answers = AnswerCache(MemoryCache(), MAKING)
    await answers.keep(an_answer(a_question("And for interns?", turns=("Vacation days?",))))

    same = await answers.find(a_question("and for interns?", turns=("vacation  days?",)), generation=1)
    other = await answers.find(a_question("And for interns?", turns=("Lunch money?",)), generation=1)
    alone = await answers.find(a_question("And for interns?"), generation=1)

    assert same is not None
    assert other is None
    assert alone is None


async def test_a_found_answer_belongs_to_who_asks_now() -> None:
    """No entry tells who asked before, or where."""
    cache = RecordingCache()
    answers = AnswerCache(cache, MAKING)
    await answers.keep(an_answer(a_question(asker="U-first")))

    asked = a_question(asker="U-second")
    found = await answers.find(asked, generation=1)

    assert found is not None
    assert found.retrieval.question == asked
    (stored,) = cache.stored.values()
    for private in (b"U-first", b"C1", b"1700.01", b"event of"):
        assert private not in stored


async def test_a_draft_survives_a_re_index_that_left_its_passages_alone() -> None:
    """New row numbers and scores are not new content; new words are."""
    answers = AnswerCache(MemoryCache(), MAKING)
    draft = Draft("thirty days [1]", "m")
    await answers.keep_draft(a_question(), [a_passage(chunk_id=7)], draft)

    renumbered = replace(a_passage(chunk_id=99), score=0.9, rrf=0.1)

    assert await answers.find_draft(a_question(), [renumbered]) == draft
    assert await answers.find_draft(a_question(), [a_passage("Twenty-eight days.")]) is None
    assert await answers.find_draft(a_question(), [a_passage(), a_passage("More.")]) is None


async def test_numbers_in_a_draft_mean_the_same_passages() -> None:
    """The order of the passages is part of the key, since [1] is the first."""
    answers = AnswerCache(MemoryCache(), MAKING)
    one, two = a_passage("one"), a_passage("two")
    await answers.keep_draft(a_question(), [one, two], Draft("see [1]", "m"))

    assert await answers.find_draft(a_question(), [two, one]) is None


@pytest.mark.parametrize("value", [b"", b"garbage", b'["1.000000000000",[]]', bytes(384 * 4), b"\x00" * 7])
async def test_a_corrupt_value_is_a_miss_on_every_level(value: bytes) -> None:
    """Broken bytes cost the time saved, nothing else."""
    answers = AnswerCache(BrokenCache(value), MAKING)
    embedder = CountingEmbedder()

    vector = await CachingEmbedder(embedder, BrokenCache(value)).embed_query("vacation")

    assert await answers.find(a_question(), generation=1) is None
    assert await answers.find_draft(a_question(), [a_passage()]) is None
    assert np.array_equal(vector, await embedder.inner.embed_query("vacation"))


async def test_a_vector_with_nan_in_the_cache_is_a_miss() -> None:
    """The right length alone does not make a vector."""
    embedder = CountingEmbedder()
    poisoned = BrokenCache(np.full(384, np.nan, dtype="<f4").tobytes())

    vector = await CachingEmbedder(embedder, poisoned).embed_query("vacation")

    assert np.isfinite(vector).all()
    assert embedder.queries == ["vacation"]


async def test_x22_a_question_is_embedded_once() -> None:
    """Spaces make no difference, case does, since models read it."""
    embedder = CountingEmbedder()
    caching = CachingEmbedder(embedder, MemoryCache())

    first = await caching.embed_query("Vacation  days?")
    again = await caching.embed_query(" Vacation days? ")
    await caching.embed_query("vacation days?")

    assert np.array_equal(first, again)
    assert first.dtype == again.dtype == np.float32
    assert embedder.queries == ["Vacation days?", "vacation days?"]


async def test_a16_twenty_equal_questions_at_once_are_embedded_once() -> None:
    """They wait for the one call."""
    embedder = CountingEmbedder()
    caching = CachingEmbedder(embedder, MemoryCache())

    vectors = await asyncio.gather(*(caching.embed_query("now?") for _ in range(20)))

    assert len(embedder.queries) == 1
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


async def test_a_failed_embedding_is_not_remembered() -> None:
    """Once the model is back it is asked again."""
    embedder = CountingEmbedder()
    caching = CachingEmbedder(embedder, MemoryCache())
    embedder.fails = True
    with pytest.raises(UnavailableError):
        await caching.embed_query("now?")

    embedder.fails = False

    assert (await caching.embed_query("now?")).shape == (384,)


async def test_an_outcome_shared_by_a_single_flight_is_readdressed() -> None:
    """Who waited for somebody else's equal question gets the answer as their own."""
    mine = a_question(asker="me")
    nothing = NoAnswer(NoAnswerReason.NO_RELEVANT_PAGES, "en", an_answer().retrieval)
    bare = NoAnswer(NoAnswerReason.EMPTY_INDEX, "en")

    answer = readdressed(an_answer(), mine)
    unanswered = readdressed(nothing, mine)

    assert answer == an_answer(mine)
    assert isinstance(unanswered, NoAnswer)
    assert unanswered.retrieval is not None
    assert unanswered.retrieval.question == mine
    assert readdressed(bare, mine) == bare


class Expiries(MemoryCache):
    """Notes for how long each value is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[int] = []

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Note it."""
        self.seconds.append(seconds)
        await super().put(key, value, seconds=seconds)


async def test_what_is_asked_often_is_kept_longer() -> None:
    """From the moment at which it is frequent, with one write more and not with each look."""
    cache, often = Expiries(), set[str]()
    answers = AnswerCache(cache, MAKING, is_frequent=lambda question: question.text in often)
    question = a_question()
    await answers.keep(an_answer(question))
    await answers.find(question, generation=an_answer(question).retrieval.generation)
    often.add(question.text)
    for _ in range(3):
        assert await answers.find(question, generation=an_answer(question).retrieval.generation) is not None
    await answers.keep(an_answer(question))

    assert cache.seconds == [ANSWER_SECONDS, FREQUENT_SECONDS, FREQUENT_SECONDS]
