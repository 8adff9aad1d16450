"""The whole bot in its own processes: asked, synced, told of edits, killed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from core.domain.ids import PageId
from core.ports.chat import ResyncKind
from core.ports.ledger import Fate
from tests.bot.serve_rig import ServeRig, serve_rig, until
from tests.fakes.discord import BOT_TOKEN as DISCORD_TOKEN
from tests.fakes.discord import running_discord
from tests.fakes.discord.permissions import MANAGE_GUILD
from tests.fakes.discord.world import shown_text
from tests.fakes.notion import Webhooks, Workspace, blocks, faults, routes
from tests.fakes.slack.workspace import BOT_USER

VACATION = "Every employee has 28 days of paid vacation in each calendar year."
QUESTION = "How many days of paid vacation does every employee have?"


@pytest.fixture
def workspace() -> Workspace:
    """One page that answers one question."""
    made = Workspace()
    made.add_page("Vacation", blocks=[blocks.paragraph(VACATION)])
    return made


@pytest.fixture
async def rig(
    workspace: Workspace, tmp_path: Path, database_url: str, redis_url: str
) -> AsyncIterator[ServeRig]:
    """Stand-ins and database; no process yet."""
    async with serve_rig(
        workspace=workspace, folder=tmp_path, database_url=database_url, redis_url=redis_url
    ) as made:
        yield made


async def test_a_mention_is_answered_from_what_was_synced(rig: ServeRig) -> None:
    """One process syncs Notion by itself at the start, and answers in Slack with a link."""
    served = await rig.start()
    await served.until_logged("Slack is connected")
    await rig.synced()

    thread = rig.people.write("C1", "U1", f"<@{BOT_USER}> {QUESTION}")
    await until(lambda: any("28 days" in reply for reply in rig.replies(thread)))

    assert await served.end() == 0
    assert rig.notion.complaints == []


async def test_one_process_answers_in_slack_and_discord(rig: ServeRig) -> None:
    """Each platform gets the same facts in its own form; Discord is told of the commands once."""
    async with running_discord() as discord:
        world = discord.world
        guild, alice = world.add_guild("Company"), world.add_user("alice")
        world.join(alice, guild)
        channel = world.add_channel(guild, "general")
        served = await rig.start(
            DISCORD_TOKEN=DISCORD_TOKEN,
            DISCORD_BASE_URL=discord.api_url,
            DISCORD_GATEWAY_URL=discord.gateway_url,
            DISCORD_GUILD_IDS=str(guild.id),
        )
        await served.until_logged("Slack is connected")
        await served.until_logged("Discord is connected")
        await rig.synced()

        thread = rig.people.write("C1", "U1", f"<@{BOT_USER}> {QUESTION}")
        asked = discord.people.slash(alice, channel, "ask", question=QUESTION)
        await until(lambda: any("28 days" in reply for reply in rig.replies(thread)))
        answered = await discord.people.finished(asked, seconds=60.0)

        assert "28 days" in shown_text(answered)
        assert await served.end() == 0


async def test_an_administrator_in_discord_sees_real_figures_with_a_chart_and_resyncs(
    rig: ServeRig, workspace: Workspace
) -> None:
    """Status, scope, why and a resync of the whole product; synced titles are offered while typing."""
    async with running_discord() as discord:
        world, people = discord.world, discord.people
        guild, ada = world.add_guild("Company"), world.add_user("ada")
        world.join(ada, guild, world.add_role(guild, "Managers", allows=MANAGE_GUILD))
        channel = world.add_channel(guild, "general")
        served = await rig.start(
            DISCORD_TOKEN=DISCORD_TOKEN,
            DISCORD_BASE_URL=discord.api_url,
            DISCORD_GATEWAY_URL=discord.gateway_url,
            NOTION_SYNC_INTERVAL="0",
        )
        await served.until_logged("Discord is connected")
        people.slash(ada, channel, "resync", full=True)
        await until(lambda: any("is done" in shown_text(one) for one in world.from_bot(channel.id)))

        status = await people.finished(people.slash(ada, channel, "status"), seconds=60.0)
        assert "**Index**: 1 pages, 1 passages, 0 waiting" in shown_text(status)
        assert [one["filename"] for one in status.body["attachments"]] == ["pages.png"]
        assert discord.rest.files[-1].startswith(b"\x89PNG")
        scope = await people.finished(people.slash(ada, channel, "scope"), seconds=60.0)
        assert f"{channel.id} in {guild.id} sees: " in shown_text(scope)
        (page,) = workspace.pages
        why = await people.finished(people.slash(ada, channel, "why", link=page), seconds=60.0)
        assert "Vacation" in shown_text(why)
        typing = people.complete(ada, channel, "ask", "question", "vac")
        await people.acknowledged(typing, seconds=60.0)
        assert [choice["name"] for choice in typing.result] == ["Vacation"]
        assert await served.end() == 0


async def test_sy17_a_resync_by_slash_command_reports_and_reads_everything(rig: ServeRig) -> None:
    """With an interval of 0 nothing syncs by itself; an administrator's command does (T11)."""
    served = await rig.start(NOTION_SYNC_INTERVAL="0")
    await served.until_logged("Slack is connected")
    assert rig.notion.counts == {}

    rig.people.command("C1", "UADMIN", "/footnote", "resync full")
    await until(lambda: any("is done" in str(one.get("text")) for one in rig.slack.workspace.from_bot("C1")))

    [run] = await rig.jobs.runs.recent(limit=5)
    assert run.kind is ResyncKind.FULL
    assert run.asked_by == "slack:UADMIN"
    assert run.report["changed"] == 1
    assert await rig.ledger.totals() == {Fate.INDEXED: 1}
    assert await served.end() == 0


