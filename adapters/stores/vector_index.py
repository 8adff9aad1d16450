"""One HNSW index per model, over nothing but that model's rows."""

import logging
from string import Template

import asyncpg

import migrations
from adapters.stores.connecting import connected
from adapters.stores.locking import schema_lock
from adapters.stores.quoting import index_name, indexed_type, literal
from core.domain.models import Fingerprint, ModelProfile

_BUILD_SECONDS = 6 * 3600.0
_log = logging.getLogger(__name__)


async def ensure_vector_index(url: str, profile: ModelProfile, fingerprint: Fingerprint) -> str | None:
    """Make the model's vector index without blocking anyone; returns its name.

    An index that a killed run left unfinished, or that an older template made, is replaced. Null for models
    with more dimensions than pgvector can index: their searches scan every row.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: as `connecting.translated`.
    """
    type_name = indexed_type(profile.dimensions)
    if type_name is None:
        _log.warning("%d dimensions are more than pgvector can index: searches scan all", profile.dimensions)
        return None
    name = index_name(fingerprint, migrations.VECTOR_INDEX_VERSION)
    async with connected(url, seconds=_BUILD_SECONDS) as connection, schema_lock(connection):
        if not await _is_valid(connection, name):
            await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            await connection.execute(
                Template(migrations.vector_index()).substitute(
                    name=name,
                    type=type_name,
                    dimensions=profile.dimensions,
                    fingerprint=literal(fingerprint),
                )
            )
        await _drop_older(connection, fingerprint)
    return name


async def drop_vector_index(url: str, fingerprint: Fingerprint) -> None:
    """Remove a model's vector index, if there is one.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: as `connecting.translated`.
    """
    async with connected(url, seconds=_BUILD_SECONDS) as connection, schema_lock(connection):
        for version in range(1, migrations.VECTOR_INDEX_VERSION + 1):
            name = index_name(fingerprint, version)
            await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


async def _drop_older(connection: asyncpg.Connection, fingerprint: Fingerprint) -> None:
    for version in range(1, migrations.VECTOR_INDEX_VERSION):
        name = index_name(fingerprint, version)
        await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


async def _is_valid(connection: asyncpg.Connection, name: str) -> bool:
    valid: bool | None = await connection.fetchval(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", name
    )
    return bool(valid)
