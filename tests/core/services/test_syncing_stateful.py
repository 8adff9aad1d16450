"""Whatever people do and whatever goes wrong: after a quiet sync the index is as a fresh one.

``FOOTNOTE_SYNC_EXAMPLES=300`` tries so many stories instead of the few that every run of the tests affords.
"""

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi, Patience
from adapters.stores.ledger_memory import MemoryLedger
from core.domain.ids import PageId
from core.errors import FootnoteError, UnavailableError
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, faults, properties, richtext, routes
from tests.fakes.notion.clock import to_http_date

WORDS = st.sampled_from(["harbour", "lantern", "copper", "meadow", "winter", "engine", "ledger"])
TROUBLE = st.sampled_from(
    [
        (faults.bad_gateway(), routes.CHILDREN, 2),
        (faults.bad_gateway(), routes.SEARCH, 2),
        (faults.invalid_cursor(), None, 1),
        (faults.empty_listing(), routes.SEARCH, 1),
        (faults.not_found(), routes.CHILDREN, 2),
        (faults.restricted(), routes.PAGE, 1),
        (faults.rate_limited(retry_after=2), None, 3),
        (faults.unauthorized(), None, 7),
        (faults.drop(), None, 4),
    ]
)


class SyncMachine(RuleBasedStateMachine):
    """A workspace under edit, an index that follows it, and trouble."""

    pages = Bundle("pages")
    rows = Bundle("rows")
    originals = Bundle("originals")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.rig: SyncRig = self.runner.run(
            self.stack.enter_async_context(sync_rig(patience=Patience(timeout=5.0, attempts=3, refusals=10)))
        )
        self.workspace = self.rig.workspace
        self.rig.ledger = MemoryLedger(self.rig.store)
        self.rig.restart()
        self.database = ""

    def alive(self, page: str) -> bool:
        """Whether the page was not deleted for ever, with one above it perhaps."""
        return self.workspace.knows(page)

    # --- what people do --------------------------------------------------------------------------------

    @initialize(target=pages)
    def begin(self) -> object:
        """A root, a child and a database."""
        root = self.workspace.add_page("Root", blocks=[blocks.paragraph("root text")])
        child = self.workspace.add_page("Child", parent=root, blocks=[blocks.paragraph("child text")])
        self.database = self.workspace.add_database("Base", parent=root, description="Things")
        return multiple(root, child)

    @rule(target=pages, parent=pages, title=WORDS, text=WORDS)
    def add_page(self, parent: str, title: str, text: str) -> str:
        """A page under another, or at the top if that one is gone."""
        above = parent if self.alive(parent) else None
        body = [
            blocks.heading(2, title),
            blocks.paragraph(f"{text} {title} text"),
            blocks.toggle("more", [blocks.paragraph(text)]),
        ]
        return self.workspace.add_page(title, parent=above, blocks=body)

    @rule(target=pages, parent=pages, title=WORDS)
    def add_page_in_a_column(self, parent: str, title: str) -> object:
        """A page whose parent is a block."""
        if not self.alive(parent):
            return multiple()
        self.workspace.append_blocks(parent, [blocks.columns([blocks.child_page(title)])])
        column = self.workspace.block_ids(self.workspace.block_ids(parent)[-1])[0]
        return self.workspace.block_ids(column)[0]

    @rule(target=rows, title=WORDS, related=pages)
    def add_row(self, title: str, related: str) -> object:
        """A row with a relation to a page."""
        if not self.alive(self.database):
            return multiple()
        values = {"Owner": properties.relation(related), "Size": properties.number(len(title))}
        return self.workspace.add_row(self.database, title, properties=values)

    @rule(row=rows, text=WORDS)
    def edit_row(self, row: str, text: str) -> None:
        """Another cell value."""
        if self.alive(row):
            self.workspace.set_properties(row, {"Note": properties.rich_text(text)})

    @rule(page=pages, text=WORDS)
    def append(self, page: str, text: str) -> None:
        """One more paragraph."""
        if self.alive(page):
            self.workspace.append_blocks(page, [blocks.paragraph(f"more {text}")])

    @rule(page=pages, other=pages)
    def mention(self, page: str, other: str) -> None:
        """A paragraph that links to another page."""
        if self.alive(page) and self.alive(other):
            link = richtext.mention_page(other)
            self.workspace.append_blocks(page, [blocks.paragraph(["see ", link, " for more"])])

    @rule(target=originals, page=pages, text=WORDS)
    def add_original(self, page: str, text: str) -> object:
        """A synced block, to be shown elsewhere."""
        if not self.alive(page):
            return multiple()
        return self.workspace.append_blocks(page, [blocks.synced_original([blocks.paragraph(text)])])[0]

    @rule(page=pages, original=originals)
    def show(self, page: str, original: str) -> None:
        """A copy of a synced block."""
        if self.alive(page) and self.alive(original):
            self.workspace.append_blocks(page, [blocks.synced_copy(original)])

    @rule(original=originals, text=WORDS)
    def edit_original(self, original: str, text: str) -> None:
        """More in a synced block, which dates its own page alone."""
        if self.alive(original):
            self.workspace.append_blocks(original, [blocks.paragraph(f"synced {text}")])

    @rule(page=pages)
    def shorten(self, page: str) -> None:
        """All text gone."""
        if self.alive(page):
            self.workspace.replace_blocks(page, [])

    @rule(page=st.one_of(pages, rows), title=WORDS)
    def rename(self, page: str, title: str) -> None:
        """Another title."""
        if self.alive(page):
            self.workspace.rename(page, f"New {title}")

    @rule(page=pages, parent=pages)
    def move(self, page: str, parent: str) -> None:
        """Elsewhere in the tree, not below itself."""
        if not (self.alive(page) and self.alive(parent)):
            return
        if parent not in {page, *self.workspace.descendants(page)}:
            self.workspace.move(page, parent)

    @rule(page=pages)
    def move_to_the_top(self, page: str) -> None:
        """Out of everything."""
        if self.alive(page):
            self.workspace.move(page, None)

    @rule(page=st.one_of(pages, rows))
    def trash(self, page: str) -> None:
        """Into the trash, with all below."""
        if self.alive(page):
            self.workspace.trash(page)

    @rule(page=st.one_of(pages, rows))
    def restore(self, page: str) -> None:
        """Out of the trash."""
        if self.alive(page):
            self.workspace.restore(page)

    @rule(page=consumes(rows))
    def delete_row(self, page: str) -> None:
        """Gone for ever."""
        if self.alive(page):
            self.workspace.delete_forever(page)

    @rule(page=pages)
    def unshare(self, page: str) -> None:
        """Taken from the integration without a word."""
        if self.alive(page):
            self.workspace.unshare(page)

    @rule(page=pages)
    def share(self, page: str) -> None:
        """Given to the integration."""
        if self.alive(page):
            self.workspace.share(page)

    @rule(seconds=st.sampled_from([1, 20, 61, 600]))
    def time_goes_by(self, seconds: int) -> None:
        """From within a minute to ten."""
        self.workspace.clock.advance(seconds=seconds)

    @rule()
    def everything_settles(self) -> None:
        """Nothing counts as recent any more, so that only what is noticed is read."""
        for _ in range(2):
            self.time_goes_by(seconds=600)
            self.sync(full=False)

    # --- what goes wrong -------------------------------------------------------------------------------

    @rule(page=st.one_of(pages, rows))
    def search_omits(self, page: str) -> None:
        """Search is not exhaustive."""
        self.rig.notion.server.behaviour.search_omits.add(page)

    @rule(trouble=TROUBLE, after=st.integers(0, 12))
    def notion_fails(self, trouble: tuple[faults.Action, str | None, int], after: int) -> None:
        """Some calls go wrong."""
        action, route, times = trouble
        self.rig.notion.server.faults.add(action, route=route, after=after, times=times)

    @rule(word=WORDS)
    def embedder_fails(self, word: str) -> None:
        """Texts with this word cannot be embedded for now."""
        self.rig.embedder.error, self.rig.embedder.poison = UnavailableError("down"), {word}

    @rule(full=st.booleans())
    def sync(self, full: bool) -> None:
        """A run that may fail."""
        with suppress(FootnoteError):
            self.runner.run(self.rig.sync(full=full))

    @rule()
    def restart_and_sync(self) -> None:
        """A new process, which goes on where the last one left off."""
        self.rig.restart()
        self.sync(full=False)

    @rule(page=st.one_of(pages, rows))
    def hint(self, page: str) -> None:
        """Notion tells of a page."""
        with suppress(FootnoteError):
            self.runner.run(self.rig.syncer.refresh(frozenset({PageId(page)})))

    @rule(seconds=st.sampled_from([-86_400, -3600, -90, 90, 3600, 86_400]))
    def our_clock_jumps(self, seconds: int) -> None:
        """As when a machine's clock is set right, or wrong; Notion's goes on as before."""
        self.rig.notion.clock.skew += timedelta(seconds=seconds)

    @rule(turns=st.integers(1, 200), seconds=st.sampled_from([-86_400, -90, 90, 86_400]))
    def our_clock_jumps_within_a_sync(self, turns: int, seconds: int) -> None:
        """While a run is under way."""
        self.runner.run(self._jumping(turns, seconds))

    async def _jumping(self, turns: int, seconds: int) -> None:
        run = asyncio.ensure_future(self.rig.sync())
        for _ in range(turns):
            await asyncio.sleep(0)
        self.our_clock_jumps(seconds)
        with suppress(FootnoteError):
            await run

    @rule(age=st.sampled_from([4, 90, 86_400]), times=st.integers(1, 3))
    def an_answer_is_dated_long_ago(self, age: int, times: int) -> None:
        """A few answers carry the date of another time, as out of a cache."""
        left = [times]

        def header(now: datetime) -> str | None:
            left[0] -= 1
            return to_http_date(now - timedelta(seconds=age if left[0] >= 0 else 0))

        self.rig.notion.server.behaviour.date_header = header

    @rule(page=st.one_of(pages, rows))
    def search_shows_again(self, page: str) -> None:
        """Search learns of what it left out."""
        self.rig.notion.server.behaviour.search_omits.discard(page)

    @rule(turns=st.integers(1, 400))
    def killed_sync(self, turns: int) -> None:
        """A run that is cut off anywhere."""
        self.runner.run(self._killed(turns))
        self.rig.restart()

    async def _killed(self, turns: int) -> None:
        run = asyncio.ensure_future(self.rig.sync())
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()
        with suppress(asyncio.CancelledError, FootnoteError):
            await run

    # --- what must hold --------------------------------------------------------------------------------

    @rule()
    def a_quiet_sync_gives_a_fresh_index(self) -> None:
        """Chunk for chunk, and every citation leads to a page that is there."""
        self.runner.run(self._compare())

    async def _compare(self) -> None:
        rig = self.rig
        rig.notion.server.faults.clear()
        rig.notion.server.behaviour.search_omits.clear()
        rig.embedder.error, rig.embedder.poison = None, set()
        rig.later(minutes=24 * 60)
        self.rig.restart()
        report = await rig.sync(confirm_removal=True)
        assert report.is_clean, report
        async with NotionApi(rig.notion.server.token, base_url=rig.notion.server.url) as api:
            fresh = SyncRig(rig.notion, type(rig.store)(), rig.embedder, rig.syncer)
            source = NotionSource(api)
            fresh.notion = replace(rig.notion, api=api, source=source)
            fresh.restart()
            assert (await fresh.sync()).is_clean
        assert rig.content() == fresh.content()
        assert rig.pages() == fresh.pages()
        for page in rig.pages():
            assert rig.workspace.knows(page)

    def teardown(self) -> None:
        """One last comparison, then the lights go out."""
        try:
            if self.database:
                self.a_quiet_sync_gives_a_fresh_index()
        finally:
            self.runner.run(self.stack.aclose())
            self.runner.close()


TestSync = SyncMachine.TestCase
TestSync.settings = settings(
    max_examples=int(os.environ.get("FOOTNOTE_SYNC_EXAMPLES", "20")),
    derandomize="FOOTNOTE_SYNC_EXAMPLES" not in os.environ,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
