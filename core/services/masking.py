"""A source whose pages come masked by the rules of the scopes they lie in, before anything else sees them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.domain.audiences import Scope
from core.domain.documents import Page, PageRef
from core.domain.ids import PageId
from core.ports import IncrementalSource, PageSource, PageStates, Probe
from core.ports.source_time import SourceTime
from core.services.scrubbing import SensitiveKind, scrubbed_page, scrubbed_ref

Kinds = frozenset[SensitiveKind]


@dataclass(frozen=True, slots=True)
class ScrubRule:
    """What is masked on the pages of a scope."""

    scope: Scope
    kinds: Kinds


@dataclass(frozen=True, slots=True)
class Masking:
    """``everywhere`` holds for all pages, each of ``rules`` for those in its scope."""

    everywhere: Kinds = frozenset()
    rules: tuple[ScrubRule, ...] = ()

    @property
    def is_off(self) -> bool:
        """Whether nothing is ever masked."""
        return not self.everywhere and not self.rules

    def kinds(self, path: Sequence[PageId], *, is_whole: bool) -> Kinds:
        """What is masked on a page. Where the way up is not known to the end, every rule counts."""
        found = [rule.kinds for rule in self.rules if not is_whole or rule.scope.admits(path)]
        return self.everywhere.union(*found)

    @property
    def key(self) -> str:
        """Equal for rules that mask the same; an index made under another one has to be read again."""
        rules = sorted(
            (
                "*" if rule.scope.include is None else ",".join(sorted(rule.scope.include)),
                ",".join(sorted(rule.scope.exclude)),
                ",".join(sorted(rule.kinds)),
            )
            for rule in self.rules
        )
        return f"{','.join(sorted(self.everywhere))}|{rules if rules else ''}"


Rules = Callable[[], Masking]
"""The rules in force at this moment."""

Crossed = Callable[[], Awaitable[None]]
"""Told that a stored page now lies under other rules: what lies below it has to be read again too."""


async def nobody_cares() -> None:
    """Where everything is read in every run anyway."""


def masked(
    source: PageSource, rules: Rules, pages: PageStates, *, crossed: Crossed = nobody_cares
) -> PageSource:
    """The source with its pages masked; incremental if it is."""
    if isinstance(source, IncrementalSource):
        return MaskedIncrementalSource(source, rules, pages, crossed=crossed)
    return MaskedSource(source, rules, pages, crossed=crossed)


class MaskedSource:
    """Masks titles and properties as they are listed, and texts as they are read."""

    def __init__(
        self, source: PageSource, rules: Rules, pages: PageStates, *, crossed: Crossed = nobody_cares
    ) -> None:
        self._source = source
        self._rules = rules
        self._pages = pages
        self._crossed = crossed
        self._originals: dict[PageId, PageRef] = {}
        self._listed: dict[PageId, PageRef] = {}
        self._stored: dict[PageId, PageRef | None] = {}

    async def list_pages(self) -> AsyncIterator[PageRef]:
        """As `PageSource.list_pages`."""
        self._forget()
        async for ref in self._masked(self._source.list_pages()):
            yield ref

    async def read(self, ref: PageRef) -> Page:
        """As `PageSource.read`."""
        page = await self._source.read(self._originals.get(ref.id, ref))
        return scrubbed_page(page, await self._kinds(page.ref))

    async def probe(self, page_id: PageId) -> Probe:
        """As `PageSource.probe`. What was listed long ago is not believed any more."""
        self._forget()
        found = await self._source.probe(page_id)
        if found.ref is None:
            return found
        return replace(found, ref=await self._entry(found.ref))

    async def _masked(self, refs: AsyncIterator[PageRef]) -> AsyncIterator[PageRef]:
        async for ref in refs:
            yield await self._entry(ref)

    async def _entry(self, ref: PageRef) -> PageRef:
        """The entry masked; undated where the page now lies under other rules, so that it is read again."""
        self._originals[ref.id] = self._listed[ref.id] = ref
        kinds = await self._kinds(ref)
        entry = scrubbed_ref(ref, kinds)
        if not self._rules().rules:
            return entry
        before = await self._known(ref.id)
        if before is not None and await self._kinds(before, as_stored=True) != kinds:
            await self._crossed()
            return replace(entry, last_edited=None)
        return entry

    def _forget(self) -> None:
        self._listed.clear()
        self._stored.clear()

    async def _kinds(self, ref: PageRef, *, as_stored: bool = False) -> Kinds:
        masking = self._rules()
        if not masking.rules:
            return masking.everywhere
        path = [ref.id, *([ref.data_source_id] if ref.data_source_id else [])]
        while ref.parent_id is not None and ref.parent_id not in path:
            path.append(ref.parent_id)
            above = None if as_stored else self._listed.get(ref.parent_id)
            above = above or await self._known(ref.parent_id)
            if above is None:
                return masking.kinds(path, is_whole=False)
            path += [above.data_source_id] if above.data_source_id else []
            ref = above
        return masking.kinds(path, is_whole=True)

    async def _known(self, page_id: PageId) -> PageRef | None:
        if page_id not in self._stored:
            states = await self._pages.states([page_id])
            self._stored[page_id] = states[page_id].ref if page_id in states else None
        return self._stored[page_id]


class MaskedIncrementalSource(MaskedSource):
    """The same over a source that can say what changed."""

    def __init__(
        self, source: IncrementalSource, rules: Rules, pages: PageStates, *, crossed: Crossed = nobody_cares
    ) -> None:
        super().__init__(source, rules, pages, crossed=crossed)
        self._incremental = source

    async def changed_since(self, moment: datetime) -> AsyncIterator[PageRef]:
        """As `IncrementalSource.changed_since`."""
        self._forget()
        async for ref in self._masked(self._incremental.changed_since(moment)):
            yield ref

    async def rows(self, ref: PageRef) -> AsyncIterator[PageRef]:
        """As `IncrementalSource.rows`."""
        async for row in self._masked(self._incremental.rows(self._originals.get(ref.id, ref))):
            yield row

    @property
    def requests_sent(self) -> int:
        """As `IncrementalSource.requests_sent`."""
        return self._incremental.requests_sent

    @property
    def time(self) -> SourceTime:
        """As `IncrementalSource.time`."""
        return self._incremental.time
