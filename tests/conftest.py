"""What every test has at hand: real PostgreSQL and Redis, and no way out of this machine.

The servers start with the first test that asks for one, are shared by all workers of a run, and are gone with
everything they wrote when the run ends.
"""

import asyncio
import fcntl
import ipaddress
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import redis.asyncio

from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres, embedded_redis
from bot.embedded.processes import command_line
from bot.embedded.redis import DATABASES
from core.errors import FootnoteError

TEMPLATE = "footnote_template"
RUN_PREFIX = "footnote-tests-"
"""Followed by the process id of the run, so that a later run can tell what a killed one left behind."""

# --- no way out ------------------------------------------------------------------------------------------


class ForbiddenConnectionError(Exception):
    """A test tried to reach another machine. No OSError, so that no code takes it for a network failure."""


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        return False


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not _is_local(address[0]):
            raise ForbiddenConnectionError(f"{event} to {address[0]}: tests talk to this machine only")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not _is_local(arguments[0]):
        raise ForbiddenConnectionError(f"name look-up of {arguments[0]!r}: tests talk to this machine only")


sys.addaudithook(_guard)

# --- servers of the run ----------------------------------------------------------------------------------

HOME_KEY = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Name the folder of this run: made by the controller, told to the workers."""
    worker_input: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker_input is None:
        _clear_up_after_killed_runs()
    config.stash[HOME_KEY] = (
        Path(worker_input["footnote_home"])
        if worker_input is not None
        else _fastest_folder() / f"{RUN_PREFIX}{os.getpid()}-{uuid4().hex[:8]}"
    )


def _clear_up_after_killed_runs() -> None:
    for folder in _fastest_folder().glob(f"{RUN_PREFIX}*"):
        pid = folder.name.removeprefix(RUN_PREFIX).split("-")[0]
        if folder.stat().st_uid != os.geteuid() or not pid.isdecimal() or command_line(pid):
            continue
        # Being the last user of what still runs there stops it.
        with ExitStack() as last_user, suppress(FootnoteError):
            if (folder / "postgres" / "postmaster.pid").exists():
                last_user.enter_context(embedded_postgres(folder))
            if (folder / "redis" / "server.pid").exists():
                last_user.enter_context(embedded_redis(folder))
        shutil.rmtree(folder, ignore_errors=True)


def _fastest_folder() -> Path:
    """Memory where there is enough of it: cloning a database there takes a fiftieth of the time."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder below has a name of its own
    enough = 2 * 2**30
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= enough:
        return memory
    return Path(tempfile.gettempdir())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the servers of the run are."""
    node.workerinput["footnote_home"] = str(node.config.stash[HOME_KEY])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind; the servers stopped when their last user ended."""
    if not hasattr(config, "workerinput") and HOME_KEY in config.stash:
        shutil.rmtree(config.stash[HOME_KEY], ignore_errors=True)


@pytest.fixture(scope="session")
def servers_home(request: pytest.FixtureRequest) -> Path:
    """The data folder of the run's servers; mode 0755, since PostgreSQL may run as another user."""
    home = request.config.stash[HOME_KEY]
    home.mkdir(mode=0o755, exist_ok=True)
    return home


@pytest.fixture(scope="session")
def postgres_url(servers_home: Path) -> Iterator[str]:
    """The administrator's URL of the run's PostgreSQL; tests want ``database_url``."""
    quick = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
    with embedded_postgres(servers_home, settings=quick) as url:
        yield url


@pytest.fixture(scope="session")
def template_database(servers_home: Path, postgres_url: str) -> str:
    """A migrated database to clone, made once per run."""
    with (servers_home / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # In a thread, since a test's event loop may be running already.
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, _make_template(postgres_url)).result()
    return TEMPLATE


async def _make_template(postgres_url: str) -> None:
    admin = await asyncpg.connect(postgres_url)
    try:
        if await admin.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", TEMPLATE):
            return
        await admin.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}_unfinished WITH (FORCE)")
        await admin.execute(f"CREATE DATABASE {TEMPLATE}_unfinished")
        await migrate(database_of(postgres_url, f"{TEMPLATE}_unfinished"))
        await admin.execute(f"ALTER DATABASE {TEMPLATE}_unfinished RENAME TO {TEMPLATE}")
    finally:
        await admin.close()


def database_of(url: str, name: str) -> str:
    """The same server's URL with another database name."""
    return url.replace("@/footnote?", f"@/{name}?")


# --- one database for each test --------------------------------------------------------------------------


@pytest.fixture
async def database_url(postgres_url: str, template_database: str) -> AsyncIterator[str]:
    """The URL of a migrated, empty database that is this test's own."""
    async with own_database(postgres_url, template_database) as url:
        yield url


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    """The URL of a database without any migration that is this test's own."""
    async with own_database(postgres_url, "template1") as url:
        yield url


@asynccontextmanager
async def own_database(postgres_url: str, template: str) -> AsyncIterator[str]:
    """A clone of a template for the block; for fixtures that fill a database once for a module."""
    name = f"test_{uuid4().hex[:12]}"
    await _administrate(postgres_url, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    try:
        yield database_of(postgres_url, name)
    finally:
        await _administrate(postgres_url, f"DROP DATABASE {name} WITH (FORCE)")


async def _administrate(postgres_url: str, statement: str) -> None:
    admin = await asyncpg.connect(postgres_url)
    try:
        await admin.execute(statement)
    finally:
        await admin.close()


# --- one numbered Redis database for each worker ---------------------------------------------------------


@pytest.fixture(scope="session")
def redis_server_url(servers_home: Path) -> Iterator[str]:
    """The URL of the run's Redis; tests want ``redis_url``."""
    with embedded_redis(servers_home) as url:
        yield url


@pytest.fixture
async def redis_url(redis_server_url: str) -> str:
    """The URL of an empty Redis database that is this worker's own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    url = f"{redis_server_url}?db={int(worker) % DATABASES}"
    client = redis.asyncio.Redis.from_url(url)
    try:
        await client.flushdb()
    finally:
        await client.aclose()
    return url