async def test_f34_when_a_worker_is_killed_in_mid_sync_another_finishes(
    rig: ServeRig, workspace: Workspace
) -> None:
    """Kill -9 after 40 of 120 pages: the other process takes over, and reads only what is left."""
    ids = [workspace.add_page(f"Page {n}", blocks=[blocks.paragraph(f"Text {n}")]) for n in range(120)]
    rig.notion.faults.add(faults.slow(0.2), route=routes.CHILDREN)
    first = await rig.start(NOTION_SYNC_INTERVAL="0")
    ticket = await rig.jobs.runs.request(ResyncKind.FULL, asked_by="test", known_pages=121)
    await first.until_logged(f"Run {ticket.run_id}")
    second = await rig.start(NOTION_SYNC_INTERVAL="0")
    await until(lambda: rig.notion.counts[routes.CHILDREN] >= 60)
    await first.kill()
    seen = await rig.jobs.runs.view(ticket.run_id)
    await asyncio.sleep(0.5)
    stored = [one.page_id for one in await rig.ledger.entries(Fate.PENDING, limit=1000)]
    rig.notion.forget()

    await second.until_logged(f"Run {ticket.run_id}")
    async with asyncio.timeout(90):
        while (run := await rig.jobs.runs.view(ticket.run_id)) is None or run.ended_at is None:
            assert seen is not None
            assert run is None or run.done >= seen.done
            await asyncio.sleep(0.1)

    read_again = {record.params["block_id"] for record in rig.notion.calls(routes.CHILDREN)}
    assert 20 <= len(stored) < 121
    assert read_again.isdisjoint(stored)
    assert await rig.ledger.totals() == {Fate.INDEXED: 121}
    entries = [await rig.ledger.entry(PageId(one)) for one in ids]
    assert {entry.chunks for entry in entries if entry is not None} == {1}
    assert (run.done, run.failed) == (121, 0)
    assert run.report["embedded"] > 0


