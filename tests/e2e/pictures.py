"""Draws docs/answer.svg from real answers: ``python -m tests.e2e.pictures`` after ``make demo``."""

import asyncio
import io
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from adapters.chat.markdown import render
from bot.settings import load_settings
from bot.wiring import ask_as_console, open_app

TARGET = Path(__file__).resolve().parents[2] / "docs" / "answer.svg"
QUESTIONS = (
    "Сколько дней отпуска у меня в году?",
    "How long does the free trial run?",
    "Can I bring my dog to work?",
)
WIDTH = 96


async def draw() -> None:
    """Ask the sample workspace and save what a terminal shows."""
    console = Console(record=True, width=WIDTH, force_terminal=True, file=io.StringIO())
    async with open_app(load_settings(), sample=True) as app:
        for question in QUESTIONS:
            outcome = await app.answerer.answer(ask_as_console(question))
            console.print(f"[bold]> {question}[/bold]")
            console.print(Markdown(render(outcome), hyperlinks=True))
            console.print()
    TARGET.write_text(console.export_svg(title="footnote"), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(draw())
