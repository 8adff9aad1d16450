"""What stands before and behind a passage on its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.answers import Candidate
from core.domain.audiences import Audience
from core.domain.ids import PageId


@dataclass(frozen=True, slots=True)
class Stretch:
    """The detail passages ``first`` to ``last`` of a page; places that it does not have are none."""

    page_id: PageId
    first: int
    last: int


class NeighbourIndex(Protocol):
    """Gives passages by their place."""

    async def around(self, stretches: Sequence[Stretch], *, audience: Audience) -> Sequence[Candidate]:
        """The passages of these stretches on pages that the audience may see, each once, by page and place.

        They have no ranks and no figures, since nothing was searched.
        """
