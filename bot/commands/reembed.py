"""``footnote reembed``: all vectors anew, the old ones answering until the new are complete."""

from adapters.stores.vector_index import drop_vector_index, ensure_vector_index
from bot.settings import Settings
from bot.syncing import ProgressBar, describe, report_json
from bot.terminal import output, print_json, progress_bar
from bot.wiring import open_app
from core.domain.models import Fingerprint
from core.services.indexing import Indexer
from core.services.sync_report import Stage, Tally


async def run_reembed(settings: Settings, *, as_json: bool) -> int:
    """Fill the configured model's vectors beside the old, switch when complete, drop the old.

    For the model in use already, every page is embedded again in place. Broken off, it goes on where it was.
    """
    async with open_app(settings, beside=True) as app:
        active = (await app.store.counts()).active
        before = Fingerprint(active) if active else None
        if before == app.fingerprint:
            await app.store.mark_all_pending()
        indexer = Indexer(writer=app.writer, embedder=app.embedder, chunk_settings=app.chunk_settings)
        with progress_bar() as progress:
            tally = Tally(ProgressBar(progress))
            tally.enter(Stage.EMBEDDING)
            await indexer.run(tally)
            tally.enter(Stage.DONE)
        report = tally.report
        if report.is_clean:
            url = app.servers.database_url
            await ensure_vector_index(url, app.embedder.profile, app.fingerprint)
            await app.calibrator.run()
            await app.store.activate()
            if before is not None and before != app.fingerprint:
                await app.store.drop(before)
                await drop_vector_index(url, before)
    if as_json:
        print_json(report_json(report))
    else:
        output.print(describe(report), markup=False)
    return 0 if report.is_clean else 1
