"""Objects that a listing could not have for now: it goes on without them, and says so at its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from adapters.sources.notion_json import Json, as_text, page_id
from adapters.sources.notion_properties import title_of
from core.domain.documents import PageRef
from core.domain.ids import PageId
from core.errors import IncompleteListingError, RateLimitedError, TemporaryError

MOST = 10
"""Troubles of single objects; after more of them the trouble is Notion's as a whole."""


class Gaps:
    """What one listing lacks. The trouble of one object counts once, however many others need it."""

    def __init__(self) -> None:
        self._troubles: list[TemporaryError] = []
        self._objects: dict[str, tuple[PageRef, str]] = {}

    @contextmanager
    def around(self, ref: PageRef | None = None) -> Iterator[None]:
        """Let one object fail alone; null is the listing itself, or an object that nobody can name.

        Raises:
            TemporaryError: there was too much trouble to go on.
        """
        try:
            yield
        except RateLimitedError:
            raise
        except TemporaryError as error:
            if error not in self._troubles:
                self._troubles.append(error)
            if ref is not None:
                self._objects.setdefault(ref.id, (ref, str(error)))
            if len(self._troubles) > MOST:
                raise

    @contextmanager
    def to_the_end(self) -> Iterator[None]:
        """For a part of the listing: what broke it off is told at the end, behind what it had found."""
        try:
            yield
        except TemporaryError as error:
            if error not in self._troubles:
                self._troubles.append(error)

    def raise_any(self) -> None:
        """Say what is missing.

        Raises:
            IncompleteListingError: something is.
        """
        if self._troubles:
            raise IncompleteListingError(
                str(self._troubles[0]), objects=tuple(self._objects.values())
            ) from self._troubles[0]


def named(held: Json) -> PageRef | None:
    """Just enough of a page, database or data source to tell people which one it is."""
    identifier = page_id(held.get("id"))
    return None if identifier is None else PageRef(identifier, title_of(held), as_text(held.get("url")))


def bare(identifier: PageId) -> PageRef:
    """The same of an object of which nothing else is known."""
    return PageRef(identifier, "", "")
