"""Who reads a question together with a passage, and tells whether the one answers the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.answers import Reading


@dataclass(frozen=True, slots=True)
class Writing:
    """A passage as it is read: the ``title`` with its headings, and the ``text``."""

    title: str
    text: str


class AnswerReader(Protocol):
    """A model that reads both together."""

    @property
    def name(self) -> str:
        """Names the model and its version: readings of different names do not compare."""

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """One reading for each, in order.

        Raises:
            UnavailableError, ConfigurationError: as `core.errors` says.
        """
