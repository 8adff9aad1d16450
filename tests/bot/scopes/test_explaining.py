"""The rules in words, on the command line and in the doctor's report."""

import asyncio
import json
from pathlib import Path

import pytest

from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import open_store
from bot.cli import run_command_line
from bot.findings import Finding, State
from bot.scopes.checking import audience_findings
from bot.scopes.describing import FIRST_LINES
from bot.scopes.reading import read_footnote_file
from bot.settings import Settings
from core.domain.places import AskerKind, ChannelKind, Place
from tests.builders_store import FINGERPRINT, PROFILE, a_page, page_id, words

RULES = f"""
[scopes.Engineering]
include = ["{page_id(1)}"]
[scopes.Handbook]
include = ["{page_id(2)}"]
exclude = ["Salaries"]
[scopes.Salaries]
include = ["{page_id(3)}"]
[slack]
default = ["Handbook"]
[slack.channels]
C042 = ["Engineering", "Handbook"]
"""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with rules in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FOOTNOTE_CONFIG", raising=False)
    file = tmp_path / "footnote.toml"
    file.write_text(RULES, encoding="utf-8")
    return file


def test_a_place_is_explained_on_the_command_line(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence for people, an object for programs, neither of which needs a database."""
    code = run_command_line(["scope", "slack", "--workspace", "T1", "--channel", "C042"])
    text = capsys.readouterr().out
    run_command_line(
        ["scope", "slack", "--channel", "C042", "--kind", "shared", "--asker", "external", "--json"]
    )
    found = json.loads(capsys.readouterr().out)

    assert code == 0
    assert text == "C042 in T1 sees: Engineering, Handbook minus Salaries (channels.C042)\n"
    assert found["sees_nothing"] is True
    assert found["file"] == str(rules)


def test_a_wrong_file_ends_a_command_with_2_and_one_line(
    rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names file, line, key and what is expected."""
    rules.write_text(RULES + "[slack.chanels]\n", encoding="utf-8")

    code = run_command_line(["scope", "slack"])

    assert code == 2
    assert "footnote.toml:13: slack.chanels is unknown (did you mean 'channels'?)" in capsys.readouterr().err


async def findings(settings: Settings, url: str | None = None) -> list[Finding]:
    """All that the doctor says of the rules."""
    return [finding async for finding in audience_findings(settings, url)]


async def test_the_doctor_explains_every_mapping(rules: Path) -> None:
    """What a line of the file means is read back in words."""
    found = await findings(Settings.from_mapping({"FOOTNOTE_CONFIG": str(rules)}))

    assert {one.state for one in found} == {State.OK}
    assert "slack: C042 sees: Engineering, Handbook minus Salaries (channels.C042)" in [
        one.detail for one in found
    ]
    assert "slack: guests, shared channels and people nobody mapped see: nothing" in [
        one.detail for one in found
    ]


async def test_the_doctor_warns_of_pages_that_are_not_in_the_index(rules: Path, database_url: str) -> None:
    """A mistyped id is an exclusion that does not hold; roots may be pages, databases or data sources."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store:
        await store.put_pages([a_page(1), a_page(20, parent=2), a_page(4, data_source_id=page_id(30))])
    await asyncio.to_thread(rules.write_text, RULES.replace(page_id(1), page_id(30)), encoding="utf-8")

    found = await findings(Settings.from_mapping({"FOOTNOTE_CONFIG": str(rules)}), database_url)

    warnings = [one.detail for one in found if one.state is State.WARN]
    assert warnings == [
        f"scope Handbook: not in the index: {page_id(3)}",
        f"scope Salaries: not in the index: {page_id(3)}",
    ]


async def test_the_doctor_says_what_to_write_where_no_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chats that see nothing are a warning with the lines that open them; without chats all is well."""
    monkeypatch.chdir(tmp_path)
    chats = {"DISCORD_TOKEN": "x"}

    [silent] = await findings(Settings.from_mapping({}))
    [warned] = await findings(Settings.from_mapping(chats))

    assert silent.state is State.OK
    assert warned.state is State.WARN
    for line in FIRST_LINES.splitlines():
        assert line in warned.remedy


def test_the_first_lines_open_the_wiki_to_members_and_to_nobody_else() -> None:
    """What the doctor proposes works, and keeps guests and other companies out."""
    rules = read_footnote_file(FIRST_LINES, name="footnote.toml").rules

    member = Place("slack", "T1", "C1", ChannelKind.PUBLIC, "U1")
    guest = Place("slack", "T1", "C1", ChannelKind.PUBLIC, "U1", AskerKind.GUEST)
    shared = Place("slack", "T1", "C1", ChannelKind.SHARED, "U1")

    assert rules.audience_for(member).admits((page_id(1),))
    assert rules.audience_for(guest).is_empty
    assert rules.audience_for(shared).is_empty


async def test_a_data_source_is_the_root_of_a_scope(database_url: str) -> None:
    """Rows of one data source are inside, rows of another of the same database are not, in either store."""
    file = read_footnote_file(
        f'[scopes.Tasks]\ninclude = ["{page_id(50)}"]\n[slack]\ndefault = ["Tasks"]', name="footnote.toml"
    )
    audience = file.rules.audience_for(Place("slack", "T1", "C1", ChannelKind.PUBLIC, "U1"))
    pages = [
        a_page(1, "needle", parent=9, data_source_id=page_id(50)),
        a_page(2, "needle", parent=9, data_source_id=page_id(51)),
        a_page(3, "needle", parent=1),
    ]
    memory = MemoryStore()
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as postgres:
        for store in (memory, postgres):
            await store.put_pages(pages)
            found = await store.search_pages(words=words("needle"), audience=audience, limit=10)

            assert {one.page_id for one in found.candidates} == {page_id(1), page_id(3)}
