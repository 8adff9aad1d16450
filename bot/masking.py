"""Masking pages by the rules of ``footnote.toml``, and reading everything again when the rules change."""

from adapters.stores.facts import note_fact, note_fact_instead, noted
from bot.files import with_files
from bot.wiring import App
from core.ports import PageSource
from core.services.masking import masked
from core.services.sync_report import SyncReport

FACT = "masking"
"""What masking the index was made under, that it is being read under another, or that it has to be."""

STALE = "stale"
READING = "reading:"


async def masked_source(app: App, source: PageSource) -> PageSource:
    """As `prepared`."""
    return prepared(app, source)


def prepared(app: App, source: PageSource) -> PageSource:
    """The source with the files on its pages, as the rules in force let it be seen."""
    url = app.servers.database_url

    async def crossed() -> None:
        await note_fact(url, FACT, STALE)

    whole = with_files(app.settings, source, app.writer, edition=_in_force(app))
    return masked(whole, lambda: app.audiences.file.masking, app.writer, crossed=crossed)


async def must_read_all(app: App) -> bool:
    """Whether the index, or a part that moved, was made under other masking than is in force."""
    url, wanted = app.servers.database_url, _in_force(app)
    if await noted(url, FACT) == wanted:
        return False
    await note_fact(url, FACT, READING + wanted)
    return True


async def note_masking(app: App, report: SyncReport, *, full: bool) -> None:
    """Note that everything was read under the rules in force, if it was, and no page came under others."""
    if full and report.complete and not report.failed:
        wanted = _in_force(app)
        await note_fact_instead(app.servers.database_url, FACT, wanted, of=READING + wanted)


def _in_force(app: App) -> str:
    masking = app.audiences.file.masking
    return "" if masking.is_off else masking.key