async def test_a_stopping_process_hands_its_sync_over_at_once(rig: ServeRig, workspace: Workspace) -> None:
    """SIGTERM in mid-sync: it ends well and soon, and the other goes on without waiting for a lease."""
    for number in range(60):
        workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}")])
    rig.notion.faults.add(faults.slow(0.2), route=routes.CHILDREN)
    first = await rig.start(NOTION_SYNC_INTERVAL="0")
    ticket = await rig.jobs.runs.request(ResyncKind.CHANGES, asked_by="test")
    await first.until_logged(f"Run {ticket.run_id}")
    second = await rig.start(NOTION_SYNC_INTERVAL="0")
    await until(lambda: rig.notion.counts[routes.CHILDREN] >= 10)

    assert await first.end() == 0
    taken = await second.until_logged(f"Run {ticket.run_id}")

    assert "taken over" in taken["event"]
    await rig.synced()
    assert await rig.ledger.totals() == {Fate.INDEXED: 61}


async def test_footnote_sync_joins_the_run_that_is_under_way(rig: ServeRig, workspace: Workspace) -> None:
    """The command shows the run of another process to its end and prints that run's totals."""
    for number in range(30):
        workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}")])
    rig.notion.faults.add(faults.slow(0.3), route=routes.CHILDREN)
    served = await rig.start(NOTION_SYNC_INTERVAL="0")
    ticket = await rig.jobs.runs.request(ResyncKind.CHANGES, asked_by="test")
    await served.until_logged(f"Run {ticket.run_id}")

    code, out, err = await rig.command("sync", "--json")

    assert code == 0, err
    assert f"Run {ticket.run_id} is under way already" in err
    assert '"changed": 31' in out
    assert len(await rig.jobs.runs.recent(limit=5)) == 1
    assert rig.notion.counts[routes.CHILDREN] == 31


async def test_not17_a_burst_of_a_thousand_events_costs_two_fetches(
    rig: ServeRig, workspace: Workspace
) -> None:
    """After the handshake, 1,000 signed events on one page: all taken, at most two looks, text found."""
    served = await rig.start()
    port = (await served.until_logged("listening"))["http"].rsplit(":", 1)[1]
    await rig.synced()
    page = workspace.add_page("Parking", blocks=[blocks.paragraph("old")])
    [block] = workspace.block_ids(page)
    hooks = Webhooks(workspace, f"http://127.0.0.1:{port}/webhooks/notion")
    assert await hooks.handshake() == 200
    for number in range(1000):
        workspace.edit_block(block, f"Garage level {number}")
    rig.notion.forget()

    statuses = await hooks.deliver(hooks.pending(aggregate=False), shuffle=True)

    assert len(statuses) >= 1000
    assert set(statuses) == {200}
    await rig.until_fate(PageId(page), Fate.INDEXED)
    await asyncio.sleep(3.0)
    assert rig.notion.counts[routes.CHILDREN] <= 2


async def test_not17_only_signed_events_of_the_known_token_are_taken(
    rig: ServeRig, workspace: Workspace
) -> None:
    """Unsigned, wrongly signed and over-long deliveries are refused; no log holds the token."""
    served = await rig.start(NOTION_SYNC_INTERVAL="0")
    port = (await served.until_logged("listening"))["http"].rsplit(":", 1)[1]
    url = f"http://127.0.0.1:{port}/webhooks/notion"
    hooks, stranger = Webhooks(workspace, url), Webhooks(Workspace(), url)
    stranger.verification_token = "secret_of_somebody_else"
    page = workspace.add_page("New")
    [payload, *_] = hooks.pending()

    assert await hooks.post(payload) == 401
    assert await hooks.handshake() == 200
    assert await hooks.post(payload, signature="") == 401
    assert await hooks.post(payload, signature="sha256=00") == 401
    assert await hooks.post(payload) == 200
    assert await stranger.handshake() == 200
    assert await stranger.post(payload) == 401
    assert await hooks.post(payload) == 200
    async with aiohttp.ClientSession() as session, session.post(url, data=b"x" * 1_000_001) as response:
        assert response.status == 413

    code, out, _ = await rig.command("check")
    assert code == 0
    assert stranger.verification_token in out
    assert await served.end() == 0
    log = "".join(served.raw)
    assert hooks.verification_token not in log
    assert stranger.verification_token not in log
    assert page


