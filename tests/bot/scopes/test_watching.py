"""The rules in force follow the file."""

import asyncio
from pathlib import Path

import pytest
import structlog

from bot.scopes.reading import WrongFileError
from bot.scopes.watching import LiveAudiences, config_path
from core.domain.places import ChannelKind, Place
from core.errors import ConfigurationError

OPEN = '[scopes.all]\ninclude = "everything"\n[slack]\ndefault = ["all"]\n'
CLOSED = "[slack]\n"
PLACE = Place("slack", "T1", "C1", ChannelKind.PUBLIC, "U1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that lets every channel see everything."""
    file = tmp_path / "footnote.toml"
    file.write_text(OPEN, encoding="utf-8")
    return file


def test_rules_follow_the_file(path: Path) -> None:
    """A changed file counts with the next look, and so does one that is put back."""
    live = LiveAudiences(path)
    open_key = live.audience_for(PLACE).key

    path.write_text(CLOSED, encoding="utf-8")
    changed = live.refresh()
    closed = live.audience_for(PLACE)
    path.write_text(OPEN, encoding="utf-8")
    live.refresh()

    assert changed
    assert closed.is_empty
    assert closed.key != open_key
    assert live.audience_for(PLACE).key == open_key
    assert not live.refresh()


@pytest.mark.parametrize(
    "wrong",
    [
        "[slack]\ndefault = ['all']\n",
        "[slack",
        OPEN + "[discrod]\n",
        "[slack]\ndefault = [1]\n",
        f"{OPEN}more = {'[' * 3000}{']' * 3000}\n",
        f"{OPEN}more = {'1' * 5000}\n",
        "\ufeff" + OPEN,
    ],
)
def test_a_wrong_file_is_refused_whole_and_the_old_rules_stay(path: Path, wrong: str) -> None:
    """Nothing of a wrong file is used; the log says so once, in one line."""
    live = LiveAudiences(path)
    before = live.file

    path.write_text(wrong, encoding="utf-8")
    with structlog.testing.capture_logs() as logs:
        looks = [live.refresh() for _ in range(3)]

    assert looks == [False, False, False]
    assert live.file is before
    assert [entry["event"] for entry in logs] == ["the rules are wrong, the old ones stay in force"]
    assert logs[0]["reason"].startswith("footnote.toml")


def test_a_file_that_vanished_changes_nothing(path: Path) -> None:
    """An editor that writes anew leaves a moment without a file; rules must not open or close in it."""
    live = LiveAudiences(path)

    path.unlink()

    assert not live.refresh()
    assert not live.audience_for(PLACE).is_empty


def test_a_start_with_a_wrong_or_missing_file_fails(path: Path) -> None:
    """At the start there are no old rules to keep."""
    path.write_text("[slak]\n", encoding="utf-8")
    with pytest.raises(WrongFileError, match="did you mean 'slack'"):
        LiveAudiences(path)

    path.unlink()
    with pytest.raises(ConfigurationError, match=r"FOOTNOTE_CONFIG: footnote\.toml cannot be read"):
        LiveAudiences(path)


def test_without_a_file_chats_see_nothing() -> None:
    """The first installation fails closed; the command line sees everything."""
    live = LiveAudiences(None)

    assert live.audience_for(PLACE).is_empty
    assert not live.may_ask(PLACE)
    assert not live.audience_for(Place("console", "", "", ChannelKind.DIRECT, "console")).is_empty


def test_a_file_in_the_working_folder_counts_where_none_is_set(path: Path, tmp_path: Path) -> None:
    """The setting wins over the file that lies in the folder."""
    other = tmp_path / "other.toml"

    assert config_path(None, folder=tmp_path) == path
    assert config_path(other, folder=tmp_path) == other
    assert config_path(None, folder=tmp_path / "empty") is None


async def test_a_watcher_takes_new_rules_without_a_restart(path: Path) -> None:
    """The watcher looks until it is told to stop."""
    live = LiveAudiences(path)
    stop = asyncio.Event()
    taken = asyncio.Event()
    refresh = live.refresh

    def noticed() -> bool:
        if changed := refresh():
            taken.set()
        return changed

    live.refresh = noticed  # type: ignore[method-assign]  # to be told of the moment
    watching = asyncio.create_task(live.watch(stop, every=0.01))

    await asyncio.to_thread(path.write_text, CLOSED, encoding="utf-8")
    async with asyncio.timeout(10):
        await taken.wait()
    stop.set()
    await watching

    assert live.audience_for(PLACE).is_empty
