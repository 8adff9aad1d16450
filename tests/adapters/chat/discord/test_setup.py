"""Registering commands only when they changed, what `footnote check` tells, and where requests go."""

import logging
from dataclasses import replace
from pathlib import Path

import discord
import pytest

from adapters.chat.discord import DiscordSettings, FileRecords, calls, check, client, registering
from adapters.chat.discord.client import intents_for
from adapters.chat.discord.doctor import PERMISSIONS, invite_link
from core.errors import RefusedError
from tests.adapters.chat.discord.harness import MemoryRecords, discord_session
from tests.fakes.discord import APPLICATION, BOT_USER, Fault, shown_text


async def test_dsc6_commands_are_registered_once_and_not_at_every_start() -> None:
    """The second start asks for nothing."""
    async with discord_session() as session:
        await session.stop()
        await session.start()

        assert session.statuses("PUT", "/commands$") == [200]
        assert len(session.discord.world.commands[0]) == 9


async def test_dsc6_a_changed_set_is_registered_again() -> None:
    """What was noted of another set does not count."""
    async with discord_session() as session:
        await session.stop()
        session.records.values = dict.fromkeys(session.records.values, "hash of an older version")
        await session.start()

        assert session.statuses("PUT", "/commands$") == [200, 200]


async def test_dsc6_in_named_servers_commands_appear_at_once_and_nowhere_twice() -> None:
    """The global set is emptied."""
    async with discord_session(starts=False) as session:
        session.settings = replace(session.settings, guild_ids=(session.guild.id,))
        await session.start()

        commands = session.discord.world.commands
        assert (len(commands[session.guild.id]), commands[0]) == (9, [])
        assert session.people.commands(session.alice, session.channel) == ("ask",)
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.settled()


async def test_dsc6_a_failure_to_register_does_not_stop_the_bot(caplog: pytest.LogCaptureFixture) -> None:
    """Mentions work without commands; the next start tries again."""
    async with discord_session(starts=False) as session:
        session.discord.provoke(Fault("PUT", "/commands$", status=403, code=50001))
        await session.start()
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> How long?")
        await session.settled()

        assert "could not be registered" in caplog.text
        assert session.records.values == {}


async def test_dsc6_records_survive_in_a_file_and_a_broken_file_is_no_failure(tmp_path: Path) -> None:
    """One registration more is the worst that can happen."""
    path = tmp_path / "home" / "commands.json"
    records = FileRecords(path)
    await records.put("1:global", "abc")
    assert await FileRecords(path).get("1:global") == "abc"

    path.write_text("{broken", encoding="utf-8")

    assert await records.get("1:global") == ""
    await records.put("1:global", "def")
    assert await records.get("1:global") == "def"


def test_dsc8_no_privileged_intent_is_asked_for_unless_set() -> None:
    """Servers, their messages, direct messages."""
    plain, reading = (intents_for(message_content=on) for on in (False, True))

    assert not any((plain.members, plain.presences, plain.message_content))
    assert plain.guilds
    assert plain.guild_messages
    assert plain.dm_messages
    assert reading.message_content
    assert not any((reading.members, reading.presences))


async def test_f64_an_intent_that_was_not_granted_is_warned_of_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Discord would close the connection for good (4014); the bot runs with less instead."""
    async with discord_session(message_content=True) as session:
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> How long?")
        await session.settled()

        assert "asked for, but not granted" in caplog.text
        assert session.discord.gateway.closed == []


async def test_check_prints_permissions_and_the_invite_link() -> None:
    """The exact integer, in the link too; only what the bot needs."""
    async with discord_session() as session:
        checks = {one.name: one for one in await check(session.settings)}

        assert all(one.ok for one in checks.values())
        assert checks["Discord permissions"].detail == "309237763072"
        link = checks["Discord invite link"].detail
        assert link == invite_link(APPLICATION)
        assert "permissions=309237763072" in link
        assert "scope=bot+applications.commands" in link
        assert not discord.Permissions(PERMISSIONS.value).administrator


async def test_check_warns_of_an_intent_that_was_not_granted() -> None:
    """And says where to switch it on."""
    async with discord_session(starts=False, message_content=True) as session:
        (*_, before) = await check(session.settings)
        session.discord.world.grants_message_content = True
        (*_, after) = await check(session.settings)

        assert (before.ok, after.ok) == (False, True)
        assert "developer portal" in before.remedy


async def test_a_wrong_token_is_refused_with_what_to_do() -> None:
    """By the check as by the start; the token itself is told to nobody."""
    async with discord_session(starts=False) as session:
        session.settings = replace(session.settings, token="wrong.secret")
        (checked,) = await check(session.settings)
        with pytest.raises(RefusedError, match="DISCORD_TOKEN") as refused:
            await session.start()

        assert not checked.ok
        assert "wrong.secret" not in f"{checked} {refused.value} {session.settings!r}"


async def test_shr3_all_requests_go_to_the_configured_addresses() -> None:
    """REST, webhooks and gateway; the tests' guard forbids any other."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.settled()

        assert session.discord.gateway.identified == 1
        assert {call.path.split("/")[1] for call in session.discord.calls} >= {
            "users", "oauth2", "gateway", "interactions", "webhooks", "applications",
        }  # fmt: skip


