"""``footnote status``: the six checks of inventory row 96, and the totals."""

from dataclasses import asdict

from rich.table import Table

from adapters.stores.status import IndexCounts
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json
from bot.wiring import open_app
from core.ports.chat import StatusCheck

_SELF_SEARCH = {
    None: "nothing is stored yet",
    True: "a stored passage finds itself",
    False: "a stored passage does not find itself",
}


async def run_status(settings: Settings, *, as_json: bool) -> int:
    """0 if every check passes, else 1."""
    sample = only_sample_exists(settings)
    if sample:
        note("Status of the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample) as app:
        counts = await app.store.counts()
    checks = six_checks(counts)
    if as_json:
        print_json({"checks": [asdict(check) for check in checks], "totals": asdict(counts)})
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for check in checks:
            table.add_row("ok" if check.ok else "FAIL", check.name, check.detail, check.remedy)
        output.print(table)
    return 0 if all(check.ok for check in checks) else 1


def six_checks(counts: IndexCounts) -> tuple[StatusCheck, ...]:
    """What makes an index healthy, each with what to do where it is not."""
    works = counts.nearest_to_itself
    return (
        StatusCheck(
            name="embeddings",
            ok=counts.embeddings > 0,
            detail=f"{counts.embeddings} passages of {counts.pages} pages ({counts.empty_pages} are empty)",
            remedy="" if counts.embeddings else "run: footnote sync",
        ),
        StatusCheck(
            name="vector index",
            ok=counts.vector_index == "hnsw",
            detail=f"{counts.vector_index or 'missing'} {', '.join(counts.vector_index_options)}".strip(),
            remedy="" if counts.vector_index == "hnsw" else "run: footnote migrate",
        ),
        StatusCheck(
            name="dimensions",
            ok=counts.wrong_dimensions == 0,
            detail=f"{counts.wrong_dimensions} vectors of a wrong size",
            remedy="" if counts.wrong_dimensions == 0 else "run: footnote reembed",
        ),
        StatusCheck(
            name="similarity search",
            ok=works is not False,
            detail=_SELF_SEARCH[works],
            remedy="" if works is not False else "run: footnote migrate",
        ),
        StatusCheck(
            name="titles and headings",
            ok=counts.without_title == 0,
            detail=f"{counts.without_title} passages lack a title, {counts.without_heading} a heading",
            remedy="" if counts.without_title == 0 else "run: footnote reembed",
        ),
        StatusCheck(
            name="pending",
            ok=counts.pending == 0,
            detail=f"{counts.pending} pages wait to be indexed",
            remedy="" if counts.pending == 0 else "run: footnote sync",
        ),
    )
