"""Reaching PostgreSQL: how long to wait, and what to say when it does not answer."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from core.errors import ConfigurationError, RefusedError, SchemaError, UnavailableError

CONNECT_SECONDS = 5.0

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
"""A connection of one's own or one out of the pool."""


def where(url: str) -> str:
    """Host and database of a URL, for messages: without user and password.

    >>> where("postgresql://bot:secret@db.example:5432/footnote")
    'PostgreSQL at db.example:5432/footnote'
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "PostgreSQL"
    return f"PostgreSQL at {host}{port}{parts.path}"


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn what the driver raises into errors of ours; only the server's own words are kept, never the URL.

    Raises:
        UnavailableError: not reachable, shutting down, overloaded or too slow.
        RefusedError: wrong user, password or rights.
        ConfigurationError: the URL is wrong or names a database that does not exist.
        SchemaError: a table or column is missing.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        raise ConfigurationError(
            "DATABASE_URL must be 'embedded' or look like postgresql://user:password@host:5432/database"
        )
    place = where(url)
    try:
        yield
    except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        raise RefusedError(f"{place} refused the user or the password; check DATABASE_URL") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise RefusedError(f"{place} refused: {error.message}") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise ConfigurationError(f"{place}: this database does not exist; create it with createdb") from error
    except (
        asyncpg.UndefinedTableError,
        asyncpg.UndefinedColumnError,
        asyncpg.UndefinedFunctionError,
    ) as error:
        raise SchemaError(
            f"{place} lacks part of the schema ({error.message}); run `footnote migrate`"
        ) from error
    except (
        asyncpg.PostgresConnectionError,
        asyncpg.CannotConnectNowError,
        asyncpg.TooManyConnectionsError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.QueryCanceledError,
        asyncpg.DeadlockDetectedError,
        asyncpg.SerializationError,
        asyncpg.LockNotAvailableError,
        asyncpg.DiskFullError,
        asyncpg.OutOfMemoryError,
    ) as error:
        raise UnavailableError(f"{place} did not answer: {error}") from error
    except TimeoutError as error:
        raise UnavailableError(f"{place} took too long to answer") from error
    except OSError as error:
        raise UnavailableError(
            f"{place} cannot be reached ({error.strerror or error}); is it running?"
        ) from error
    except (asyncpg.ClientConfigurationError, ValueError) as error:
        raise ConfigurationError(f"DATABASE_URL cannot be used: {error}") from error
    except asyncpg.InterfaceError as error:
        raise UnavailableError(f"the connection to {place} was lost: {error}") from error


@asynccontextmanager
async def connected(url: str, *, seconds: float = 60.0) -> AsyncIterator[asyncpg.Connection]:
    """A single bare connection for schema work; statements may take ``seconds`` each.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: as `translated`.
    """
    with translated(url):
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS, command_timeout=seconds)
        try:
            yield connection
        finally:
            try:
                await asyncio.wait_for(connection.close(), timeout=CONNECT_SECONDS)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()
