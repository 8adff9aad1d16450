"""From a question to an outcome: what is answered, refused, quoted instead, cached, and never shown."""

import asyncio
from typing import Any

import pytest

from adapters.caches.memory import MemoryCache
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome, Retrieval
from core.domain.audiences import NOTHING
from core.domain.models import Fingerprint
from core.errors import ConfigurationError, RefusedError, UnavailableError
from core.ports import SearchResult
from core.services.answering import Answering
from core.services.caching import AnswerCache, Making
from core.services.prompting import NOT_IN_WIKI
from core.services.refusals import Verdict
from core.services.retriever import Retriever
from tests.core.services.found import (
    ScriptedGenerator,
    ScriptedIndex,
    WordEmbedder,
    a_hit,
    a_page_hit,
    a_question,
    page_id,
)

BODY = "You have 28 vacation days."


def willing(_retrieval: Retrieval) -> Verdict:
    """Answers whenever there is a passage."""
    return Verdict(is_answerable=bool(_retrieval.passages), is_confident=True)


def an_answering(index: ScriptedIndex, generator: ScriptedGenerator | None = None, **more: Any) -> Answering:
    """The service over scripted neighbours."""
    embedder = more.pop("embedder", WordEmbedder())
    retriever = Retriever(index=index, embedder=embedder)
    settled: dict[str, Any] = {"judge": willing, "embedder": embedder} | more
    return Answering(retriever=retriever, generator=generator, **settled)


def a_cache(cache: Any = None) -> AnswerCache:
    """An answer cache over memory."""
    making = Making(model="test", prompt="1", index=Fingerprint("f"))
    return AnswerCache(cache if cache is not None else MemoryCache(), making)


def answered(outcome: Outcome) -> Answer:
    """The outcome, which must be an answer."""
    assert isinstance(outcome, Answer)
    return outcome


def text_of(outcome: Outcome) -> str:
    """The answer's text with plain marks."""
    return "".join(
        span.text + "".join(f" [{number}]" for number in span.cites) for span in answered(outcome).spans
    )


def reason_of(outcome: Outcome) -> NoAnswerReason:
    """Why there is no answer."""
    assert isinstance(outcome, NoAnswer)
    return outcome.reason


async def test_a1_a_model_answers_with_its_sources() -> None:
    """The prompt holds the passage, the answer cites it."""
    generator = ScriptedGenerator("You have 28 days [1].")
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), generator).answer(a_question())

    assert text_of(outcome) == "You have 28 days [1]."
    answer = answered(outcome)
    assert [citation.passage.candidate.page_id for citation in answer.citations] == [page_id(1)]
    assert BODY in generator.prompts[0].user
    assert (answer.degraded, answer.cached, answer.language) == (False, False, "en")
    assert set(answer.retrieval.timings) == {"embed", "search", "rank", "generate", "total"}


async def test_without_a_model_the_answer_is_quoted() -> None:
    """The extractive writer is the usual way then, not a makeshift."""
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY))).answer(a_question())

    assert text_of(outcome) == f"> {BODY} [1]"
    assert not answered(outcome).degraded


async def test_a2_t15_no_hits_means_no_model_call() -> None:
    """A fixed refusal, no invented source, no prompt."""
    generator = ScriptedGenerator("From memory: 30 days.")
    outcome = await an_answering(ScriptedIndex(), generator).answer(
        a_question("Wie viele Urlaubstage gibt es?")
    )

    assert reason_of(outcome) is NoAnswerReason.NO_RELEVANT_PAGES
    assert outcome.language == "de"
    assert generator.prompts == []


async def test_a2_weak_passages_are_refused_without_a_model_call() -> None:
    """What the judge does not accept never reaches the model."""
    generator = ScriptedGenerator("Perhaps [1].")
    service = an_answering(
        ScriptedIndex(a_hit(1)), generator, judge=lambda _retrieval: Verdict(is_answerable=False)
    )

    assert reason_of(await service.answer(a_question())) is NoAnswerReason.NO_RELEVANT_PAGES
    assert generator.prompts == []


async def test_t15_a_model_that_finds_nothing_is_believed() -> None:
    """Its word for it becomes the fixed refusal, not a posted word."""
    service = an_answering(ScriptedIndex(a_hit(1)), ScriptedGenerator(f"{NOT_IN_WIKI}."))

    assert reason_of(await service.answer(a_question())) is NoAnswerReason.NO_RELEVANT_PAGES


