"""Where a page lives: the chain of pages above it."""

from collections.abc import Mapping

from core.domain.documents import PageRef, PlacedPage
from core.domain.ids import PageId


def place(ref: PageRef, parents: Mapping[PageId, PageRef]) -> PlacedPage:
    """The page with all its ancestors from the top down.

    ``parents`` holds every page and database that may stand above, by id. The chain ends where a parent is
    unknown, and where it would meet a page a second time (K15, U12). Untitled ancestors stay in it (U11).
    """
    ancestors: list[PageRef] = []
    seen = {ref.id}
    above = ref.parent_id
    while above is not None and above not in seen and (parent := parents.get(above)) is not None:
        seen.add(above)
        ancestors.append(parent)
        above = parent.parent_id
    return PlacedPage(ref, tuple(reversed(ancestors)))
