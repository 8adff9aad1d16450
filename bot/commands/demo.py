"""``footnote demo``: the sample workspace, answered from within seconds of an installation."""

import json
from dataclasses import dataclass
from importlib.resources import files

from adapters.chat.console import ConsoleChat, say, show
from adapters.sources.sample import SampleSource
from bot.clock import SystemClock
from bot.settings import Settings
from bot.syncing import describe, sync_with_progress
from bot.terminal import is_interactive, messages, note, output
from bot.wiring import App, ask_as_console, open_app
from core.domain.audiences import EVERYTHING
from core.errors import TemporaryError

INTRODUCTION = """\
This is the wiki of Quillmoor, an invented company, in English, German and Russian.
Ask in any language, such as:"""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """One of the questions the demo asks by itself."""

    question: str
    language: str
    note: str


async def run_demo(settings: Settings) -> int:
    """Sync the sample workspace, then chat; without a terminal answer the sample questions.

    Raises:
        TemporaryError: pages of the sample could not be indexed.
    """
    with messages.status("Starting PostgreSQL and Redis ...") as status:
        async with open_app(settings, sample=True) as app:
            status.stop()
            report = await sync_with_progress(app, SampleSource())
            if not report.is_clean:
                raise TemporaryError(f"the sample workspace could not be indexed:\n{describe(report)}")
            note(describe(report))
            if is_interactive():
                await chat(app)
            else:
                await answer_samples(app)
    return 0


async def chat(app: App) -> None:
    """Talk to the person at the terminal until they leave."""
    say(output, INTRODUCTION)
    for sample in sample_questions():
        say(output, f"  {sample.question}", style="bold")
    console = ConsoleChat(answerer=app.answerer, audience=EVERYTHING, clock=SystemClock(), console=output)
    await console.run()


async def answer_samples(app: App) -> None:
    """Print every sample question with its answer."""
    # Elsewhere than in a terminal it is Markdown, in which the answers are mostly quotes.
    mark = "> " if output.is_terminal else "## "
    for sample in sample_questions():
        outcome = await app.answerer.answer(ask_as_console(sample.question))
        say(output, f"\n{mark}{sample.question}\n", style="bold")
        show(output, outcome)


def sample_questions() -> tuple[SampleQuestion, ...]:
    """The questions shipped with the sample workspace."""
    text = (files("adapters.sources.sample_workspace") / "samples.json").read_text(encoding="utf-8")
    return tuple(SampleQuestion(one["question"], one["language"], one["note"]) for one in json.loads(text))