async def test_t15_thoughts_about_the_mark_refuse_nothing() -> None:
    """A model that thinks aloud weighs whether to write the mark, and then answers."""
    draft = f"<think>If no source answers I write only {NOT_IN_WIKI}.</think>You have 28 days [1]."
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), ScriptedGenerator(draft)).answer(a_question())

    assert text_of(outcome) == "You have 28 days [1]."


async def test_t15_an_excuse_without_source_is_a_refusal() -> None:
    """Words instead of the mark: quoting a passage that the model found useless would contradict it."""
    generator = ScriptedGenerator("The sources do not say how many days there are.")
    outcome = await an_answering(ScriptedIndex(a_hit(1, "Ask the office.")), generator).answer(a_question())

    assert reason_of(outcome) is NoAnswerReason.NO_RELEVANT_PAGES
    assert len(generator.prompts) == 1


async def test_t15_the_mark_is_never_shown_and_ends_the_writing() -> None:
    """A model that goes on behind the mark is cut off; nobody sees the mark as a preview."""
    generator = ScriptedGenerator(f"{NOT_IN_WIKI}. The sources speak of other things. " * 40)
    watching = Watching()
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), generator).answer(a_question(), watching)

    assert reason_of(outcome) is NoAnswerReason.NO_RELEVANT_PAGES
    assert watching.told == ["search", "write"]
    assert generator.closed == 1


async def test_a14_a_models_refusal_is_remembered_for_seconds() -> None:
    """Who asks again at once costs no model call; a minute later the model is asked anew."""
    clock = [0.0]
    cache = a_cache(MemoryCache(monotonic=lambda: clock[0]))
    generator = ScriptedGenerator(NOT_IN_WIKI, "You have 28 days [1].")
    service = an_answering(ScriptedIndex(a_hit(1, BODY)), generator, cache=cache)

    first, again = [reason_of(await service.answer(a_question())) for _ in range(2)]
    asked = len(generator.prompts)
    clock[0] = 60.0
    later = text_of(await service.answer(a_question()))

    assert first is again is NoAnswerReason.NO_RELEVANT_PAGES
    assert (asked, len(generator.prompts), later) == (1, 2, "You have 28 days [1].")


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "???", "!!!", "🙂", "\x00", "hi!", "Vielen Dank"])
async def test_a7_a_blank_question_is_refused(text: str) -> None:
    """What is left after the mention says nothing: nobody is asked."""
    index = ScriptedIndex(a_hit(1))

    assert reason_of(await an_answering(index).answer(a_question(text))) is NoAnswerReason.EMPTY_QUESTION
    assert index.calls == 0


@pytest.mark.parametrize(("length", "is_refused"), [(2000, False), (2001, True)])
async def test_a7_t17_a_question_has_a_length(length: int, *, is_refused: bool) -> None:
    """2,000 characters are answered, one more is refused rather than cut."""
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY))).answer(a_question("x" * length))

    if is_refused:
        assert reason_of(outcome) is NoAnswerReason.QUESTION_TOO_LONG
    else:
        assert answered(outcome).citations


async def test_t17_a_question_without_readers_sees_nothing() -> None:
    """No scope: no query, no embedding, no prompt, not even a look into the cache."""
    index, embedder = ScriptedIndex(a_hit(1)), WordEmbedder()
    generator = ScriptedGenerator("secret [1]")
    service = an_answering(index, generator, embedder=embedder, cache=a_cache())

    assert reason_of(await service.answer(a_question(audience=NOTHING))) is NoAnswerReason.NOTHING_VISIBLE
    assert (index.calls, embedder.queries, generator.prompts) == (0, [], [])


async def test_an_empty_index_is_said() -> None:
    """Before the first sync the reason is another."""
    outcome = await an_answering(ScriptedIndex(has_chunks=False)).answer(a_question())

    assert reason_of(outcome) is NoAnswerReason.EMPTY_INDEX


@pytest.mark.parametrize(
    "error", [UnavailableError("down"), RefusedError("bad key"), ConfigurationError("no model")]
)
async def test_a_failing_model_leaves_the_quotes(error: Exception) -> None:
    """The extractive answer is given instead, marked as degraded."""
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), ScriptedGenerator(error)).answer(a_question())

    assert text_of(outcome) == f"> {BODY} [1]"
    assert answered(outcome).degraded


