"""Masking pages by the rules of ``footnote.toml``, and reading everything again when the rules change."""

from adapters.stores.facts import note_fact, noted
from bot.files import with_files
from bot.wiring import App
from core.ports import PageSource
from core.services.masking import masked
from core.services.sync_report import SyncReport

FACT = "masking"


async def masked_source(app: App, source: PageSource) -> PageSource:
    """As `prepared`."""
    return prepared(app, source)


def prepared(app: App, source: PageSource) -> PageSource:
    """The source with the files on its pages, as the rules in force let it be seen."""
    whole = with_files(app.settings, source, app.writer, edition=_in_force(app))
    return masked(whole, app.audiences.file.masking, app.writer)


async def must_read_all(app: App) -> bool:
    """Whether the index was made under other masking than is in force."""
    return await noted(app.servers.database_url, FACT) != _in_force(app)


async def note_masking(app: App, report: SyncReport, *, full: bool) -> None:
    """Note that everything was read under the rules in force, if it was."""
    if full and report.complete and not report.failed:
        await note_fact(app.servers.database_url, FACT, _in_force(app))


def _in_force(app: App) -> str:
    masking = app.audiences.file.masking
    return "" if masking.is_off else masking.key
