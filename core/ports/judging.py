"""Who says whether a passage supports a sentence, for measuring answers."""

from collections.abc import Sequence
from typing import Protocol


class SupportJudge(Protocol):
    """Reads a sentence and passages. It is measured itself: see `bot.evaluation.answers.agreement`."""

    @property
    def name(self) -> str:
        """The judge's name, for reports."""

    async def supports(self, sentence: str, passages: Sequence[str]) -> bool | None:
        """Whether the passages together state what the sentence says; null where the judge gave no verdict.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
