"""How much may be asked, over whatever counts it."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import pytest

from adapters.caches.connecting import RedisConnection
from adapters.caches.limits import RedisLimits
from adapters.caches.limits_memory import MemoryLimits
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.phrases import LANGUAGES, no_answer_text
from core.domain.questions import Question
from core.errors import UnavailableError
from core.ports import Progress, Prompt
from core.services.limiting import LimitedAnswerer, Limits, Rate, WrongRateError, parse_rates
from core.services.metering import MeteredGenerator
from tests.core.services.answered import a_question, an_answer

PROMPT = Prompt(system="s" * 40, user="u" * 40)


class Model:
    """Writes what it is given; the last piece may be an error."""

    model = "scripted"
    context_tokens = 4096

    def __init__(self, pieces: Iterable[str | Exception] = ("w" * 40,)) -> None:
        self._pieces = tuple(pieces)

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:  # noqa: ARG002 - the port's own
        """The pieces, one after the other."""
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


class Writing:
    """An answerer that has a model write for each question."""

    def __init__(self, model: Model | None = None) -> None:
        self.asked: list[Question] = []
        self._model = MeteredGenerator(model or Model())

    async def answer(self, question: Question, _: Progress | None = None) -> Outcome:
        """The same answer to everything."""
        self.asked.append(question)
        assert [piece async for piece in self._model.write(PROMPT)]
        return an_answer(question)


def limited(
    counter: MemoryLimits | RedisLimits, limits: Limits, model: Model | None = None
) -> LimitedAnswerer:
    """An answerer behind limits, with a makeshift that needs no model."""
    return LimitedAnswerer(Writing(model), makeshift=Quoting(), counter=counter, limits=limits)


class Quoting:
    """Answers without any model."""

    async def answer(self, question: Question, _: Progress | None = None) -> Outcome:
        """A quote."""
        return an_answer(question, text="A quote.")


def in_channel(
    channel: str, *, asker: str = "U1", workspace: str = "T1", platform: str = "slack"
) -> Question:
    """A question asked there."""
    question = a_question(asker=asker)
    place = replace(question.conversation, channel=channel, workspace=workspace, platform=platform)
    return replace(question, conversation=place)


async def admitted(service: LimitedAnswerer, *questions: Question) -> list[bool]:
    """Which of the questions are answered, asked in this order."""
    return [isinstance(await service.answer(one), Answer) for one in questions]


async def test_t27_people_channels_and_workspaces_have_limits_of_their_own() -> None:
    """Each counts what the others do not see; a direct message has no channel to count."""
    minute = (Rate(2, 60),)
    a, b, c = in_channel("C1"), in_channel("C1", asker="U2"), in_channel("C2")
    other = in_channel("C1", workspace="T2")

    person = await admitted(limited(MemoryLimits(), Limits(person=minute)), a, c, a, b, other)
    channel = await admitted(limited(MemoryLimits(), Limits(channel=minute)), a, b, a, c, other)
    workspace = await admitted(limited(MemoryLimits(), Limits(workspace=minute)), a, c, b, other)
    direct = await admitted(
        limited(MemoryLimits(), Limits(channel=minute)), *[in_channel("", asker=f"U{n}") for n in range(5)]
    )

    assert person == [True, True, False, True, True]
    assert channel == [True, True, False, True, True]
    assert workspace == [True, True, False, True]
    assert all(direct)


async def test_over_the_limit_comes_a_private_note_with_the_time_to_wait() -> None:
    """The note is for the asker alone; nothing was searched or written for it."""
    now = [1000.0]
    writing = Writing()
    counter = MemoryLimits(monotonic=lambda: now[0])
    service = LimitedAnswerer(
        writing, makeshift=Quoting(), counter=counter, limits=Limits(person=(Rate(1, 600),))
    )
    await service.answer(a_question())
    now[0] += 90

    outcome = await service.answer(a_question("Noch eine Frage zu den Urlaubstagen bitte?"))

    assert isinstance(outcome, NoAnswer)
    assert outcome.reason is NoAnswerReason.LIMIT_REACHED
    assert outcome.is_private
    assert outcome.wait == pytest.approx(510)
    assert no_answer_text(outcome.reason, outcome.language, wait=outcome.wait) == (
        "Das waren viele Fragen in kurzer Zeit. Bitte frag in 9 Min. wieder."
    )
    assert len(writing.asked) == 1


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_says_how_long_to_wait(language: str) -> None:
    """Minutes, rounded up, never none."""
    said = no_answer_text(NoAnswerReason.LIMIT_REACHED, language, wait=61)

    assert "2" in said
    assert "{" not in said
    assert "1" in no_answer_text(NoAnswerReason.LIMIT_REACHED, language)


async def test_t27_tokens_are_counted_not_only_questions() -> None:
    """Each answer costs 30 tokens; after two of them a budget of 50 is spent for the whole workspace."""
    service = limited(MemoryLimits(), Limits(daily_tokens=50))

    assert await admitted(service, *[in_channel("C1", asker=f"U{n}") for n in range(4)]) == [
        True,
        True,
        False,
        False,
    ]
    assert await admitted(service, in_channel("C1", workspace="T2")) == [True]


async def test_t27_a_failed_draft_is_paid_for(redis_url: str) -> None:
    """A model that breaks off has read and written already."""
    connection = RedisConnection(redis_url)
    broken = Model(["w" * 40, UnavailableError("cut")])
    service = limited(RedisLimits(connection), Limits(daily_tokens=30), broken)

    with pytest.raises(UnavailableError):
        await service.answer(a_question())
    outcome = await service.answer(a_question())
    await connection.close()

    assert isinstance(outcome, NoAnswer)


async def test_a15_without_redis_each_process_grants_its_share_and_then_quotes() -> None:
    """Two processes share four questions: each writes two answers, then quotes, marked as degraded."""
    texts = []
    for _ in range(2):
        connection = RedisConnection("redis://127.0.0.1:1/0")
        service = limited(RedisLimits(connection, processes=2), Limits(workspace=(Rate(4, 600),)))
        for _ in range(4):
            outcome = await service.answer(a_question())
            assert isinstance(outcome, Answer)
            texts.append((outcome.spans[0].text, outcome.degraded))
        await connection.close()

    written, quoted = ("You have thirty days.", False), ("A quote.", True)
    assert texts == [written, written, quoted, quoted] * 2


async def test_a17_a_burst_across_a_window_boundary_is_never_above_the_limit() -> None:
    """Three at the end of a minute leave room for none at the start of the next one."""
    now = [59.0]
    service = limited(MemoryLimits(monotonic=lambda: now[0]), Limits(person=(Rate(3, 60),)))

    before = await admitted(service, *[a_question()] * 3)
    now[0] = 61.0
    after = await admitted(service, *[a_question()] * 3)
    now[0] = 119.5
    later = await admitted(service, *[a_question()] * 4)

    assert before == [True] * 3
    assert after == [False] * 3
    assert later == [True, True, True, False]


async def test_the_command_line_is_not_limited() -> None:
    """Whoever sits there pays for the model."""
    service = limited(MemoryLimits(), Limits(person=(Rate(1, 60),), daily_tokens=1))

    assert all(await admitted(service, *[in_channel("", platform="console")] * 3))


async def test_keys_of_limits_tell_no_ids() -> None:
    """Redis learns neither who asks nor where."""
    question = in_channel("CSECRET", asker="USECRET", workspace="TSECRET")
    limits = Limits(person=(Rate(1, 60),), channel=(Rate(1, 60),), workspace=(Rate(1, 60),), daily_tokens=9)

    keys = [one.key for one in limits.windows(question)] + [one.key for one in limits.budgets(question)]

    assert len(set(keys)) == 4
    assert not any("SECRET" in key for key in keys)


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("", ()),
        ("20/10m", (Rate(20, 600),)),
        ("5/m, 100/d", (Rate(5, 60), Rate(100, 86400))),
        ("3 / 30 s", (Rate(3, 30),)),
    ],
)
def test_rates_are_written_as_people_say_them(text: str, rates: tuple[Rate, ...]) -> None:
    """So many in so long; several may hold at once."""
    assert parse_rates(text) == rates


@pytest.mark.parametrize("text", ["20", "0/m", "20/0m", "x/m", "20/10w", "-1/m", "20/10m;5/s"])
def test_a_wrong_rate_is_refused(text: str) -> None:
    """The message shows two right ones."""
    with pytest.raises(WrongRateError, match=r"such as 20/10m or 100/d"):
        parse_rates(text)
