"""How syncs work, and what one run is to do."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """How a sync works.

    ``readers`` pages are read at once. Everything is listed, and what vanished looked for, every
    ``reconcile_every``; between that only changes are asked for where the source can say them. More than
    ``max_removed`` pages, or that share of all, are not removed without a confirmation (F22, NOT-6); nor is
    most of a small workspace, as a mistyped root would, if that is more than ``max_removed_of_few`` pages.
    ``read_hinted`` pages that a hint names are read even if they look unchanged: a comment dates no page.
    """

    readers: int = 6
    reconcile_every: timedelta = timedelta(hours=6)
    max_removed: int = 20
    max_removed_share: float = 0.3
    max_removed_of_few: int = 5
    read_hinted: bool = False

    def removed_unasked(self, gone: int, *, known: int) -> int:
        """How many of ``gone`` pages, out of ``known``, may be removed without a confirmation."""
        is_most = gone > max(self.max_removed_of_few, known / 2)
        least = self.max_removed_of_few if is_most else self.max_removed
        return max(least, int(self.max_removed_share * known))


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does.

    ``read_all`` pages, less those read since ``read_since`` if it goes on with another run; list
    ``changes_only``; own what it stores under the part of ``source_name`` before the colon.
    """

    read_all: bool
    changes_only: bool
    read_since: datetime | None = None
    source_name: str = ""
