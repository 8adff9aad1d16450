"""Pages of results and the opaque cursors between them."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

from tests.fakes.notion.errors import validation

T = TypeVar("T")
MAX_PAGE = 100  # "Maximum: 100", official OpenAPI document
CURSORS_KEPT = 100_000
EMPTY_SHARE = 0.3  # of the pages of results, while ``Pager.empty`` is on


@dataclass(frozen=True, slots=True)
class Slice:
    """One page of results."""

    items: Sequence[object]
    next_cursor: str | None


class Cursors:
    """Cursors look like ids, belong to one listing and are refused everywhere else."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, int, str]] = OrderedDict()

    def issue(self, scope: str, offset: int, key: str) -> str:
        """The cursor for the item ``key`` at ``offset`` of the listing ``scope``."""
        cursor = str(uuid5(NAMESPACE_URL, f"{scope}|{offset}|{key}"))
        self._known[cursor] = (scope, offset, key)
        self._known.move_to_end(cursor)
        while len(self._known) > CURSORS_KEPT:
            self._known.popitem(last=False)
        return cursor

    def resolve(self, cursor: str, scope: str) -> tuple[int, str]:
        """Offset and key behind a cursor. ApiError 400 for a foreign or unknown one."""
        found = self._known.get(cursor)
        if found is None or found[0] != scope:
            raise validation(f"The start_cursor provided is invalid: {cursor}")
        return found[1], found[2]

    def forget(self) -> None:
        """Make every cursor given out so far invalid."""
        self._known.clear()


class Pager:
    """Cuts listings. ``short`` gives fewer results than asked although more follow."""

    def __init__(self, seed: int = 0) -> None:
        self.cursors = Cursors()
        self.short = False
        self.empty = False  # with ``short``: sometimes no result at all, and still more to come
        self._random = random.Random(seed)

    def cut(
        self,
        items: Sequence[T],
        name: Callable[[T], str],
        *,
        scope: str,
        start_cursor: str | None,
        page_size: int,
    ) -> tuple[Sequence[T], str | None]:
        """One page and the cursor of the next one.

        A cursor means "from this item on": if the listing changed, the item is looked up; if it
        is gone, the listing goes on at the old place, so that items can be missed or come twice.
        """
        start = 0
        if start_cursor is not None:
            start, key = self.cursors.resolve(start_cursor, scope)
            if start >= len(items) or name(items[start]) != key:
                start = next((i for i, item in enumerate(items) if name(item) == key), start)
        size = min(page_size, MAX_PAGE)
        if self.short:
            size = self._random.randint(1, max(1, size // 2))
            if self.empty and self._random.random() < EMPTY_SHARE:
                size = 0
        end = start + size
        if end >= len(items):
            return items[start:], None
        return items[start:end], self.cursors.issue(scope, end, name(items[end]))
