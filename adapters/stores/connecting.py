"""Reaching PostgreSQL: how long to wait, and what to say when it does not answer."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from core.errors import (
    ConfigurationError,
    FootnoteError,
    InvalidInputError,
    PermanentError,
    RefusedError,
    SchemaError,
    UnavailableError,
)

CONNECT_SECONDS = 5.0

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
"""A connection of one's own or one out of the pool."""


LOST_CONNECTION = (
    *(asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError, asyncpg.CrashShutdownError),
    *(asyncpg.InterfaceError, asyncpg.InternalClientError, ConnectionError),
)
"""What the driver may raise when the server went away; the last but one is a race inside asyncpg."""


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
    """Turn what the driver raises into errors of ours, without the URL and without any value stored.

    Raises:
        UnavailableError: not reachable, shutting down, overloaded or too slow.
        RefusedError: wrong user, password or rights.
        ConfigurationError: the URL is wrong or names a database that does not exist.
        SchemaError: a table or column is missing.
        InvalidInputError: a value is not of its column's type, such as an id that is none.
        PermanentError: anything else the server refuses.
    """
    if not _looks_right(url):
        raise ConfigurationError(
            "DATABASE_URL must be 'embedded' or look like postgresql://user:password@host:5432/database"
        )
    try:
        yield
    except (*LOST_CONNECTION, asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise _translation(error, where(url)) from error


_Translation = Callable[[str, Exception], FootnoteError]

_OPTION_REFUSED = re.compile(r'parameter "(?P<name>\w+)"')
"""How the server names an option of the URL that it does not have or cannot set to that value."""

_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], _Translation], ...] = (
    (
        (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError),
        lambda place, _: RefusedError(f"{place} refused the user or the password; check DATABASE_URL"),
    ),
    (
        (asyncpg.InsufficientPrivilegeError, asyncpg.ReadOnlySQLTransactionError),
        lambda place, error: RefusedError(f"{place} refused: {error}"),
    ),
    (
        (asyncpg.InvalidCatalogNameError,),
        lambda place, _: ConfigurationError(
            f"{place}: this database does not exist; create it with createdb"
        ),
    ),
    (
        (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError, asyncpg.UndefinedFunctionError),
        lambda place, error: SchemaError(
            f"{place} lacks part of the schema ({error}); run `footnote migrate`"
        ),
    ),
    (
        (
            *(
                asyncpg.PostgresConnectionError,
                asyncpg.CannotConnectNowError,
                asyncpg.TooManyConnectionsError,
            ),
            *(asyncpg.AdminShutdownError, asyncpg.CrashShutdownError, asyncpg.QueryCanceledError),
            *(asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError),
            *(asyncpg.DiskFullError, asyncpg.OutOfMemoryError),
            # A migration of a newer process changed a table in the middle; the next try plans anew.
            asyncpg.InvalidCachedStatementError,
        ),
        lambda place, error: UnavailableError(f"{place} did not answer: {error}"),
    ),
    (
        # The driver's message quotes the value.
        (asyncpg.DataError,),
        lambda place, _: InvalidInputError(f"{place} cannot store or compare one of the values given"),
    ),
    (
        (asyncpg.ClientConfigurationError,),
        lambda _, error: ConfigurationError(f"DATABASE_URL cannot be used: {error}"),
    ),
    (
        (asyncpg.InterfaceError, asyncpg.InternalClientError),
        lambda place, error: UnavailableError(f"the connection to {place} was lost: {error}"),
    ),
    (
        (TimeoutError,),
        lambda place, _: UnavailableError(f"{place} took too long to answer"),
    ),
    (
        (OSError,),
        lambda place, error: UnavailableError(
            f"{place} cannot be reached ({getattr(error, 'strerror', None) or error}); is it running?"
        ),
    ),
)
"""The first entry that fits counts."""


def _translation(error: Exception, place: str) -> FootnoteError:
    refused = _OPTION_REFUSED.search(str(error)) if isinstance(error, _OPTION_ERRORS) else None
    if refused is not None:
        # Without the server's own words, which may quote the value.
        return ConfigurationError(
            f"{place} does not take the option {refused['name']!r}; correct what stands behind the question "
            "mark of DATABASE_URL"
        )
    for kinds, translate in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translate(place, error)
    # Its message may quote what was being stored.
    return PermanentError(f"{place} refused a statement ({type(error).__name__})")


_OPTION_ERRORS = (
    asyncpg.UndefinedObjectError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.InvalidParameterValueError,
)


def _looks_right(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("postgresql", "postgres") and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


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
