"""What a person reads: figures that add up, whole lines in pipes, what to do next."""

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.progress import Progress

from adapters.stores.status import IndexCounts
from bot.index_health import six_checks
from bot.syncing import RunBar
from bot.terminal import Milestones, note
from bot.wording import counted
from bot.work import describe
from core.ports.chat import ResyncKind, SyncProgress
from core.services.sync_report import Stage, SyncReport

HEALTHY = IndexCounts(
    pages=11,
    empty_pages=0,
    pending=0,
    embeddings=14,
    of_other_fingerprints=0,
    vector_index="hnsw",
    vector_index_options=("m=16",),
    wrong_dimensions=0,
    nearest_to_itself=True,
    without_title=0,
    without_heading=11,
    generation=1,
    active="f",
)


def test_counted_words_take_their_plural() -> None:
    """One page, no pages, two pages; irregular plurals are given."""
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert counted(2, "more page", "more pages") == "2 more pages"


def test_a_sync_that_read_everything_again_says_how_much_was_the_same() -> None:
    """Pages of an export are always read: what did not differ counts as unchanged, and nothing is indexed."""
    told = describe(SyncReport(complete=True, listed=11, to_read=11, read=11))

    assert told == "11 pages seen: 0 new or changed, 11 unchanged."


def test_the_figures_of_a_sync_add_up() -> None:
    """New, unchanged and skipped pages make the pages seen; what was removed was not seen."""
    told = describe(
        SyncReport(
            listed=12,
            unchanged=3,
            to_read=9,
            read=8,
            changed=8,
            skipped=1,
            removed=2,
            requests=1,
            pages_embedded=1,
            chunks=1,
            embedded=1,
        )
    )

    assert told.splitlines() == [
        "12 pages seen: 8 new or changed, 3 unchanged, 1 skipped, 2 removed (1 request).",
        "1 page indexed as 1 passage; 1 vector made, 0 reused.",
    ]


def test_a_reembedding_tells_of_no_pages_seen() -> None:
    """No source was looked at, so that no line says what it showed."""
    told = describe(SyncReport(pages_embedded=11, chunks=14, embedded=14))

    assert told == "11 pages indexed as 14 passages; 14 vectors made, 0 reused."


def test_a_report_of_nothing_says_so() -> None:
    """A poll that found nothing is one sentence."""
    assert describe(SyncReport()) == "There was nothing to do."


def test_a_healthy_index_passes_all_six_checks_in_words() -> None:
    """What is in order is said without zeros, and asks for nothing to be done."""
    checks = six_checks(HEALTHY)

    assert all(check.ok and not check.remedy for check in checks)
    assert [check.detail for check in checks if check.detail.startswith("0 ")] == []


def test_an_empty_index_names_both_ways_to_fill_it() -> None:
    """Whoever has no token needs the export."""
    [first, *_] = six_checks(replace(HEALTHY, embeddings=0, pages=0))

    assert not first.ok
    assert first.remedy == "run: footnote sync, or: footnote sync --export PATH"


def test_milestones_are_few_lines_and_none_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fifth of a stage is told once, without a terminal; a stage that is over at once is not."""
    shown = io.StringIO()
    monkeypatch.setattr("bot.terminal.messages", Console(file=shown, width=80))
    milestones = Milestones()

    milestones.tell("reading pages", 0, None)
    for done in range(79):
        milestones.tell("embedding passages", done, 78)
    milestones.tell("done", 78, 78)

    assert shown.getvalue().splitlines() == [
        "reading pages ...",
        *(f"embedding passages {done}/78" for done in (0, 16, 32, 47, 63, 78)),
    ]


def test_a_terminal_gets_no_milestones(monkeypatch: pytest.MonkeyPatch) -> None:
    """There a bar is drawn."""
    shown = io.StringIO()
    monkeypatch.setattr("bot.terminal.messages", Console(file=shown, force_terminal=True, width=80))

    Milestones().tell("reading pages", 1, 2)

    assert shown.getvalue() == ""


def test_a_note_is_one_line_however_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a log gets whole lines."""
    shown = io.StringIO()
    monkeypatch.setattr("bot.terminal.messages", Console(file=shown, width=40))

    note("word " * 50)

    assert len(shown.getvalue().splitlines()) == 1


def test_embedding_is_drawn_as_a_stage_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose pages are all read is not shown as done while passages are embedded, here or elsewhere."""
    shown = io.StringIO()
    monkeypatch.setattr("bot.terminal.messages", Console(file=shown, width=80))
    drawn = Progress(disable=True)
    far, near = RunBar(drawn), RunBar(drawn)
    run = SyncProgress(
        run_id=1, kind=ResyncKind.FULL, done=78, total=78, finished=False,
        failed=0, message="embedding passages of 20 of 80 pages (7 vectors made, 0 reused)",
    )  # fmt: skip

    far.show(run)
    near.progress(Stage.EMBEDDING, SyncReport(listed=80, read=80, pages_embedded=40, pending=40))

    assert [(task.description, task.completed, task.total) for task in drawn.tasks] == [
        ("embedding passages", 20, 80),
        ("embedding passages", 40, 80),
    ]
    assert shown.getvalue().splitlines() == ["embedding passages 20/80", "embedding passages 40/80"]
