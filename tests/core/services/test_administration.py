"""What administrators are told of runs and of single pages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.stores.ledger_memory import MemoryLedger
from adapters.stores.memory import MemoryStore
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.documents import Block, BlockKind
from core.domain.ids import PageId
from core.errors import InvalidInputError
from core.ports.chat import Gap, ResyncKind, ResyncTicket, StatusCheck
from core.ports.jobs import NOTION, RunView, next_kind
from core.ports.ledger import Fate, RunRecord, Trouble
from core.services.administration import Administrator, Health
from core.services.audiences import NamedScope
from tests.builders_store import a_page, block_id, page_id

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
CHANGES, FULL, REEMBED = ResyncKind.CHANGES, ResyncKind.FULL, ResyncKind.REEMBED

A_RUN = RunView(
    id=1,
    source=NOTION,
    wanted=frozenset({CHANGES}),
    done=0,
    total=10,
    failed=0,
    message="",
    asked_by="test",
    asked_at=NOW,
    ended_at=None,
    is_alive=True,
)


class FixedClock:
    """Stands still."""

    def now(self) -> datetime:
        """The same instant."""
        return NOW


@dataclass
class ScriptedRuns:
    """Shows one view after the other, the last one for ever."""

    views: list[RunView]
    requests: list[tuple[ResyncKind, int | None]] = field(default_factory=list)

    async def request(
        self, kind: ResyncKind, *, asked_by: str, known_pages: int | None = None
    ) -> ResyncTicket:
        """Note it."""
        del asked_by
        self.requests.append((kind, known_pages))
        return ResyncTicket(1)

    async def view(self, run_id: int) -> RunView | None:
        """The next one; null for any other run."""
        if run_id != 1:
            return None
        return self.views.pop(0) if len(self.views) > 1 else self.views[0]

    async def open_run(self) -> RunView | None:
        """The first."""
        return self.views[0]

    async def recent(self, *, limit: int) -> Sequence[RunView]:
        """All."""
        return self.views[:limit]


@dataclass
class Office:
    """An administrator with everything in memory."""

    store: MemoryStore
    ledger: MemoryLedger
    runs: ScriptedRuns
    administrator: Administrator
    viewers: list[Audience]


def office(*views: RunView, roots: Sequence[PageId] = ()) -> Office:
    """Over an empty store."""
    store = MemoryStore()
    ledger, runs, viewers = MemoryLedger(store), ScriptedRuns(list(views) or [A_RUN]), []

    async def gaps(*, viewer: Audience, since: datetime, limit: int) -> Sequence[Gap]:
        assert since < NOW
        viewers.append(viewer)
        return (Gap(count=2, examples=("Where is the VPN?",), nearest_pages=()),)[:limit]

    async def health() -> Health:
        return Health((StatusCheck("embeddings", ok=True, detail="3"),), 2, 3, 0, 7)

    scopes = {
        "hr": NamedScope(Scope("hr", frozenset({page_id(1)})), "Handbook"),
        "dev": NamedScope(Scope("dev", frozenset({page_id(9)})), "Engineering"),
    }
    administrator = Administrator(
        runs=runs,
        ledger=ledger,
        pages=store,
        health=health,
        gaps=gaps,
        scopes=lambda: scopes,
        roots=frozenset(roots),
        source_name="notion:test",
        clock=FixedClock(),
        poll_seconds=0.0,
    )
    return Office(store, ledger, runs, administrator, viewers)


async def test_following_tells_changes_only_and_ends_with_the_run() -> None:
    """Four looks, three different states, the last one finished."""
    half = replace(A_RUN, done=5, message="reading pages")
    ended = replace(A_RUN, done=10, message="10 pages seen", ended_at=NOW, is_alive=False)
    here = office(A_RUN, half, half, ended)

    seen = [progress async for progress in here.administrator.follow(1)]

    assert [(one.done, one.total, one.finished) for one in seen] == [
        (0, 10, False),
        (5, 10, False),
        (10, 10, True),
    ]
    assert seen[-1].message == "10 pages seen"


async def test_sy22_following_a_run_that_nobody_works_on_ends() -> None:
    """Its progress expires: a message that says so, instead of one that runs for ever."""
    here = office(replace(A_RUN, done=5, is_alive=False))

    seen = [progress async for progress in here.administrator.follow(1)]

    assert [one.finished for one in seen] == [True]
    assert "Nothing is heard" in seen[0].message
    assert [one async for one in here.administrator.follow(2)] == []


async def test_sy22_a_request_brings_the_number_of_known_pages() -> None:
    """So that 0 of N is shown at once; nothing is shown of an empty index."""
    here = office()
    await here.administrator.resync(FULL, asked_by="test")
    await here.store.put_pages([a_page(1), a_page(2, parent=1)])
    await here.administrator.resync(REEMBED, asked_by="test")

    assert here.runs.requests == [(FULL, None), (REEMBED, 2)]


async def test_status_adds_up() -> None:
    """Every object ever seen has one fate; the newest run that ended well is the last sync."""
    ended = replace(A_RUN, ended_at=NOW, report={"changed": 1})
    failed = replace(ended, id=2, asked_at=NOW.replace(day=2), report={"error": "refused"})
    here = office(failed, ended)
    await here.store.put_pages([a_page(1), a_page(2)])
    await here.ledger.keep_run(
        RunRecord(NOW.replace(month=1), NOW, True, True, source="notion:test"),
        troubles=[Trouble(page_id(3), "Three", "", "timed out")],
        healed=(),
    )

    status = await here.administrator.status()

    assert sum(status.ledger.values()) == 3
    assert status.ledger["failed"] == 1
    assert (status.pages, status.chunks, status.generation) == (2, 3, 7)
    assert status.last_sync == NOW


async def test_gaps_are_found_for_the_viewer() -> None:
    """Nobody is shown more because an administrator asks."""
    here = office()

    [gap] = await here.administrator.gaps(viewer=EVERYTHING, limit=5)

    assert gap.count == 2
    assert here.viewers == [EVERYTHING]


async def test_why_tells_root_path_state_passages_and_scopes() -> None:
    """A page below a configured root."""
    here = office(roots=[page_id(1)])
    await here.store.put_pages(
        [
            a_page(1, title="Handbook"),
            a_page(2, title="Travel", parent=1),
            a_page(3, title="Trains", parent=2),
        ]
    )

    found = await here.administrator.explain(page_id(3))
    text = await here.administrator.why(f"https://www.notion.so/Trains-{page_id(3).replace('-', '')}")

    assert (found.fate, found.root, found.is_configured) == (Fate.PENDING, "Handbook", True)
    assert found.path == ("Handbook", "Travel")
    assert found.scopes == ("Handbook",)
    assert "the configured root Handbook, below Handbook › Travel." in text
    assert "State: pending" in text


async def test_why_tells_when_a_failed_page_is_tried_again_and_what_of_it_was_left_out() -> None:
    """The pause of the ledger, and every file that was not read, or not whole."""
    here = office()
    note = "the file 'scan.pdf' is encrypted"
    page = a_page(6)
    part = Block(BlockKind.PART, "", block_id(6), file_key="k", note=note)
    await here.store.put_pages([replace(page, page=replace(page.page, blocks=(*page.page.blocks, part)))])
    trouble = Trouble(page_id(6), "Broken", "https://x", "HTTP 502")
    await here.ledger.note_pages(at=NOW, troubles=[trouble], healed=[])

    found = await here.administrator.explain(page_id(6))

    assert found.next_try == NOW + timedelta(minutes=1)
    assert found.left_out == (note,)
    assert "Next try: 2026-03-01 09:31 UTC" in found.as_text()
    assert f"Left out: {note}." in found.as_text()


async def test_why_tells_that_no_scope_admits_a_page_or_that_it_was_never_seen() -> None:
    """Both are what an administrator looks for; a page that failed tells why."""
    here = office()
    await here.store.put_pages([a_page(5, title="")])
    await here.ledger.keep_run(
        RunRecord(NOW, NOW, True, True), troubles=[Trouble(page_id(6), "Six", "", "timed out")], healed=()
    )

    hidden = await here.administrator.why(page_id(5))
    failed = await here.administrator.why(page_id(6))
    unseen = await here.administrator.why(page_id(7))

    assert "none admits it" in hidden
    assert "timed out" in failed
    assert "No sync ever saw the page" in unseen
    with pytest.raises(InvalidInputError, match="not a Notion page id"):
        await here.administrator.why("https://example.org/page")


@pytest.mark.parametrize(
    ("wanted", "finished", "expected"),
    [
        ({CHANGES}, set(), CHANGES),
        ({CHANGES}, {CHANGES}, None),
        ({CHANGES, FULL}, {CHANGES}, FULL),
        ({CHANGES, FULL}, set(), FULL),
        ({CHANGES, FULL}, {FULL}, None),
        ({REEMBED, FULL}, {FULL}, REEMBED),
        ({REEMBED, CHANGES}, {REEMBED}, CHANGES),
    ],
)
def test_not18_what_a_run_has_still_to_do(
    wanted: set[ResyncKind], finished: set[ResyncKind], expected: ResyncKind | None
) -> None:
    """Reading everything has read the changes too; vectors come last."""
    assert next_kind(frozenset(wanted), frozenset(finished)) is expected
