"""Statements about texts that a chat model wrote about pages."""

from collections.abc import Mapping

from adapters.stores.connecting import Connection
from adapters.stores.texts import storable
from core.domain.ids import PageId

_READ = "SELECT key, text FROM page_writings WHERE page_id = $1"
_FORGET = "DELETE FROM page_writings WHERE page_id = $1 AND NOT key = ANY ($2::text[])"
_KEEP = """
INSERT INTO page_writings (page_id, key, text)
SELECT page.id, given.key, given.text
FROM notion_pages AS page, unnest($2::text[], $3::text[]) AS given (key, text)
WHERE page.id = $1
ON CONFLICT (page_id, key) DO UPDATE SET text = excluded.text
"""


async def read(connection: Connection, page_id: PageId) -> dict[str, str]:
    """Everything kept of a page."""
    return {row["key"]: row["text"] for row in await connection.fetch(_READ, page_id)}


async def keep(connection: Connection, page_id: PageId, texts: Mapping[str, str]) -> None:
    """Replace everything kept of a page."""
    await connection.execute(_FORGET, page_id, list(texts))
    await connection.execute(_KEEP, page_id, list(texts), [storable(text) for text in texts.values()])
