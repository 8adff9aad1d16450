"""Keeping what was asked, beside the answer and never in its way."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.stores.learning_memory import MemoryLearning
from core.domain.answers import NoAnswer, NoAnswerReason, Outcome
from core.domain.questions import Question
from core.errors import UnavailableError
from core.ports import Progress
from core.ports.chat import Verdict
from core.ports.learning import Exchange
from core.services.recording import (
    TOGETHER,
    WAITING,
    NoFeedback,
    Recorder,
    RecordingAnswerer,
    ScrubbedFeedback,
    exchange_of,
)
from core.services.scrubbing import EVERYTHING_SENSITIVE, scrubbed
from tests.core.services.answered import PAGE, a_question, an_answer


class Log(MemoryLearning):
    """Remembers batches; may be slow or away."""

    def __init__(self) -> None:
        super().__init__(clock=StillClock())
        self.batches: list[tuple[Exchange, ...]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.calls = 0

    async def record(self, exchanges: Sequence[Exchange]) -> None:
        """Keep the batch, once the gate is open."""
        self.calls += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.batches.append(tuple(exchanges))
        await super().record(exchanges)

    @property
    def events(self) -> list[str]:
        """All events written, in order."""
        return [one.event for batch in self.batches for one in batch]


class StillClock:
    """Never moves."""

    def now(self) -> datetime:
        """The same instant always."""
        return datetime(2026, 5, 4, tzinfo=UTC)


class Answering:
    """Gives one outcome, or raises it."""

    def __init__(self, outcome: Outcome | Exception) -> None:
        self.outcome = outcome

    async def answer(self, question: Question, _: Progress | None = None) -> Outcome:
        """The outcome."""
        assert question.text
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def scrub(text: str) -> str:
    """Mask everything that can be masked."""
    return scrubbed(text, EVERYTHING_SENSITIVE)


def unmasked(text: str) -> str:
    """Mask nothing."""
    return text


async def test_an_exchange_is_kept_with_passages_scores_and_timings() -> None:
    """Where the answer's passages stand and how well they fitted; not what they say."""
    log = Log()
    recorder = Recorder(log)
    question = a_question()
    answer = an_answer(question, body="A very secret sentence.")

    async with recorder.running():
        outcome = await RecordingAnswerer(Answering(answer), recorder, scrub=unmasked).answer(question)

    assert outcome is answer
    [[kept]] = log.batches
    assert (kept.event, kept.platform, kept.outcome) == (question.id, "slack", "answered")
    assert kept.timings == {"search": 3.5}
    assert [(one.page_id, one.is_cited, one.cosine) for one in kept.passages] == [(PAGE, True, 0.9)]
    assert "secret" not in repr(kept)


@pytest.mark.parametrize("reason", list(NoAnswerReason))
async def test_refusals_are_kept_unless_they_tell_nothing_about_the_wiki(reason: NoAnswerReason) -> None:
    """A limit that was reached and an empty question say nothing of what is missing."""
    log = Log()
    recorder = Recorder(log)

    async with recorder.running():
        answering = RecordingAnswerer(Answering(NoAnswer(reason, "en")), recorder, scrub=unmasked)
        await answering.answer(a_question())

    kept = [one.outcome for batch in log.batches for one in batch]
    silent = reason in (NoAnswerReason.EMPTY_QUESTION, NoAnswerReason.LIMIT_REACHED)
    assert kept == ([] if silent else [reason.value])


async def test_a_failure_is_kept_and_raised() -> None:
    """Whoever asked learns of it as before."""
    log = Log()
    recorder = Recorder(log)

    async with recorder.running():
        answering = RecordingAnswerer(Answering(UnavailableError("away")), recorder, scrub=unmasked)
        with pytest.raises(UnavailableError):
            await answering.answer(a_question())

    assert log.batches[0][0].outcome == "failed"


async def test_a19_questions_are_masked_before_they_are_kept() -> None:
    """With masking on no address is kept, with masking off the text is as it was asked."""
    question = a_question("Why did jane@example.com get no card 4111 1111 1111 1111?")

    masked = exchange_of(question, None, scrub=scrub)
    plain = exchange_of(question, None, scrub=unmasked)

    assert masked.text == "Why did [email] get no card [card]?"
    assert plain.text == question.text


