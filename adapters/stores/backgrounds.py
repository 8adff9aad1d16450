"""Statements about what was learned of a fingerprint's passages."""

from collections.abc import Sequence

from adapters.stores.connecting import Connection
from adapters.stores.search_sql import BACKGROUND_STATE
from adapters.stores.texts import headings_from_json
from core.domain.documents import heading_context
from core.domain.models import Fingerprint
from core.ports import SampledPassage

CHANGED_SHARE = 0.05
"""So many passages that are new or gone make learning anew worth its time."""

_READ = f"""
SELECT {BACKGROUND_STATE} AS state, figures FROM index_backgrounds WHERE fingerprint = $1
"""

_IS_DUE = """
SELECT
    counted.passages > 0 AND (
        learned.passages IS NULL
        OR greatest(counted.changed, abs(counted.passages - learned.passages))
            > $2 * least(counted.passages, learned.passages)
    )
FROM (SELECT) AS always
LEFT JOIN index_backgrounds AS learned ON learned.fingerprint = $1
CROSS JOIN LATERAL (
    SELECT count(*) AS passages, count(*) FILTER (WHERE created_at > learned.learned_at) AS changed
    FROM notion_embeddings WHERE fingerprint = $1
) AS counted
"""

# Hashed, so that passages of all pages and ages are among them.
_SAMPLE = """
SELECT page_title, heading_path, chunk_text, language, embedding
FROM notion_embeddings
WHERE id IN (
    SELECT id FROM notion_embeddings WHERE fingerprint = $1 ORDER BY hashint8(id), id LIMIT $2
)
ORDER BY id
"""

_KEEP = """
INSERT INTO index_backgrounds (fingerprint, passages, figures)
SELECT $1, count(*), $2 FROM notion_embeddings WHERE fingerprint = $1
ON CONFLICT (fingerprint) DO UPDATE SET
    learned_at = excluded.learned_at, passages = excluded.passages, figures = excluded.figures
"""


async def read(connection: Connection, fingerprint: Fingerprint) -> tuple[int, bytes] | None:
    """The state and the figures, or null where nothing was learned."""
    row = await connection.fetchrow(_READ, fingerprint)
    return None if row is None else (row["state"], row["figures"])


async def is_due(connection: Connection, fingerprint: Fingerprint) -> bool:
    """Whether passages have changed since, or nothing was learned of those that there are."""
    due: bool = await connection.fetchval(_IS_DUE, fingerprint, CHANGED_SHARE)
    return due


async def sample(connection: Connection, fingerprint: Fingerprint, limit: int) -> Sequence[SampledPassage]:
    """At most ``limit`` passages."""
    return [
        SampledPassage(
            title=row["page_title"],
            headings=heading_context(headings_from_json(row["heading_path"])),
            body=row["chunk_text"],
            language=row["language"],
            vector=row["embedding"].to_numpy(),
        )
        for row in await connection.fetch(_SAMPLE, fingerprint, limit)
    ]


async def keep(connection: Connection, fingerprint: Fingerprint, figures: bytes) -> None:
    """Replace the figures."""
    await connection.execute(_KEEP, fingerprint, figures)
