"""What the core needs to keep of texts that a chat model wrote about pages."""

from collections.abc import Mapping
from typing import Protocol

from core.domain.ids import PageId


class KeptWritings(Protocol):
    """Texts that a model wrote about a page, by the hash of what it was asked; they go with the page."""

    async def writings(self, page_id: PageId) -> Mapping[str, str]:
        """Everything kept of a page."""

    async def keep_writings(self, page_id: PageId, texts: Mapping[str, str]) -> None:
        """Replace everything kept of a page; nothing is kept of one that is not stored."""