def test_shr3_the_defaults_are_discords_own_addresses() -> None:
    """Version 10 of both."""
    settings = DiscordSettings(token="x")

    assert settings.base_url == "https://discord.com/api/v10"
    assert settings.gateway_url == "wss://gateway.discord.gg/"


async def test_a_discord_that_is_away_at_start_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    """A temporary failure ends nothing."""
    caplog.set_level(logging.WARNING, logger="adapters")
    async with discord_session(starts=False) as session:
        session.discord.provoke(Fault("GET", "/gateway/bot$", status=404, code=0))
        await session.start()
        interaction = session.people.slash(session.alice, session.channel, "ask", question="How long?")

        assert "Parental leave" in shown_text(await session.people.finished(interaction))
        assert "trying again" in caplog.text


async def test_memory_records_fit_the_protocol() -> None:
    """What tests use behaves like the file."""
    records = MemoryRecords()
    await records.put("a", "b")

    assert (await records.get("a"), await records.get("c")) == ("b", "")


async def test_dsc6_a_registration_that_hangs_does_not_keep_the_bot_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two hundred creations a day and server: who met that limit is told to wait for hours."""
    monkeypatch.setattr(client, "REGISTER_SECONDS", 0.2)
    async with discord_session(starts=False) as session:
        session.discord.provoke(Fault("PUT", "/commands$", status=429, retry_after=3600.0))
        await session.start()
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> How long?")
        await session.settled()

        assert session.records.values == {}


async def test_dsc6_a_registration_that_failed_for_the_moment_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a restart."""
    monkeypatch.setattr(registering, "AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(calls, "CALL_SECONDS", 1.0)
    async with discord_session(starts=False) as session:
        session.discord.provoke(Fault("PUT", "/commands$", status=503))
        await session.start()
        await session.until(lambda: session.records.values)

        assert session.statuses("PUT", "/commands$")[-1] == 200


async def test_dsc6_servers_that_are_named_no_longer_lose_their_commands() -> None:
    """Else everything would be offered twice there: once by the server's set, once by the global one."""
    async with discord_session(starts=False) as session:
        session.settings = replace(session.settings, guild_ids=(session.guild.id,))
        await session.start()
        await session.stop()
        session.settings = replace(session.settings, guild_ids=())
        await session.start()
        await session.stop()
        await session.start()

        commands = session.discord.world.commands
        assert (commands[session.guild.id], len(commands[0])) == ([], 9)
        assert len(session.statuses("PUT", "/commands$")) == 4


async def test_dsc6_a_server_that_the_bot_is_added_to_again_gets_its_commands_again() -> None:
    """Discord forgets a server's commands with the bot; what we noted of it is then worth nothing."""
    async with discord_session(starts=False) as session:
        elsewhere = session.discord.world.add_guild("Second")
        session.settings = replace(session.settings, guild_ids=(session.guild.id, elsewhere.id))
        await session.start()
        session.discord.gateway.remove_guild(elsewhere.id)
        session.discord.world.commands[elsewhere.id] = []
        session.discord.gateway.add_bot(elsewhere.id)
        await session.until(lambda: session.discord.world.commands[elsewhere.id])

        assert len(session.discord.world.commands[elsewhere.id]) == 9


async def test_check_names_servers_that_the_bot_is_not_in_and_warns_of_a_public_bot() -> None:
    """A wrong id shows before commands are missed; without ids, whoever adds a public bot governs it."""
    async with discord_session(starts=False) as session:
        named = replace(session.settings, guild_ids=(session.guild.id, 123))
        servers = {one.name: one for one in await check(named)}["Discord servers"]
        assert (servers.ok, servers.detail) == (False, "the bot is not in 123")

        named = replace(session.settings, guild_ids=(session.guild.id,))
        session.discord.world.is_bot_public = True
        assert {one.name: one for one in await check(named)}["Discord servers"].ok
        public = {one.name: one for one in await check(session.settings)}["Discord servers"]
        assert "Public Bot" in public.remedy