@pytest.mark.parametrize("empty", ["", "   ", "<think>hm", "[7]"])
async def test_f68_an_empty_draft_is_asked_for_once_more(empty: str) -> None:
    """The second try counts; after two empty ones the quotes are given. Never an empty post."""
    healed = ScriptedGenerator(empty, "You have 28 days [1].")
    hopeless = ScriptedGenerator(empty, empty, "never asked")
    index = ScriptedIndex(a_hit(1, BODY))

    assert text_of(await an_answering(index, healed).answer(a_question())) == "You have 28 days [1]."
    outcome = answered(await an_answering(index, hopeless).answer(a_question()))

    assert text_of(outcome) == f"> {BODY} [1]"
    assert outcome.degraded
    assert len(hopeless.prompts) == 2


async def test_a_draft_without_any_source_is_not_posted() -> None:
    """A statement that no passage supports and no number marks is replaced by quotes."""
    generator = ScriptedGenerator("Penguins live in the southern hemisphere, mostly.")
    outcome = answered(await an_answering(ScriptedIndex(a_hit(1, BODY)), generator).answer(a_question()))

    assert text_of(outcome) == f"> {BODY} [1]"
    assert outcome.degraded


async def test_a_draft_that_forgot_its_numbers_gets_them() -> None:
    """Words that plainly stem from one passage are attributed to it."""
    index = ScriptedIndex(a_hit(2, "Coffee is free."), a_hit(1, BODY))
    outcome = await an_answering(index, ScriptedGenerator("You have 28 vacation days.")).answer(a_question())

    answer = answered(outcome)
    assert [citation.passage.candidate.page_id for citation in answer.citations] == [page_id(1)]
    assert not answer.degraded


async def test_f71_a3_f69_drafts_are_checked() -> None:
    """Thinking, invented links and numbers never reach the reader."""
    draft = "<think>[2]?</think>You have 28 [1]. See [VPN guide](https://www.notion.so/made-up) [7]."
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), ScriptedGenerator(draft)).answer(a_question())

    assert text_of(outcome) == "You have 28 [1]."


async def test_endless_writing_is_stopped() -> None:
    """A model that repeats itself is not listened to until its limit; its stream is closed."""
    generator = ScriptedGenerator("You have 28 vacation days a year [1]. " * 500, piece=40)
    outcome = await an_answering(ScriptedIndex(a_hit(1, BODY)), generator).answer(a_question())

    assert text_of(outcome) == "You have 28 vacation days a year [1]."
    assert generator.closed == 1


