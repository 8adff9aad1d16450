"""The six checks of a healthy index (inventory row 96), and what administrators are told of it."""

from adapters.stores.postgres import PostgresStore
from adapters.stores.status import IndexCounts
from core.ports.chat import StatusCheck
from core.services.administration import Health

_SELF_SEARCH = {
    None: "nothing is stored yet",
    True: "a stored passage finds itself",
    False: "a stored passage does not find itself",
}


async def health_of(store: PostgresStore) -> Health:
    """Count and check.

    Raises:
        UnavailableError: the database cannot be asked.
    """
    counts = await store.counts()
    return Health(
        checks=six_checks(counts),
        pages=counts.pages,
        chunks=counts.embeddings,
        pending=counts.pending,
        generation=counts.generation,
    )


def six_checks(counts: IndexCounts) -> tuple[StatusCheck, ...]:
    """What makes an index healthy, each with what to do where it is not."""
    works = counts.nearest_to_itself
    return (
        StatusCheck(
            name="embeddings",
            ok=counts.embeddings > 0,
            detail=f"{counts.embeddings} passages of {counts.pages} pages ({counts.empty_pages} are empty)",
            remedy="" if counts.embeddings else "run: footnote sync",
        ),
        StatusCheck(
            name="vector index",
            ok=counts.vector_index == "hnsw",
            detail=f"{counts.vector_index or 'missing'} {', '.join(counts.vector_index_options)}".strip(),
            remedy="" if counts.vector_index == "hnsw" else "run: footnote migrate",
        ),
        StatusCheck(
            name="dimensions",
            ok=counts.wrong_dimensions == 0,
            detail=f"{counts.wrong_dimensions} vectors of a wrong size",
            remedy="" if counts.wrong_dimensions == 0 else "run: footnote reembed",
        ),
        StatusCheck(
            name="similarity search",
            ok=works is not False,
            detail=_SELF_SEARCH[works],
            remedy="" if works is not False else "run: footnote migrate",
        ),
        StatusCheck(
            name="titles and headings",
            ok=counts.without_title == 0,
            detail=f"{counts.without_title} passages lack a title, {counts.without_heading} a heading",
            remedy="" if counts.without_title == 0 else "run: footnote reembed",
        ),
        StatusCheck(
            name="pending",
            ok=counts.pending == 0,
            detail=f"{counts.pending} pages wait to be indexed",
            remedy="" if counts.pending == 0 else "run: footnote sync",
        ),
    )
