"""``footnote ask``: one question, one cited answer."""

import time

from adapters.chat.console import show
from bot.outcome_json import outcome_json
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json
from bot.wiring import ask_as_console, open_app
from core.domain.answers import NoAnswer, NoAnswerReason
from core.errors import InvalidInputError


async def run_ask(settings: Settings, text: str, *, as_json: bool) -> int:
    """Answer on standard output. A question the wiki does not answer is a result, not a failure.

    Raises:
        InvalidInputError: the question is empty.
    """
    if not text.strip():
        raise InvalidInputError(
            "the question is empty; try: footnote ask 'How many vacation days do I have?'"
        )
    sample = only_sample_exists(settings)
    if sample:
        note("Asking the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample) as app:
        started = time.perf_counter()
        outcome = await app.answerer.answer(ask_as_console(text))
        total_ms = (time.perf_counter() - started) * 1000
    if as_json:
        print_json(outcome_json(outcome, total_ms=total_ms))
    else:
        show(output, outcome)
    if isinstance(outcome, NoAnswer) and outcome.reason is NoAnswerReason.EMPTY_INDEX:
        note("Nothing is indexed yet. Run footnote sync, or footnote sync --export PATH, or footnote demo.")
    return 0
