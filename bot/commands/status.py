"""``footnote status``: the six checks of inventory row 96, the ledger, and the last runs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from adapters.stores.status import IndexCounts
from bot.findings import as_finding, show_finding
from bot.insights import run_state
from bot.operations import Operations, open_operations
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json
from bot.wiring import open_app
from bot.wording import counted
from core.errors import IndexMismatchError
from core.ports.chat import IndexStatus, StatusCheck
from core.ports.jobs import RunView
from core.ports.ledger import Fate, LedgerEntry

RUNS_SHOWN = 5
OBJECTS_SHOWN = 20


async def run_status(settings: Settings, *, as_json: bool) -> int:
    """0 if every check passes, else 1."""
    sample = only_sample_exists(settings)
    if sample:
        note("Status of the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    try:
        found = await _look(settings, sample=sample)
    except IndexMismatchError as error:
        # The six checks would judge the passages of the configured model, of which there are none.
        found = await _look(settings, sample=sample, beside=True)
        other = StatusCheck(name="embedding model", ok=False, detail=str(error))
        found = replace(found, status=replace(found.status, checks=(other,)))
    status, runs, troubles = found.status, found.runs, found.troubles
    if as_json:
        print_json(
            {
                "checks": [asdict(check) for check in status.checks],
                "totals": asdict(found.totals),
                "ledger": _ledger(status),
                "objects": sum(status.ledger.values()),
                "last_sync": status.last_sync.isoformat() if status.last_sync else None,
                "troubles": [_trouble_json(one) for one in troubles],
                "runs": [_run_json(run) for run in runs],
            }
        )
    else:
        _print(status, runs, troubles)
    return 0 if all(check.ok for check in status.checks) else 1


@dataclass(frozen=True, slots=True)
class _Found:
    """What one look at the index and its runs shows."""

    status: IndexStatus
    runs: Sequence[RunView]
    troubles: list[LedgerEntry]
    totals: IndexCounts


async def _look(settings: Settings, *, sample: bool, beside: bool = False) -> _Found:
    """``beside`` looks although the index was made with another model than is configured.

    Raises:
        IndexMismatchError: it was, and ``beside`` is not set.
    """
    async with (
        open_app(settings, sample=sample, beside=beside) as app,
        open_operations(app) as operations,
    ):
        return _Found(
            status=await operations.administrator.status(),
            runs=await operations.jobs.runs.recent(limit=RUNS_SHOWN),
            troubles=await _troubles(operations),
            totals=await app.store.counts(),
        )


async def _troubles(operations: Operations) -> list[LedgerEntry]:
    found: list[LedgerEntry] = []
    for fate in (Fate.FAILED, Fate.SKIPPED):
        found += await operations.ledger.entries(fate, limit=OBJECTS_SHOWN)
    return found


def _ledger(status: IndexStatus) -> dict[str, int]:
    """Every fate, so that a reader need not know which there are."""
    return {fate.value: status.ledger.get(fate.value, 0) for fate in Fate}


def _print(status: IndexStatus, runs: Sequence[RunView], troubles: list[LedgerEntry]) -> None:
    for check in status.checks:
        show_finding(as_finding(check))
    counts = ", ".join(f"{count} {fate}" for fate, count in _ledger(status).items() if count)
    seen = counted(sum(status.ledger.values()), "object")
    output.print(f"\nEver seen: {seen}{f' ({counts})' if counts else ''}", markup=False, soft_wrap=True)
    for one in troubles:
        output.print(
            f"  {one.fate.value}: {one.title or one.page_id} ({one.url or 'no link'}): {one.reason}",
            markup=False,
            soft_wrap=True,
        )
    last = f"{status.last_sync:%Y-%m-%d %H:%M} UTC" if status.last_sync else "never"
    output.print(f"Last sync that reached its end: {last}", markup=False)
    for run in runs:
        output.print(f"  {_line(run)}", markup=False, soft_wrap=True)


def _line(run: RunView) -> str:
    count = f"{run.done}" if run.total is None else f"{run.done} of {run.total}"
    failed = f", {run.failed} failed" if run.failed else ""
    first = run.message.splitlines()[0] if run.message else ""
    by = "" if run.asked_by == run.kind else f" by {run.asked_by}"
    told = first or f"{count} pages{failed}"
    return f"{run.asked_at:%Y-%m-%d %H:%M} run {run.id} ({run.kind}{by}) {run_state(run)}: {told}"


def _run_json(run: RunView) -> dict[str, Any]:
    return {
        "id": run.id,
        "kind": run.kind.value,
        "source": run.source,
        "state": run_state(run),
        "asked_by": run.asked_by,
        "asked_at": run.asked_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "done": run.done,
        "total": run.total,
        "failed": run.failed,
        "message": run.message,
        "report": dict(run.report),
    }


def _trouble_json(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "page_id": entry.page_id,
        "title": entry.title,
        "url": entry.url,
        "fate": entry.fate.value,
        "reason": entry.reason,
    }
