"""Which database and Redis a command works with, started first where they are embedded."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.embedded import embedded_postgres, embedded_redis
from bot.settings import EMBEDDED, Settings

SAMPLE_FOLDER = "sample"
"""Below FOOTNOTE_HOME: the sample workspace never mixes with a real one."""

WORKSPACE_MARK = "workspace"
"""A file in FOOTNOTE_HOME that says a real workspace was synced there. The database's folder says nothing:
`footnote check` and `footnote migrate` make one too."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Links to running servers.

    ``is_sample``: they hold the sample workspace. ``are_ours``: the database is embedded, so that Footnote
    itself keeps its schema up to date.
    """

    database_url: str
    redis_url: str
    is_sample: bool
    are_ours: bool


@contextmanager
def running_servers(settings: Settings, *, sample: bool = False) -> Iterator[Servers]:
    """The configured servers, or embedded ones kept running inside the block.

    ``sample`` asks for the sample workspace's own embedded servers, whatever is configured.

    Raises:
        ConfigurationError, UnavailableError: an embedded server cannot be had.
    """
    home = settings.footnote_home / SAMPLE_FOLDER if sample else settings.footnote_home
    with ExitStack() as stack:
        database, redis = settings.database_url, settings.redis_url
        are_ours = sample or database == EMBEDDED
        if are_ours:
            database = stack.enter_context(embedded_postgres(home))
        if sample or redis == EMBEDDED:
            redis = stack.enter_context(embedded_redis(home))
        yield Servers(database_url=database, redis_url=redis, is_sample=sample, are_ours=are_ours)


def only_sample_exists(settings: Settings) -> bool:
    """Whether nothing but the sample workspace was ever synced here, so that reading commands mean it."""
    return (
        settings.notion_token is None
        and settings.database_url == EMBEDDED
        and not (settings.footnote_home / WORKSPACE_MARK).exists()
        and any((settings.footnote_home / SAMPLE_FOLDER).glob("postgres*"))
    )


def mark_workspace(home: Path) -> None:
    """Remember that a workspace of somebody's own was synced into this data folder."""
    home.mkdir(parents=True, exist_ok=True)
    (home / WORKSPACE_MARK).touch()