class Watching:
    """A `Progress` that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def stage(self, name: str) -> None:
        """A stage."""
        self.told.append(name)

    async def text(self, so_far: str) -> None:
        """A preview."""
        self.told.append(so_far)


async def test_progress_is_told() -> None:
    """Stages in order, and checked sentences while the model writes."""
    draft = (
        "You have 28 days [1]. "
        + "And some more words follow here. " * 2
        + "See [x](https://evil.example/y) too."
    )
    watching = Watching()
    await an_answering(ScriptedIndex(a_hit(1, BODY)), ScriptedGenerator(draft)).answer(a_question(), watching)

    assert watching.told[:2] == ["search", "write"]
    assert watching.told[2].startswith("You have 28 days [1].")
    assert not any("evil" in text for text in watching.told)


@pytest.mark.parametrize("is_confident", [True, False])
async def test_pages_are_tried_when_passages_do_not_answer(*, is_confident: bool) -> None:
    """A page that was never embedded is found by its words, if it surely is the one; that is degraded."""

    def judge(found: Retrieval) -> Verdict:
        answers = any(BODY in one.candidate.body for one in found.passages)
        return Verdict(is_answerable=answers, is_confident=answers and is_confident)

    index = ScriptedIndex(a_hit(1, "Else."), pages=[a_page_hit(1, "The same."), a_page_hit(2, BODY)])
    outcome = await an_answering(index, judge=judge).answer(a_question())

    if is_confident:
        answer = answered(outcome)
        assert [citation.passage.candidate.page_id for citation in answer.citations] == [page_id(2)]
        assert answer.degraded
    else:
        assert reason_of(outcome) is NoAnswerReason.NO_RELEVANT_PAGES


# --- Caching (A11 to A16 where they concern answering) --------------------------------------------------


async def test_a11_the_same_question_costs_one_answer() -> None:
    """Case and blanks make no difference; the second is marked as cached."""
    generator = ScriptedGenerator("You have 28 days [1].")
    index = ScriptedIndex(a_hit(1, BODY))
    service = an_answering(index, generator, cache=a_cache())

    first = answered(await service.answer(a_question("How many days?")))
    second = answered(await service.answer(a_question("  how MANY   days? ")))

    assert (first.cached, second.cached) == (False, True)
    assert second.spans == first.spans
    assert (len(generator.prompts), len(index.searches)) == (1, 1)


async def test_a13_f66_a_changed_index_is_asked_again() -> None:
    """A raised generation makes the old answer unreachable, for a paraphrase too."""
    index = ScriptedIndex(a_hit(1, BODY))
    service = an_answering(index, cache=a_cache())
    await service.answer(a_question())

    index.hits = (a_hit(1, "You have 30 vacation days."),)
    index.current += 1

    assert text_of(await service.answer(a_question())) == "> You have 30 vacation days. [1]"
    assert "30" in text_of(await service.answer(a_question("How many days of vacation are there?")))


@pytest.mark.parametrize("failing", ["generator", "embedder", "doubt", "unanswered"])
async def test_a14_degraded_and_unanswered_results_are_not_cached(failing: str) -> None:
    """The next question has another chance."""
    index = ScriptedIndex(a_hit(1, BODY, lexical_rank=1))
    embedder = WordEmbedder(error=UnavailableError("down")) if failing == "embedder" else WordEmbedder()
    generator = ScriptedGenerator(UnavailableError("x")) if failing == "generator" else None
    verdict = Verdict(is_answerable=failing != "unanswered", is_confident=failing != "doubt")
    service = an_answering(
        index, generator, embedder=embedder, cache=a_cache(), judge=lambda _retrieval: verdict
    )

    await service.answer(a_question())
    outcome = await service.answer(a_question())

    assert len(index.searches) == 2
    if isinstance(outcome, Answer):
        assert not outcome.cached


class AwayCache:
    """A cache that is away: a miss and a silent loss, as its port promises."""

    async def get(self, key: str) -> bytes | None:
        """Nothing."""
        return dict[str, bytes]().get(key)

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Nowhere."""


async def test_a15_f67_without_cache_answers_still_come() -> None:
    """Slower, never wrong."""
    index = ScriptedIndex(a_hit(1, BODY))
    service = an_answering(index, cache=a_cache(AwayCache()))

    first, second = await service.answer(a_question()), await service.answer(a_question())

    assert text_of(first) == text_of(second) == f"> {BODY} [1]"
    assert len(index.searches) == 2


async def test_a16_equal_questions_at_once_are_one_computation() -> None:
    """Twenty askers, one generation, twenty answers."""
    generator = ScriptedGenerator("You have 28 days [1].")
    index = ScriptedIndex(a_hit(1, BODY))
    service = an_answering(index, generator, cache=a_cache())

    outcomes = await asyncio.gather(*(service.answer(a_question()) for _ in range(20)))

    assert {text_of(outcome) for outcome in outcomes} == {"You have 28 days [1]."}
    assert (len(generator.prompts), len(index.searches)) == (1, 1)


async def test_the_same_passages_are_not_written_about_twice() -> None:
    """After a sync that changed other pages retrieval runs again, and the writing is reused."""
    generator = ScriptedGenerator("You have 28 days [1].")
    index = ScriptedIndex(a_hit(1, BODY))
    service = an_answering(index, generator, cache=a_cache())
    await service.answer(a_question())
    index.current += 1

    assert text_of(await service.answer(a_question())) == "You have 28 days [1]."
    assert (len(generator.prompts), len(index.searches)) == (1, 2)


async def test_a_dead_index_is_an_error() -> None:
    """Neither vectors nor words could be searched: the caller says so."""

    class Dead(ScriptedIndex):
        async def search(self, **_asked: Any) -> SearchResult:
            """Fails."""
            raise UnavailableError("database away")

    with pytest.raises(UnavailableError, match="database away"):
        await an_answering(Dead()).answer(a_question())
