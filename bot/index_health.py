"""The six checks of a healthy index (inventory row 96), and what administrators are told of it."""

from adapters.stores.postgres import PostgresStore
from adapters.stores.status import IndexCounts
from bot.wording import counted
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
            detail=f"{counted(counts.embeddings, 'passage')} of {counted(counts.pages, 'page')}"
            + (f", {counted(counts.empty_pages, 'page')} without text" if counts.empty_pages else ""),
            remedy="" if counts.embeddings else "run: footnote sync, or: footnote sync --export PATH",
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
            detail=f"{counted(counts.wrong_dimensions, 'vector')} of a wrong size"
            if counts.wrong_dimensions
            else "every vector has the right size",
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
            detail=f"{counted(counts.without_title, 'passage')} without the title of the page"
            if counts.without_title
            else f"every passage carries its page's title; above any heading: {counts.without_heading}",
            remedy="" if counts.without_title == 0 else "run: footnote reembed",
        ),
        StatusCheck(
            name="pending",
            ok=counts.pending == 0,
            detail=f"{counted(counts.pending, 'page')} to be indexed" if counts.pending else "nothing waits",
            remedy="" if counts.pending == 0 else "run: footnote sync",
        ),
    )
