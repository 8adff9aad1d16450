"""A chat in the terminal: the smallest chat adapter, and the one to copy for a new platform.

It does what every chat adapter does: turn a message into a `Question` with the audience that may read the
reply, ask the `Answerer`, and draw the `Outcome` in the platform's own way.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from uuid import uuid4

from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.style import Style

from adapters.chat.markdown import render, render_text, source_age, source_name
from core.domain.answers import Answer, Outcome
from core.domain.audiences import Audience
from core.domain.phrases import Phrase, phrase
from core.domain.questions import Conversation, Question, Turn
from core.errors import FootnoteError
from core.ports import Answerer, Clock

T = TypeVar("T")

REMEMBERED_TURNS = 4
PROMPT = "> "
HELP = """\
Type a question and press Enter; the numbers in the answer lead to the pages it rests on.
A short follow-up such as "and in Germany?" is understood together with the questions before it.

/new   forget the questions so far
/help  show this
/quit  leave (Ctrl-D does too; Ctrl-C stops an answer)"""

ReadLine = Callable[[], Awaitable[str | None]]
"""The next line without its end; null when there will be no more."""


class ConsoleChat:
    """Reads lines and answers them. ``audience`` is what the person at the keyboard may see."""

    def __init__(
        self,
        *,
        answerer: Answerer,
        audience: Audience,
        clock: Clock,
        console: Console,
        read_line: ReadLine | None = None,
    ) -> None:
        self._answerer = answerer
        self._audience = audience
        self._clock = clock
        self._console = console
        self._read_line = read_line or StandardInput().read_line
        self._turns: list[Turn] = []

    async def run(self) -> None:
        """Talk until /quit, Ctrl-D or Ctrl-C at the prompt."""
        self._console.print("Ask the wiki a question. /help for help, /quit to leave.", style="dim")
        while True:
            if self._console.is_terminal:
                self._console.print(PROMPT, end="", style="bold")
            line = await interruptible(self._read_line)
            if line is None:
                self._console.print()
                return
            text = line.strip()
            # In lower case, since a phone or a habit may begin a line with a capital letter.
            command = text.casefold()
            if command in ("/quit", "/exit"):
                return
            if text.startswith("/"):
                self._command(command)
            elif text:
                await self._reply(text)

    def _command(self, text: str) -> None:
        match text:
            case "/help":
                self._say(HELP)
            case "/new":
                self._turns.clear()
                self._say("The questions so far are forgotten.")
            case _:
                self._say(f"There is no {text}. /help shows what there is.")

    async def _reply(self, text: str) -> None:
        question = Question(
            id=str(uuid4()),
            text=text,
            asker="console",
            conversation=Conversation(platform="console"),
            audience=self._audience,
            asked_at=self._clock.now(),
            turns=tuple(self._turns),
        )
        try:
            outcome = await interruptible(lambda: self._ask(question))
        except FootnoteError as error:
            self._say(f"That did not work: {error}")
            return
        if outcome is None:
            self._say("Stopped.")
            return
        self._turns = [*self._turns, Turn(text)][-REMEMBERED_TURNS:]
        self.show(outcome)

    async def _ask(self, question: Question) -> Outcome:
        with self._console.status("Searching …") as status:
            return await self._answerer.answer(question, Spinner(status))

    def show(self, outcome: Outcome) -> None:
        """Draw an outcome, with an empty line behind it."""
        show(self._console, outcome)
        self._console.print()

    def _say(self, text: str) -> None:
        say(self._console, text)


def show(console: Console, outcome: Outcome) -> None:
    """Draw an outcome: formatted in a terminal, as Markdown elsewhere.

    In a terminal the numbers can be clicked, and since many a terminal shows no links, each source also has
    its address below it, in one piece.
    """
    if not console.is_terminal or not isinstance(outcome, Answer):
        say(console, render(outcome))
        return
    console.print(Markdown(render_text(outcome, mark="[{}]"), hyperlinks=True))
    if outcome.degraded:
        console.print()
        say(console, phrase(Phrase.DEGRADED, outcome.language), style="italic")
    if outcome.citations:
        console.print()
        say(console, phrase(Phrase.SOURCES, outcome.language), style="bold")
    for citation in outcome.citations:
        parts = (f"[{citation.number}]", source_name(citation), source_age(citation, outcome.language))
        say(console, " ".join(filter(None, parts)))
        say(console, f"    {citation.url}", style=Style(dim=True, link=citation.url))


def say(console: Console, text: str, *, style: str | Style = "") -> None:
    """Text as it is: no markup, no colours of its own, no line broken before the terminal does it."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


class Spinner:
    """Shows the stage of an answer beside the spinner; a `Progress`."""

    def __init__(self, status: Status) -> None:
        self._status = status

    async def stage(self, name: str) -> None:
        """Say what is going on."""
        self._status.update({"search": "Searching …", "write": "Writing …"}.get(name, "Working …"))

    async def text(self, so_far: str) -> None:
        """Show how much is written; the text itself comes at once, with its sources."""
        self._status.update(f"Writing … {len(so_far)} characters")


class StandardInput:
    """Lines of standard input, waited for without a thread, so that leaving never hangs on a blocked read."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._buffer = b""
        self._is_over = False

    async def read_line(self) -> str | None:
        """The next line without its end; a last line without one counts."""
        while b"\n" not in self._buffer and not self._is_over:
            await self._readable()
            piece = os.read(self._descriptor, 65_536)
            self._is_over = not piece
            self._buffer += piece
        if self._is_over and not self._buffer:
            return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, _settle, ready)
        except (PermissionError, NotImplementedError):
            # A regular file is always ready, and the event loop refuses to watch it.
            return
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)


async def interruptible(work: Callable[[], Awaitable[T]]) -> T | None:
    """The result of ``work``, or null if the person pressed Ctrl-C meanwhile; other cancellation passes."""
    task = asyncio.ensure_future(work())
    with _on_interrupt(task.cancel):
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                task.cancel()
                raise
            return None


@contextmanager
def _on_interrupt(action: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C do ``action`` where signals can be watched: in the main thread, and not on every system."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, action)
    except (NotImplementedError, ValueError, RuntimeError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
