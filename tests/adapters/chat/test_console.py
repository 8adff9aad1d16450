"""The smallest chat adapter: lines in, replies out, and a clean end."""

import asyncio
import io
import os
import re
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from adapters.chat.console import ConsoleChat, StandardInput, interruptible
from core.domain.answers import NoAnswer, NoAnswerReason, Outcome
from core.domain.audiences import EVERYTHING
from core.domain.questions import Question, Turn
from core.errors import UnavailableError
from core.ports import Progress
from tests.adapters.chat.replies import BLOCK_URL, a_reply


class StillClock:
    """Always the same moment."""

    def now(self) -> datetime:
        """That moment."""
        return datetime(2026, 5, 4, tzinfo=UTC)


class ScriptedAnswerer:
    """Answers each question with the next outcome, or raises it, and remembers what it was asked."""

    def __init__(self, *outcomes: Outcome | Exception) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[Question] = []

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """The next outcome."""
        self.asked.append(question)
        if progress is not None:
            await progress.stage("search")
            await progress.text("so far")
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def lines(*texts: str) -> AsyncIterator[str]:
    """Lines as a person types them."""

    async def typed() -> AsyncIterator[str]:
        for text in texts:
            yield text

    return typed()


async def talk(answerer: ScriptedAnswerer, *texts: str, terminal: bool = False) -> str:
    """What the console shows when these lines are typed."""
    shown = io.StringIO()
    typed = lines(*texts)

    async def read_line() -> str | None:
        return await anext(typed, None)

    chat = ConsoleChat(
        answerer=answerer,
        audience=EVERYTHING,
        clock=StillClock(),
        console=Console(file=shown, force_terminal=terminal, width=100),
        read_line=read_line,
    )
    await chat.run()
    return shown.getvalue()


async def test_an_answer_is_printed_with_its_links() -> None:
    """Without a terminal the Markdown itself is printed, links and all."""
    shown = await talk(ScriptedAnswerer(a_reply()), "How many days?")

    assert f"You have 28 days. [1]({BLOCK_URL})" in shown
    assert "**Sources**" in shown


async def test_a_terminal_gets_clickable_links() -> None:
    """In a terminal the links are hyperlinks and the Markdown is drawn."""
    shown = await talk(ScriptedAnswerer(a_reply()), "How many days?", terminal=True)

    assert "\x1b]8;id=" in shown
    assert BLOCK_URL in shown
    assert "**Sources**" not in shown


async def test_a_question_carries_audience_and_earlier_questions() -> None:
    """Follow-ups know the person's own words, at most the last four; /new forgets them."""
    answerer = ScriptedAnswerer(*[a_reply()] * 7)
    await talk(answerer, "one?", "two?", "three?", "four?", "five?", "six?", "/new", "seven?")

    assert answerer.asked[0].turns == ()
    assert answerer.asked[0].audience == EVERYTHING
    assert answerer.asked[5].turns == (Turn("two?"), Turn("three?"), Turn("four?"), Turn("five?"))
    assert answerer.asked[6].turns == ()
    assert len({question.id for question in answerer.asked}) == 7


async def test_commands_are_not_questions() -> None:
    """/help explains, unknown commands are named, blank lines are nothing, /quit ends."""
    answerer = ScriptedAnswerer()
    shown = await talk(answerer, "/help", "/nonsense", "   ", "/quit", "never asked")

    assert "/quit  leave" in shown
    assert "There is no /nonsense" in shown
    assert answerer.asked == []


async def test_failures_are_one_line_and_the_chat_goes_on() -> None:
    """A temporary error is said; the next question is answered."""
    answerer = ScriptedAnswerer(
        UnavailableError("the database is away"), NoAnswer(NoAnswerReason.NO_RELEVANT_PAGES, "en")
    )
    shown = await talk(answerer, "first?", "second?")

    assert "That did not work: the database is away" in shown
    assert "I did not find an answer" in shown
    assert answerer.asked[1].turns == ()


async def test_square_brackets_are_no_console_markup() -> None:
    """Text in brackets is printed, not taken for a style."""
    shown = await talk(ScriptedAnswerer(UnavailableError("see [bold]this[/bold]")), "x?")

    assert "[bold]this[/bold]" in shown


async def test_ctrl_c_stops_an_answer_and_not_the_chat() -> None:
    """The interrupted question is dropped and the next one is answered."""

    class Slow(ScriptedAnswerer):
        async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
            if not self.asked:
                self.asked.append(question)
                asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
                await asyncio.Event().wait()
            return await super().answer(question, progress)

    answerer = Slow(a_reply())
    shown = await talk(answerer, "slow?", "quick?")

    assert "Stopped." in shown
    assert "You have 28 days." in shown


async def test_ctrl_c_at_the_prompt_leaves() -> None:
    """Waiting for a line ends, and the handler of the signal is what it was before."""
    before = signal.getsignal(signal.SIGINT)

    async def wait() -> str | None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        return "never"

    assert await interruptible(wait) is None
    assert signal.getsignal(signal.SIGINT) is before


async def test_other_cancellation_is_passed_on() -> None:
    """A chat that is shut down does not take it for Ctrl-C."""
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(interruptible(wait))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_errors_of_the_work_are_passed_on() -> None:
    """Watching for Ctrl-C swallows no error."""

    async def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        await interruptible(fail)


async def test_lines_of_a_pipe_are_read_one_by_one() -> None:
    """Several lines that arrive at once, broken bytes, and a last line without an end."""
    reading, writing = os.pipe()
    os.write(writing, "erste\r\nzweite ü\n".encode() + b"\xff\nlast")
    os.close(writing)
    source = StandardInput(reading)

    found = [await source.read_line() for _ in range(5)]

    os.close(reading)
    assert found == ["erste", "zweite ü", "\ufffd", "last", None]


async def test_a_pipe_is_waited_for() -> None:
    """A line that comes later is read when it comes."""
    reading, writing = os.pipe()
    asyncio.get_running_loop().call_later(0.01, os.write, writing, b"late\n")

    assert await StandardInput(reading).read_line() == "late"

    os.close(reading)
    os.close(writing)


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    """Questions from a file, which an event loop cannot watch."""
    file = tmp_path / "questions"
    file.write_text("one?\ntwo?\n", encoding="utf-8")
    descriptor = os.open(file, os.O_RDONLY)
    source = StandardInput(descriptor)

    assert [await source.read_line() for _ in range(3)] == ["one?", "two?", None]

    os.close(descriptor)


async def test_a_terminal_shows_every_address_in_one_piece() -> None:
    """Below each source stands its address, unbroken; some terminals show no links. Marks have brackets."""
    shown = await talk(ScriptedAnswerer(a_reply()), "How many days?", terminal=True)
    text = re.sub(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[\d;?]*[A-Za-z]", "", shown)

    assert "You have 28 days. [1]" in text
    assert f"    {BLOCK_URL}\n" in text


async def test_commands_are_understood_in_capitals() -> None:
    """/NEW is /new, and /Quit ends."""
    shown = await talk(ScriptedAnswerer(), "/NEW", "/Quit", "never asked?")

    assert "The questions so far are forgotten." in shown
