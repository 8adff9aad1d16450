"""Everything about jobs that lies in one database, over one small pool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.jobs.hints import PostgresHints
from adapters.jobs.names import Timings
from adapters.jobs.runs import PostgresRuns
from adapters.jobs.tokens import PostgresTokens
from adapters.stores.pool import pooled


@dataclass(frozen=True, slots=True)
class Jobs:
    """Runs, hints of webhooks, and the webhook's token."""

    runs: PostgresRuns
    hints: PostgresHints
    tokens: PostgresTokens


@asynccontextmanager
async def open_jobs(url: str, *, timings: Timings | None = None) -> AsyncIterator[Jobs]:
    """The jobs of a database, for the block.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    timings = timings or Timings()
    async with pooled(url, size=4) as pool:
        yield Jobs(
            runs=PostgresRuns(url, pool, timings),
            hints=PostgresHints(url, pool, timings),
            tokens=PostgresTokens(url, pool),
        )