async def test_a_refused_token_ends_the_process_with_one_line(rig: ServeRig) -> None:
    """A chat that can never listen takes everything down, and says which setting is wrong."""
    code, _, err = await rig.command("serve", SLACK_BOT_TOKEN="xoxb-wrong")

    assert code == 1
    [line] = [line for line in err.splitlines() if line.startswith("footnote: ")]
    assert "SLACK_BOT_TOKEN" in line or "Slack" in line
    assert "Traceback" not in err
    assert "xoxb-wrong" not in err


async def test_a_port_that_is_taken_ends_the_process_with_one_line(rig: ServeRig) -> None:
    """The message names the setting."""
    served = await rig.start()
    port = (await served.until_logged("listening"))["http"].rsplit(":", 1)[1]

    code, _, err = await rig.command("serve", HTTP_PORT=port)

    assert code == 2
    assert "HTTP_PORT" in err
    assert "Traceback" not in err


async def test_status_and_why_explain_every_object(rig: ServeRig, workspace: Workspace) -> None:
    """The ledger adds up to all objects; one page is explained by state, root, passages and scopes."""
    parent = workspace.add_page("Handbook")
    child = workspace.add_page("Parking", parent=parent, blocks=[blocks.paragraph("Level 2.")])
    gone = workspace.add_page("Old plans")
    assert (await rig.command("sync"))[0] == 0
    workspace.trash(gone)
    assert (await rig.command("sync", "--full"))[0] == 0

    code, out, err = await rig.command("status", "--json")
    why, explained, _ = await rig.command("why", f"https://www.notion.so/Parking-{child.replace('-', '')}")
    unseen, never, _ = await rig.command("why", "0" * 31 + "1", "--json")
    wrong, _, _ = await rig.command("why", "no link")

    assert code in (0, 1), err
    assert '"objects": 4' in out
    assert '"gone": 1' in out
    assert '"kind": "full"' in out
    assert why == 0
    assert "State: indexed" in explained
    assert "Found through: the top page Handbook, below Handbook." in explained
    assert "Scopes: all" in explained
    assert (unseen, wrong) == (1, 2)
    assert '"seen": false' in never


async def test_a_given_reply_is_marked_when_its_page_changes_and_answers_anew(
    rig: ServeRig, workspace: Workspace
) -> None:
    """The whole way, with a second process beside: answered, the page edited, synced, marked, asked again in
    place."""
    served = await rig.start(NOTION_SYNC_INTERVAL="0")
    await served.until_logged("Slack is connected")
    rig.people.command("C1", "UADMIN", "/resync", "full")
    await rig.synced()
    thread = rig.people.write("C1", "U1", f"<@{BOT_USER}> {QUESTION}")
    await until(lambda: any("28 days" in reply for reply in rig.replies(thread)))

    (page,) = workspace.pages
    workspace.clock.advance(seconds=600)
    workspace.replace_blocks(page, [blocks.paragraph(VACATION.replace("28", "31"))])
    await rig.start(waits=False)
    rig.people.command("C1", "UADMIN", "/resync", "full")
    await until(lambda: any("The source has changed since" in reply for reply in rig.replies(thread)))
    (reply,) = rig.slack.workspace.from_bot(thread=thread)
    rig.people.press("U1", reply, "footnote_again")
    await until(lambda: any("31 days" in one for one in rig.replies(thread)))

    assert len(rig.replies(thread)) == 1
    assert "28 days" not in rig.replies(thread)[0]
    assert await served.end() == 0
