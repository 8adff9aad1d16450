"""Every store, one after the other."""

from collections.abc import AsyncIterator

import pytest

from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import PostgresStore, open_store
from tests.builders_store import FINGERPRINT, PROFILE

Store = MemoryStore | PostgresStore


@pytest.fixture
def memory_store() -> MemoryStore:
    """An empty store in dictionaries."""
    return MemoryStore()


@pytest.fixture
async def postgres_store(database_url: str) -> AsyncIterator[PostgresStore]:
    """An empty store in a database of its own."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as opened:
        yield opened


@pytest.fixture(params=["memory_store", "postgres_store"])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store that is index and writer in one."""
    opened: Store = request.getfixturevalue(request.param)
    return opened
