"""The whole bot in Slack: what its home shows, whom its rules name, what outlives a process."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.bot.serve_rig import EVERYTHING_FOR_MEMBERS, ServeRig, serve_rig, until
from tests.fakes.notion import Workspace, blocks
from tests.fakes.slack.blockkit import texts_of
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.workspace import BOT_USER

VACATION = "Every employee has 28 days of paid vacation in each calendar year."
QUESTION = "How many days of paid vacation does every employee have?"
UNKNOWN = "Which gearbox oil suits a 1974 tractor?"

RULES = EVERYTHING_FOR_MEMBERS.replace("[discord]", '[slack.workspaces]\nT1 = ["all"]\n[discord]')


@pytest.fixture
async def rig(tmp_path: Path, database_url: str, redis_url: str) -> AsyncIterator[ServeRig]:
    """One page that answers one question, rules that let every member see it; no process yet."""
    workspace = Workspace()
    workspace.add_page("Vacation", blocks=[blocks.paragraph(VACATION)])
    async with serve_rig(
        workspace=workspace, folder=tmp_path, database_url=database_url, redis_url=redis_url
    ) as made:
        (tmp_path / "footnote.toml").write_text(RULES, encoding="utf-8")
        made.slack.workspace.add_user("U2")
        yield made


async def connected(rig: ServeRig, **variables: Any) -> None:
    """Start a process, and wait until it listens to Slack."""
    served = await rig.start(**variables)
    await served.until_logged("Slack is connected")


async def asked(rig: ServeRig, user: str, question: str) -> dict[str, Any]:
    """Ask in the channel; the finished reply."""
    thread = rig.people.write("C1", user, f"<@{BOT_USER}> {question}")
    await until(lambda: [one for one in rig.slack.workspace.from_bot(thread=thread) if one.get("metadata")])
    return rig.slack.workspace.from_bot(thread=thread)[0]


async def home_of(rig: ServeRig, user: str) -> dict[str, Any]:
    """Open the home anew."""
    rig.slack.workspace.homes.pop(user, None)
    rig.people.open_home(user)
    await until(lambda: user in rig.slack.workspace.homes)
    return rig.slack.workspace.homes[user]


async def home_with(rig: ServeRig, user: str, *parts: str) -> dict[str, Any]:
    """The home once it shows all of that; what was asked is written down a moment later."""
    async with asyncio.timeout(60):
        while True:
            home = await home_of(rig, user)
            if all(part in "\n".join(texts_of(home["blocks"])) for part in parts):
                return home
            await asyncio.sleep(0.2)


async def test_the_home_shows_what_was_really_asked_synced_and_judged(rig: ServeRig) -> None:
    """Questions, verdicts and runs out of the database, for everybody their own, for administrators all."""
    await connected(rig)
    await rig.synced()
    reply = await asked(rig, "U1", QUESTION)
    assert "28 days" in shown_text(reply)
    await asked(rig, "U2", QUESTION)
    missing = await asked(rig, "U2", UNKNOWN)
    rig.people.press("U2", reply, "footnote_feedback", side="positive")
    rig.people.press("U2", missing, "footnote_feedback", side="negative")
    await until(lambda: rig.slack.workspace.modals)

    mine = "\n".join(texts_of((await home_with(rig, "U1", QUESTION))["blocks"]))
    assert UNKNOWN not in mine
    assert "passages" not in mine

    told = (f"2 × {QUESTION}", UNKNOWN, "50 % good of 2", ", done): 1 of 1 pages")
    home = await home_with(rig, "UADMIN", *told)
    shown = "\n".join(texts_of(home["blocks"]))
    assert "1 pages, 1 passages" in shown
    assert "Questions in 14 days: 3" in shown
    (picture,) = [block for block in home["blocks"] if block["type"] == "image"]
    assert rig.slack.workspace.uploads[picture["slack_file"]["id"]].startswith(b"\x89PNG")

    rig.people.press("UADMIN", home, "footnote_resync_changes")
    await until(lambda: any("is done" in shown_text(one) for one in rig.slack.workspace.from_bot("DUADMIN")))


async def test_slk8_administrators_of_the_file_follow_its_changes(rig: ServeRig) -> None:
    """Named while the bot runs: allowed without a restart; no longer named: refused."""
    await connected(rig)
    file = rig.folder / "footnote.toml"

    async def told() -> str:
        name = rig.people.command("C1", "U1", "/footnote", "status")
        await until(lambda: rig.slack.response_urls[name].bodies)
        return str(rig.slack.response_urls[name].bodies[0]["text"])

    async def until_told(part: str) -> None:
        async with asyncio.timeout(30):
            while part not in await told():  # noqa: ASYNC110 - asks anew each time
                await asyncio.sleep(0.3)

    assert "only administrators" in await told()
    file.write_text(RULES.replace("[slack]", '[slack]\nadmins = ["U1"]'), encoding="utf-8")
    await until_told("passages")
    file.write_text(RULES, encoding="utf-8")
    await until_told("only administrators")


async def test_shr4_a_private_answer_is_shared_by_the_next_process(rig: ServeRig) -> None:
    """Answered privately, the process killed, another one started: the asker's button still works, once."""
    await connected(rig)
    await rig.synced()
    name = rig.people.command("C1", "U1", "/ask", QUESTION)
    await until(lambda: rig.slack.response_urls[name].bodies)
    await rig.served[-1].kill()
    await connected(rig)
    body = rig.slack.response_urls[name].bodies[0]

    async def press(user: str) -> dict[str, Any]:
        pressed = rig.people.press(user, body, "footnote_share", channel="C1")
        await until(lambda: rig.slack.response_urls[pressed].bodies)
        return rig.slack.response_urls[pressed].bodies[0]

    assert "no longer have" in str((await press("U2"))["text"])
    assert await press("U1") == {"delete_original": True}
    assert "no longer have" in str((await press("U1"))["text"])
    (shared,) = rig.slack.workspace.from_bot("C1")
    assert "28 days" in shown_text(shared)


async def test_f49_without_redis_redelivered_questions_are_answered_once(rig: ServeRig) -> None:
    """Redis is not there: two processes, each event four times, mention and message; one answer."""
    for _ in range(2):
        await connected(rig, REDIS_URL="redis://127.0.0.1:9/0")
    await rig.synced()
    ts = rig.slack.workspace.new_ts()
    message = {
        "type": "message",
        **{"channel": "C1", "user": "U1", "ts": ts, "text": f"<@{BOT_USER}> {QUESTION}"},
    }
    rig.slack.workspace.messages.append(dict(message))
    for number in range(8):
        kind = "app_mention" if number % 2 else "message"
        rig.people.event(message | {"type": kind}, event_id=f"Ev{number % 2}")
    await until(lambda: rig.replies(ts))
    await rig.slack.postman.idle()
    await asyncio.sleep(0.5)

    assert len(rig.replies(ts)) == 1
    assert "28 days" in rig.replies(ts)[0]
