"""Statements about looks that runs owe: noted before their cause is stored, settled when the run ended."""

from collections.abc import Collection, Mapping

from adapters.stores.connecting import Connection
from core.domain.ids import PageId

OWED_REASON = "a page names it, and it was not read yet"
"""As the view ``sync_ledger`` says of what no run has read so far."""

# Whoever owes a look last settles it: what another run looked at before may have changed since.
_OWE = """
INSERT INTO sync_owed AS owed (page_id, reread, source, owner)
SELECT given.page_id, given.reread, $3, $4
FROM unnest($1::uuid[], $2::boolean[]) AS given (page_id, reread)
ORDER BY given.page_id
ON CONFLICT (page_id) DO UPDATE
SET reread = owed.reread OR excluded.reread, source = excluded.source, owner = excluded.owner
"""

_TAKE = "UPDATE sync_owed SET owner = $2 WHERE source = $1 RETURNING page_id, reread"

_SETTLE = "DELETE FROM sync_owed WHERE owner = $1 AND page_id <> ALL ($2::uuid[])"


async def owe(connection: Connection, looks: Mapping[PageId, bool], *, source: str, owner: str) -> None:
    """Note looks; true where the page is to be read even if it looks unchanged."""
    await connection.execute(_OWE, list(looks), list(looks.values()), source, owner)


async def take(connection: Connection, *, source: str, owner: str) -> Mapping[PageId, bool]:
    """All that runs over this source owe; ``owner`` is to settle them from now on."""
    rows = await connection.fetch(_TAKE, source, owner)
    return {PageId(row["page_id"]): row["reread"] for row in rows}


async def settle(connection: Connection, *, owner: str, but: Collection[PageId]) -> None:
    """Forget what an owner owed, but for these pages."""
    await connection.execute(_SETTLE, owner, list(but))
