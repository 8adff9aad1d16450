"""The tests' own surroundings: real servers, a database of one's own, no way out."""

import socket

import asyncpg
import pytest
import redis.asyncio

from tests.conftest import ForbiddenConnectionError


async def test_each_test_has_a_migrated_database_of_its_own(database_url: str) -> None:
    """The schema is there and pgvector is new enough for filtered searches."""
    connection = await asyncpg.connect(database_url)
    try:
        version = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        applied = await connection.fetchval("SELECT count(*) FROM footnote_migrations")
    finally:
        await connection.close()

    assert tuple(int(part) for part in version.split(".")) >= (0, 8)
    assert applied >= 1


@pytest.mark.parametrize("turn", ["first", "second"])
async def test_redis_is_empty_at_the_start_of_each_test(redis_url: str, turn: str) -> None:
    """What one test leaves behind is not seen by the next."""
    client = redis.asyncio.Redis.from_url(redis_url)
    try:
        before = await client.dbsize()
        await client.set(turn, "left behind")
    finally:
        await client.aclose()

    assert before == 0


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_no_test_can_reach_another_machine(host: str) -> None:
    """A connection to any address but loopback is refused before a packet leaves."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as outside, pytest.raises(ForbiddenConnectionError):
        outside.connect((host, 80))


def test_no_test_can_look_up_a_name() -> None:
    """Even the question for a foreign name stays here."""
    with pytest.raises(ForbiddenConnectionError):
        socket.getaddrinfo("example.org", 443)
