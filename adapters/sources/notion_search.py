"""Search from both ends, for where Notion stops it early (NOT-5, U26)."""

from collections.abc import AsyncIterator
from typing import Protocol

from adapters.sources.notion_api import ListState
from adapters.sources.notion_json import Json, as_text


class Search(Protocol):
    """One search; `ListState` then says whether Notion called it incomplete."""

    def __call__(self, *, newest_first: bool, state: ListState) -> AsyncIterator[Json]:
        """The results in order of their last edit."""


class WholeSearch:
    """All results of a search: what is missing at the old end is searched for from there.

    Once `results` came to its end, ``has_gap`` tells whether some in the middle were shown from neither end,
    and ``count`` how many were shown.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._seen: set[str] = set()
        self.has_gap = False

    @property
    def count(self) -> int:
        """How many different results there were."""
        return len(self._seen)

    async def results(self) -> AsyncIterator[Json]:
        """Each result once."""
        state = ListState()
        async for held in self._search(newest_first=True, state=state):
            self._seen.add(as_text(held.get("id")))
            yield held
        if not state.incomplete:
            return
        state = ListState()
        async for held in self._search(newest_first=False, state=state):
            identifier = as_text(held.get("id"))
            if identifier in self._seen:
                # From here on everything was shown from the other end.
                return
            self._seen.add(identifier)
            yield held
        self.has_gap = state.incomplete