async def test_a19_judgements_and_suggestions_are_masked_too() -> None:
    """Free text of people is masked wherever it is kept."""
    log = Log()
    feedback = ScrubbedFeedback(log, scrub=scrub)

    await feedback.judge(question_id="E", person="U", verdict=Verdict.BAD, reason="ask a@example.com")
    await feedback.suggest(question_id="E", person="U", text="call +49 30 901820")

    assert [one.reason for one in log._judgements.values()] == ["ask [email]"]
    assert log._suggestions[0][2] == "call [phone]"


async def test_with_recording_off_judgements_are_forgotten_at_once() -> None:
    """The buttons still work."""
    feedback = NoFeedback()

    assert await feedback.judge(question_id="E", person="U", verdict=Verdict.BAD) is None  # type: ignore[func-returns-value]  # that nothing comes back
    assert await feedback.suggest(question_id="E", person="U", text="x") is None  # type: ignore[func-returns-value]  # that nothing comes back


async def test_answers_never_wait_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """With the database stuck all questions are answered; what does not fit is dropped and said once."""
    log = Log()
    log.gate.clear()
    recorder = Recorder(log)
    answering = RecordingAnswerer(Answering(an_answer()), recorder, scrub=unmasked)

    with caplog.at_level(logging.WARNING):
        async with recorder.running():
            await asyncio.sleep(0)
            for number in range(WAITING + TOGETHER + 50):
                await answering.answer(replace(a_question(), id=f"E{number}"))
            log.gate.set()

    assert len(log.events) <= WAITING + TOGETHER
    assert log.events[0] == "E0"
    assert len([one for one in caplog.records if "faster than they can be recorded" in one.message]) == 1
    assert not any("vacation" in record.getMessage() for record in caplog.records)


async def test_what_waits_at_the_end_is_written_once() -> None:
    """A command that ends right after its answer loses nothing, and nothing is written twice."""
    log = Log()
    log.gate.clear()
    recorder = Recorder(log)

    async with recorder.running():
        for number in range(3):
            recorder.keep(replace(exchange_of(a_question(), None, scrub=unmasked), event=f"E{number}"))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(log.gate.set)

    assert sorted(set(log.events)) == ["E0", "E1", "E2"]
    assert (await log.totals(since=datetime(2020, 1, 1, tzinfo=UTC))).questions == 3


async def test_a_log_that_is_away_is_no_reason_to_fail(caplog: pytest.LogCaptureFixture) -> None:
    """The answer comes; one line says what was lost, without any text."""
    log = Log()
    log.error = UnavailableError("the database is away")
    recorder = Recorder(log)

    async with recorder.running():
        await RecordingAnswerer(Answering(an_answer()), recorder, scrub=unmasked).answer(a_question())
        await recorder.written()
        log.error = None
        await RecordingAnswerer(Answering(an_answer()), recorder, scrub=unmasked).answer(a_question())
        await recorder.written()

    assert len(log.batches) == 1
    assert "1 questions could not be recorded" in caplog.text
    assert "vacation" not in caplog.text


async def test_one_batch_that_cannot_be_written_does_not_end_recording(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever it fails with, the next exchanges are kept, and no text gets into the log."""
    log = Log()
    log.error = ValueError("How many vacation days do I have?")
    recorder = Recorder(log)

    async with recorder.running():
        recorder.keep(exchange_of(a_question(), None, scrub=unmasked))
        await recorder.written()
        log.error = None
        recorder.keep(exchange_of(a_question(), None, scrub=unmasked))
        await recorder.written()

    assert len(log.batches) == 1
    assert "1 questions could not be recorded (ValueError)" in caplog.text
    assert "vacation" not in caplog.text


async def test_at_the_end_a_log_that_is_away_is_asked_once() -> None:
    """What is left is given up, so that the process can end."""
    log = Log()
    log.gate.clear()
    recorder = Recorder(log)

    async with recorder.running():
        await asyncio.sleep(0)
        for number in range(5 * TOGETHER):
            recorder.keep(replace(exchange_of(a_question(), None, scrub=unmasked), event=f"E{number}"))
        log.error = UnavailableError("the database is away")
        log.gate.set()

    assert log.calls <= 2
