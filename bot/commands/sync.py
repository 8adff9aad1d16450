"""``footnote sync``: bring the index up to date."""

from pathlib import Path

from bot.settings import Settings
from bot.syncing import describe, open_source, report_json, sync_with_progress
from bot.terminal import output, print_json
from bot.wiring import open_app


async def run_sync(settings: Settings, *, full: bool, export: Path | None, as_json: bool) -> int:
    """0 if everything is indexed, 1 if pages failed or an alarm was raised; what worked stays."""
    async with open_source(settings, export) as source, open_app(settings) as app:
        report = await sync_with_progress(app, source, full=full or export is not None)
    if as_json:
        print_json(report_json(report))
    else:
        output.print(describe(report), markup=False)
    return 0 if report.is_clean else 1
