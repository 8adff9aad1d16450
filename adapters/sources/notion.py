"""A Notion workspace as a source of pages: everything under the roots, or all that is shared."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import datetime

from adapters.sources.notion_api import ForbiddenError, ListState, NotionApi
from adapters.sources.notion_blocks import render_blocks
from adapters.sources.notion_comments import CommentReader, CommentScope
from adapters.sources.notion_files import attachment_of, attachments_of, property_files
from adapters.sources.notion_gaps import Gaps, bare, named
from adapters.sources.notion_json import Json, instant, is_gone, page_id
from adapters.sources.notion_listing import Catalogue
from adapters.sources.notion_refs import database_blocks
from adapters.sources.notion_search import WholeSearch
from adapters.sources.notion_spool import Spool
from adapters.sources.notion_tree import TreeLimits, fetch_tree
from adapters.transport.downloads import Downloader, ExpiredError
from core.domain.documents import ObjectType, Page, PageRef
from core.domain.files import Attachment, FileContent
from core.domain.ids import PageId
from core.errors import NotFoundError, RefusedError, UnavailableError, UnreadableError
from core.ports import Presence, Probe
from core.ports.source_time import SourceTime

_logger = logging.getLogger("footnote.notion")


class NotionSource:
    """An `IncrementalSource` over the API.

    Listing takes search as the fast way to most entries, then asks for what search is free to omit: the
    roots, unknown parents, and the rows of every data source (U7). Child pages that only a page's blocks name
    come with `Page.children`. With ``roots``, nothing outside their subtrees is given.
    """

    def __init__(
        self,
        api: NotionApi,
        *,
        roots: Collection[PageId] = (),
        limits: TreeLimits | None = None,
        downloader: Downloader | None = None,
        comments: CommentScope = CommentScope.OFF,
    ) -> None:
        self._api = api
        self._downloader = downloader or Downloader()
        self._comments = CommentReader(api, comments)
        self._roots = frozenset(roots)
        self._limits = limits or TreeLimits()
        self._catalogue = Catalogue(api)
        self.unknown: Counter[str] = Counter()
        """Blocks of types that nobody knows, by type."""
        self.skipped: Counter[str] = Counter()
        """Blocks whose children were left out, by reason."""

    @property
    def requests_sent(self) -> int:
        """How many requests were sent so far."""
        return self._api.requests.total()

    @property
    def time(self) -> SourceTime:
        """As `IncrementalSource.time`: Notion's."""
        return self._api.time

    # --- Listing ---------------------------------------------------------------------------------------

    async def list_pages(self) -> AsyncIterator[PageRef]:
        """Everything that is shared and under the roots, parents first.

        Raises:
            RefusedError: the token was refused, or may not read content at all.
            TemporaryError: the listing broke off, or search stopped early and no roots are set.
        """
        gaps = Gaps()
        search = WholeSearch(self._search)
        # A new listing looks again at what was not shared before.
        self._catalogue.begin_listing()
        self._comments.ask_again()
        try:
            with Spool() as refs:
                with gaps.to_the_end():
                    await self._gather(search, refs, gaps)
                for ref in refs.parents_first():
                    if (placed := await self._placed(ref, gaps)) is not None:
                        yield placed
        finally:
            self._catalogue.end_listing()
        gaps.raise_any()
        if search.has_gap and not self._roots:
            raise UnavailableError(
                f"Notion's search stopped after {search.count} results: pages at the top may be missing. "
                "Name the top pages in NOTION_ROOT_PAGES; they are read without search."
            )

    async def _gather(self, search: WholeSearch, refs: Spool, gaps: Gaps) -> None:
        """All that there is: what search shows, and what it is free to omit."""
        databases: set[PageId] = set()
        with gaps.around():
            async for held in search.results():
                if held.get("object") == "data_source":
                    if not is_gone(held) and (owner := self._catalogue.remember_data_source(held)):
                        databases.add(owner)
                    continue
                with gaps.around(named(held)):
                    if (ref := await self._catalogue.entry(held)) is not None:
                        refs.add(ref)
        for root in self._roots - refs.keys() - databases:
            with gaps.around(bare(root)):
                await self._add_root(root, refs, databases)
        for identifier in sorted(databases):
            await self._add_rows(identifier, refs, gaps)
        await self._add_parents(refs, gaps)

    async def _placed(self, ref: PageRef, gaps: Gaps) -> PageRef | None:
        """The entry as it is given, or null if it is not wanted or nobody can tell now."""
        with gaps.around(ref):
            try:
                if await self._is_wanted(ref.id):
                    return await self._catalogue.with_shared_parent(ref)
            except UnreadableError as error:
                _logger.warning("Nobody can tell whether %s hangs below a root: %s", ref.id, error)
        return None

    async def _search(self, *, newest_first: bool, state: ListState) -> AsyncIterator[Json]:
        try:
            async for held in self._api.search(newest_first=newest_first, state=state):
                yield held
        except ForbiddenError as error:
            raise RefusedError(
                "Notion does not let the integration read content. Turn on the capability "
                "'Read content' in the integration's settings."
            ) from error
        except (NotFoundError, UnreadableError) as error:
            raise UnavailableError(f"Notion's search cannot be used: {error}") from error

    async def _add_root(self, root: PageId, refs: Spool, databases: set[PageId]) -> None:
        try:
            held = await self._catalogue.retrieve(root)
        except UnreadableError as error:
            _logger.warning("The root page %s cannot be read: %s", root, error)
            return
        if held is None or is_gone(held):
            _logger.warning(
                "The root page %s is in the trash or not shared with the integration: open it in Notion, "
                "choose '...', 'Connections', and add the integration.",
                root,
            )
            return
        if held.get("object") == "database":
            databases.add(root)
        elif (ref := await self._catalogue.entry(held)) is not None:
            refs.add(ref)

    async def _add_rows(self, identifier: PageId, refs: Spool, gaps: Gaps) -> None:
        """A database and the rows of all its data sources; those that cannot be had are left out (F5)."""
        with gaps.around(bare(identifier)):
            ref, data_sources = await self._database(identifier)
            if ref is None:
                return
            refs.add(ref)
            for data_source in data_sources:
                with gaps.around(ref):
                    async for row in self._rows(data_source, gaps, known=refs.keys()):
                        refs.add(row)

    async def _database(self, identifier: PageId) -> tuple[PageRef | None, tuple[PageId, ...]]:
        try:
            return await self._catalogue.database(identifier)
        except (NotFoundError, UnreadableError) as error:
            _logger.warning("The database %s is left out: %s", identifier, error)
            return None, ()

    async def _rows(
        self, data_source: PageId, gaps: Gaps, *, known: Collection[PageId] = ()
    ) -> AsyncIterator[PageRef]:
        """Rows that are not known yet. What Notion refuses for good is left out, and only that."""
        try:
            async for held in self._api.rows(data_source):
                if page_id(held.get("id")) in known:
                    continue
                ref: PageRef | None = None
                with gaps.around(named(held)):
                    ref = await self._catalogue.entry(held)
                if ref is not None:
                    yield ref
        except (NotFoundError, UnreadableError) as error:
            _logger.warning("The rows of the data source %s are left out: %s", data_source, error)

    async def _add_parents(self, refs: Spool, gaps: Gaps) -> None:
        """Parents that search omitted, up to the top."""
        wanted = list(refs.parents().values())
        asked: set[PageId] = set()
        while wanted:
            identifier = wanted.pop()
            if identifier is None or identifier in asked or identifier in refs:
                continue
            asked.add(identifier)
            if identifier in self._catalogue.absent:
                continue
            with gaps.around(bare(identifier)):
                ref = await self._catalogue.shared(identifier)
                if ref is None:
                    continue
                refs.add(ref)
                wanted.append(ref.parent_id)
                if ref.object_type is ObjectType.DATABASE:
                    await self._add_rows(ref.id, refs, gaps)

    async def _is_wanted(self, identifier: PageId) -> bool:
        return not self._roots or await self._catalogue.is_below(identifier, self._roots)

    # --- Changes ---------------------------------------------------------------------------------------

    async def changed_since(self, moment: datetime) -> AsyncIterator[PageRef]:
        """Pages edited at ``moment`` or later, newest first, as far as search knows them (SY4, NOT-8)."""
        state, gaps = ListState(), Gaps()
        self._catalogue.begin_listing(anew=False)
        try:
            async for held in self._search(newest_first=True, state=state):
                edited = instant(held.get("last_edited_time"))
                if edited is not None and edited < moment:
                    break
                ref: PageRef | None = None
                with gaps.around(named(held)):
                    ref = await self._changed_entry(held)
                if ref is not None and (placed := await self._placed(ref, gaps)) is not None:
                    yield placed
            else:
                if state.incomplete:
                    raise UnavailableError("Notion's search stopped before it had shown all changes.")
        finally:
            self._catalogue.end_listing()
        gaps.raise_any()

    async def _changed_entry(self, held: Json) -> PageRef | None:
        if held.get("object") != "data_source":
            return await self._catalogue.entry(held)
        owner = None if is_gone(held) else self._catalogue.remember_data_source(held)
        if owner is None:
            return None
        return (await self._database(owner))[0]

    async def rows(self, ref: PageRef) -> AsyncIterator[PageRef]:
        """All rows of a database.

        Raises:
            TemporaryError: some could not be had; all others were given.
        """
        if ref.object_type is not ObjectType.DATABASE:
            return
        gaps = Gaps()
        _, data_sources = await self._database(ref.id)
        for data_source in data_sources:
            with gaps.around(ref):
                async for row in self._rows(data_source, gaps):
                    yield row
        gaps.raise_any()

    # --- Single pages ----------------------------------------------------------------------------------

    async def read(self, ref: PageRef) -> Page:
        """The page with all its blocks.

        Raises:
            NotFoundError: gone, or no longer shared.
            TemporaryError: some block could not be read.
        """
        if ref.object_type is ObjectType.DATABASE:
            return Page(ref, database_blocks(await self._api.database(ref.id)))
        tree = await fetch_tree(self._api, ref.id, self._limits)
        if tree.has_gone:
            # So did the page, or something above it, which dates nothing here: what is missing now would not
            # be read again. It may be back meanwhile.
            if is_gone(await self._api.page(ref.id)):
                raise NotFoundError(f"page {ref.id} went to the trash while it was read")
            tree = await fetch_tree(self._api, ref.id, self._limits)
        rendered = render_blocks(tree.blocks)
        self._count(self.skipped, tree.skipped, "Left out children of blocks: %s (page %s)", ref)
        self._count(self.unknown, rendered.unknown, "Met blocks of an unknown type: %s (page %s)", ref)
        self._catalogue.remember_home(tree.documents, ref.id)
        blocks = await self._comments.with_comments(ref.id, tree.blocks, rendered.blocks)
        attachments = (*attachments_of(tree.blocks), *await self._catalogue.files(ref))
        return Page(ref, blocks, tuple(tree.documents), attachments)

    async def download(self, attachment: Attachment, ref: PageRef) -> FileContent:
        """As `AttachmentSource.download`; an address that is refused is asked for once more."""
        try:
            return await self._downloader.fetch(attachment.address)
        except ExpiredError:
            if attachment.is_external:
                raise
        fresh = await self._anew(attachment, ref)
        if fresh is None:
            raise UnavailableError(f"the file was replaced while page {ref.id} was read")
        return await self._downloader.fetch(fresh.address)

    async def _anew(self, attachment: Attachment, ref: PageRef) -> Attachment | None:
        """The same file at an address that was signed just now; null if it was replaced."""
        if attachment.block_id is None:
            found = property_files(await self._api.page(ref.id))
            return next((one for one in found if one.key == attachment.key), None)
        fresh = attachment_of(await self._api.block(attachment.block_id))
        return fresh if fresh is not None and fresh.key == attachment.key else None

    def _count(self, total: Counter[str], met: Mapping[str, int], message: str, ref: PageRef) -> None:
        for name, times in met.items():
            if name not in total:
                _logger.warning(message, name, ref.id)
            total[name] += times

    async def probe(self, page_id: PageId) -> Probe:
        """Look at one object directly.

        Raises:
            UnreadableError, TemporaryError, RefusedError: the look proves nothing.
        """
        found = await self._look_at(page_id)
        if found.ref is None:
            return found
        if not await self._is_wanted(found.ref.id):
            return Probe(Presence.NOT_SHARED)
        return Probe(Presence.LIVE, await self._catalogue.with_shared_parent(found.ref))

    async def _look_at(self, identifier: PageId) -> Probe:
        held = await self._catalogue.retrieve(identifier)
        if held is None:
            return Probe(Presence.NOT_SHARED)
        if is_gone(held):
            return Probe(Presence.IN_TRASH)
        if held.get("object") == "database":
            try:
                ref, _ = await self._catalogue.database(identifier)
            except NotFoundError:
                ref = None
        else:
            ref = await self._catalogue.entry(held)
        return Probe(Presence.LIVE, ref) if ref is not None else Probe(Presence.NOT_SHARED)
