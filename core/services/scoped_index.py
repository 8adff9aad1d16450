"""Search results without what their readers may not see of other pages: titles are content too (T26, U22).

The search itself returns pages of the scope alone. But a page names others: its ancestors in the breadcrumb,
and whatever it links to or mentions, whose titles were put into its text. Those are cut here, before
anything is ranked, shown, cached or sent to a model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.domain.answers import Candidate
from core.domain.audiences import EVERYTHING, Audience
from core.domain.documents import MAX_BREADCRUMB_ANCESTORS, breadcrumb
from core.domain.ids import InvalidIdError, PageId, parse_page_id
from core.domain.models import Vector
from core.ports import PageTitles, PassageIndex, SearchResult, WordQuery
from core.ports.neighbours import NeighbourIndex, Stretch

HIDDEN = "…"
"""Stands for a link to a page that the reader may not see."""

_NEAREST = 1 + 2 * (MAX_BREADCRUMB_ANCESTORS + 1)
"""Ids of a path that may belong to the ancestors shown: each may have a data source before it."""

_LABEL = r"\[((?:[^\[\]\\]|\\.)*)\]"
_URL = r"https?://[^\s()<>\[\]]+"
# An escaped bracket opens no label, and is passed over so that the text behind it is not read once more.
_LINK = re.compile(rf"\\[\[\]\\]|{_LABEL}\(({_URL})\)|{_URL}")
_HEX = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_CUT_BEHIND = re.compile(r"\[(?:[^\[\]\\]|\\.){0,300}(?:\](?:\([^\s()]*)?)?$")
_CUT_BEFORE = re.compile(rf"^((?:[^\[\]\\]|\\.){{0,300}})\]\(({_URL})\)")


class ScopedIndex:
    """A `PassageIndex` whose candidates tell nothing of pages that the audience may not see."""

    def __init__(
        self, index: PassageIndex, titles: PageTitles, neighbours: NeighbourIndex | None = None
    ) -> None:
        self._index = index
        self._titles = titles
        self._neighbours = neighbours

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """As `PassageIndex.search`."""
        found = await self._index.search(vector=vector, words=words, audience=audience, limit=limit)
        return await self._scoped(found, audience)

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """As `PassageIndex.search_pages`."""
        found = await self._index.search_pages(words=words, audience=audience, limit=limit)
        return await self._scoped(found, audience)

    async def around(self, stretches: Sequence[Stretch], *, audience: Audience) -> Sequence[Candidate]:
        """As `NeighbourIndex.around`; nothing where no neighbours were given."""
        if self._neighbours is None:
            return ()
        return await self._seen(await self._neighbours.around(stretches, audience=audience), audience)

    async def generation(self) -> int:
        """As `PassageIndex.generation`."""
        return await self._index.generation()

    async def _scoped(self, found: SearchResult, audience: Audience) -> SearchResult:
        return replace(found, candidates=await self._seen(found.candidates, audience))

    async def _seen(self, candidates: Sequence[Candidate], audience: Audience) -> tuple[Candidate, ...]:
        if audience.key == EVERYTHING.key or not candidates:
            return tuple(candidates)
        # What moved between search and here is left out: it may have moved out of sight.
        named = {page_id for one in candidates for page_id in _named(one)}
        titles = await self._titles.titles(sorted(named), audience=audience)
        seen = [one for one in candidates if titles.get(one.page_id) is not None]
        return tuple(_without_hidden(one, titles) for one in seen)


def _named(candidate: Candidate) -> Iterable[PageId]:
    yield candidate.page_id
    yield from candidate.path[1:_NEAREST]
    for match in _LINK.finditer(candidate.body):
        yield from _targets(match.group(2) or match.group())
    if cut := _CUT_BEFORE.match(candidate.body):
        yield from _targets(cut.group(2))


def _without_hidden(candidate: Candidate, titles: Mapping[PageId, str | None]) -> Candidate:
    return replace(
        candidate,
        breadcrumb=_breadcrumb(candidate, titles),
        body=_without_hidden_links(candidate.body, titles),
    )


def _breadcrumb(candidate: Candidate, titles: Mapping[PageId, str | None]) -> str:
    """Of the nearest ancestors those that may be seen; the page's own title as it is."""
    known = [page_id for page_id in candidate.path[1:_NEAREST] if page_id in titles]
    nearest = known[:MAX_BREADCRUMB_ANCESTORS]
    if all(titles[page_id] is not None for page_id in nearest):
        return candidate.breadcrumb
    return breadcrumb(_seen(nearest, titles), candidate.title)


def _seen(nearest: Sequence[PageId], titles: Mapping[PageId, str | None]) -> tuple[str, ...]:
    return tuple(title for page_id in reversed(nearest) if (title := titles[page_id]) is not None)


def _without_hidden_links(body: str, titles: Mapping[PageId, str | None]) -> str:
    if "[" not in body and "://" not in body and "](" not in body:
        return body
    cut = _CUT_BEFORE.match(body)
    if cut and _is_hidden(cut.group(2), titles):
        body = HIDDEN + body[cut.end() :]
    body = _LINK.sub(
        lambda match: HIDDEN if _is_hidden(match.group(2) or match.group(), titles) else match.group(), body
    )
    # A link that the end of the passage cuts off may be to anywhere.
    behind = _CUT_BEHIND.search(body)
    return body[: behind.start()] + HIDDEN if behind and not body.endswith("]") else body


def _is_hidden(url: str, titles: Mapping[PageId, str | None]) -> bool:
    return any(target in titles and titles[target] is None for target in _targets(url))


def _targets(url: str) -> Iterable[PageId]:
    """Every id in a link: the page's own, one shown beside it, a block's."""
    for digits in _HEX.findall(url):
        try:
            yield parse_page_id(digits)
        except InvalidIdError:
            continue
