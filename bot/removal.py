"""An administrator's word that many pages may be removed: noted for whichever worker does the next run."""

from datetime import UTC, datetime, timedelta

from adapters.stores.facts import note_fact, noted
from bot.wiring import App

FACT = "removal confirmed"
GOOD_FOR = timedelta(hours=1)
"""A confirmation is about what is withheld now, not about next month's mistake."""


async def confirm_removal(app: App) -> None:
    """Let the next run that lists everything remove what is gone, however much that is."""
    await note_fact(app.servers.database_url, FACT, datetime.now(UTC).isoformat())


async def is_removal_confirmed(app: App) -> bool:
    """Whether that was said, and not long ago."""
    said = await noted(app.servers.database_url, FACT)
    return bool(said) and datetime.now(UTC) - datetime.fromisoformat(said) < GOOD_FOR


async def forget_confirmation(app: App) -> None:
    """The confirmation was used."""
    await note_fact(app.servers.database_url, FACT, "")
