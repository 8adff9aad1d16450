"""The administrators' verbs: who may, what they show, and progress that outlives the token."""

import logging
from dataclasses import replace
from unittest.mock import Mock

import discord
import pytest

from adapters.chat.discord import DiscordSettings
from adapters.chat.discord.administering import Administering
from adapters.chat.running import Running
from core.domain.audiences import EVERYTHING
from core.errors import UnavailableError
from core.ports.chat import ResyncKind
from tests.adapters.chat.discord.harness import (
    OpenAudiences,
    Session,
    discord_session,
)
from tests.adapters.chat.doubles import ScriptedAdministration
from tests.fakes.discord import BOT_USER, Fault, Message, shown_text
from tests.fakes.discord import permissions as bits
from tests.fakes.discord.permissions import Overwrite

VERBS = ("resync", "reembed", "status", "gaps", "scope", "why")


async def run(session: Session, verb: str, **options: object) -> Message:
    """The administrator's command and its reply."""
    interaction = session.people.slash(session.admin, session.channel, verb, **options)
    return await session.people.finished(interaction)


async def done(session: Session) -> None:
    """Wait until some message says that the run is done."""
    posted = session.discord.world.from_bot
    await session.until(lambda: any("is done" in shown_text(message) for message in posted()))


async def test_dsc5_the_verbs_are_hidden_from_everybody_else_and_from_direct_messages() -> None:
    """Default permissions, guild only, contexts and installs: all four are told to Discord."""
    async with discord_session() as session:
        told = {command["name"]: command for command in session.discord.world.commands[0]}
        direct = session.discord.world.direct(session.admin.id)

        assert session.people.commands(session.alice, session.channel) == ("ask",)
        assert set(session.people.commands(session.admin, session.channel)) == {"ask", *VERBS}
        assert session.people.commands(session.admin, direct) == ("ask",)
        for verb in VERBS:
            assert told[verb]["default_member_permissions"] == str(1 << 5)
            assert told[verb]["contexts"] == [0]
            assert told[verb]["integration_types"] == [0]


@pytest.mark.parametrize("verb", VERBS)
async def test_t16_dsc5_an_override_does_not_let_a_member_run_a_verb(
    verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Refused in private, nothing is queued, and the log names who wanted what."""
    caplog.set_level(logging.INFO, logger="adapters")
    async with discord_session() as session:
        session.guild.command_overrides[verb] = {session.alice.id}
        options = {"link": "https://www.notion.so/x"} if verb == "why" else {}
        interaction = session.people.slash(session.alice, session.channel, verb, **options)
        told = await session.people.finished(interaction)

        assert "only administrators" in shown_text(told)
        assert told.ephemeral_for == session.alice.id
        assert session.administration.requests == []
        assert f"refused: {session.alice.id}" in caplog.text


async def test_dsc5_people_and_roles_of_the_settings_administer_too() -> None:
    """Beside those who may manage the server."""
    async with discord_session(starts=False) as session:
        role = session.discord.world.add_role(session.guild, "Librarians")
        session.discord.world.join(session.bob, session.guild, role)
        session.settings = replace(
            session.settings, admins=frozenset({session.alice.id}), admin_roles=frozenset({role.id})
        )
        session.guild.command_overrides["status"] = {session.alice.id, session.bob.id}
        await session.start()
        for user in (session.alice, session.bob):
            interaction = session.people.slash(user, session.channel, "status")
            assert "**Index**" in shown_text(await session.people.finished(interaction))


async def test_dsc5_people_and_roles_of_the_rules_follow_the_rules() -> None:
    """Whom the file names is asked when a command is used, not when the bot was started."""
    async with discord_session(starts=False) as session:
        role = session.discord.world.add_role(session.guild, "Librarians")
        session.discord.world.join(session.bob, session.guild, role)
        session.guild.command_overrides["status"] = {session.alice.id, session.bob.id}
        await session.start()
        for user, named in ((session.alice, session.alice.id), (session.bob, role.id)):
            for admins, expected in (
                (frozenset[str](), "only administrators"),
                (frozenset({str(named)}), "**Index**"),
                (frozenset[str](), "only administrators"),
            ):
                session.audiences.admins = admins
                interaction = session.people.slash(user, session.channel, "status")
                assert expected in shown_text(await session.people.finished(interaction))


async def test_dsc5_managers_of_a_server_that_the_settings_do_not_name_administer_nothing() -> None:
    """Whoever adds the bot to a server of theirs gains nothing by it."""
    async with discord_session(starts=False) as session:
        elsewhere = session.discord.world.add_guild("Elsewhere")
        channel = session.discord.world.add_channel(elsewhere, "general")
        owner = session.discord.world.users[elsewhere.owner]
        session.settings = replace(session.settings, guild_ids=(session.guild.id, elsewhere.id))
        await session.start()
        await session.stop()
        # Nothing tells any more that commands were registered there, so they stay.
        session.records.values.clear()
        session.settings = replace(session.settings, guild_ids=(session.guild.id,))
        await session.start()
        interaction = session.people.slash(owner, channel, "resync")
        told = await session.people.finished(interaction)

        assert told.ephemeral_for == owner.id
        assert session.administration.requests == []


async def test_resync_shows_its_progress_in_one_message() -> None:
    """From the ticket to the end, for everybody in the channel."""
    async with discord_session() as session:
        session.people.slash(session.admin, session.channel, "resync", full=True)
        await done(session)

        (message,) = session.discord.world.from_bot()
        assert session.administration.requests == [(ResyncKind.FULL, f"discord:{session.admin.id}")]
        assert shown_text(message) == "✅ Sync 1 (full) is done: 4 of 4 pages."
        assert message.edits >= 2


async def test_a_second_resync_joins_and_says_so() -> None:
    """One run, one message that follows it."""
    async with discord_session() as session:
        session.administration.step_seconds = 0.3
        await run(session, "resync")
        told = await run(session, "resync", full=True)
        await done(session)

        assert "joined it. It became a full one." in shown_text(told)
        assert len(session.discord.world.from_bot()) == 2


async def test_progress_moves_to_the_channel_before_the_token_ends() -> None:
    """A run of an hour ends in a plain message that goes on where the first one stopped."""
    async with discord_session() as session:
        session.administration.steps = 8
        session.administration.before_step = lambda step: (
            session.discord.world.clock.advance(14.5 * 60) if step == 4 else None
        )
        session.people.slash(session.admin, session.channel, "resync")
        await done(session)

        first, second = session.discord.world.from_bot()
        where = f"{session.guild.id}/{session.channel.id}/{second.id}"
        await session.until(lambda: shown_text(first) == f"→ https://discord.com/channels/{where}")
        assert second.token == ""
        assert 404 not in [call.status for call in session.discord.calls]


async def test_status_shows_checks_and_a_chart() -> None:
    """A picture, and bars for those who cannot see it; privately."""
    async with discord_session() as session:
        message = await run(session, "status")

        text = shown_text(message)
        assert message.ephemeral_for == session.admin.id
        assert r"token \<refused\> → set NOTION\_TOKEN" in text
        assert "indexed  ████████████████████ 30" in text
        assert [one["filename"] for one in message.body["attachments"]] == ["pages.png"]
        assert session.discord.rest.files[0].startswith(b"\x89PNG")


async def test_gaps_scope_and_why_are_private_and_inert() -> None:
    """What people asked and pages say pings nobody here either."""
    async with discord_session() as session:
        for verb, options, expected in (
            ("gaps", {}, "4 × Where is"),
            ("scope", {}, "This channel (public)"),
            ("why", {"link": "https://www.notion.so/x"}, "was seen today"),
            ("why", {"link": "nonsense"}, "no page id"),
        ):
            message = await run(session, verb, **options)
            assert expected in shown_text(message)
            assert "@everyone" not in shown_text(message)
            assert message.ephemeral_for == session.admin.id
        assert session.administration.gap_viewers == [EVERYTHING]


async def test_dsc9_a_verb_that_fails_tells_its_id(caplog: pytest.LogCaptureFixture) -> None:
    """One short message after the deferral."""
    async with discord_session() as session:
        session.administration.error = UnavailableError("database is away")
        message = await run(session, "status")

        incident = shown_text(message).split("(id ")[1].rstrip(")")
        assert incident in caplog.text
        assert "database is away" not in shown_text(message)


async def test_progress_that_may_not_move_to_the_channel_goes_on_with_whoever_asked() -> None:
    """A command can be run where the bot cannot write."""
    async with discord_session(starts=False) as session:
        session.closed.overwrites[session.admin.id] = Overwrite(allow=bits.VIEW_CHANNEL)
        session.closed.overwrites[BOT_USER] = Overwrite(deny=bits.SEND_MESSAGES | bits.VIEW_CHANNEL)
        await session.start()
        session.administration.steps = 8
        session.administration.before_step = lambda step: (
            session.discord.world.clock.advance(14.5 * 60) if step == 4 else None
        )
        session.people.slash(session.admin, session.closed, "resync")
        await done(session)

        direct = session.discord.world.direct(session.admin.id)
        (moved,) = session.discord.world.from_bot(direct.id)
        (first,) = session.discord.world.from_bot(session.closed.id)
        assert "is done" in shown_text(moved)
        await session.until(lambda: f"/{direct.id}/{moved.id}" in shown_text(first))


async def test_a_process_that_ends_leaves_its_progress_to_the_next_one() -> None:
    """It does not wait for the sync; the message says so, and goes on after the restart."""
    async with discord_session(drain_seconds=60.0) as session:
        session.administration.steps, session.administration.step_seconds = 1_000, 0.5
        session.people.slash(session.admin, session.channel, "resync")
        await session.until(lambda: "0 of 1000" in "".join(map(shown_text, session.discord.world.from_bot())))
        await session.stop()

        (message,) = session.discord.world.from_bot()
        assert "being restarted" in shown_text(message)
        session.administration.steps = 3
        await session.start()
        await done(session)
        (again,) = session.discord.world.from_bot()
        assert again.id == message.id


async def test_a_status_without_the_right_to_attach_files_has_its_bars() -> None:
    """The picture is the lesser part of it."""
    async with discord_session() as session:
        session.discord.provoke(Fault("POST", "/webhooks/", status=403, code=50013))
        message = await run(session, "status")

        assert "indexed  ████████████████████ 30" in shown_text(message)
        assert message.body["attachments"] == []


async def test_dsc5_whoever_the_rules_name_administers_and_nobody_does_in_a_direct_message() -> None:
    """The file's administrators count beside the settings'; outside of a server nobody's roles are known."""
    async with discord_session() as session:
        session.audiences.admins = frozenset({str(session.alice.id)})
        session.guild.command_overrides["status"] = {session.alice.id}
        interaction = session.people.slash(session.alice, session.channel, "status")
        assert "**Index**" in shown_text(await session.people.finished(interaction))

        direct = session.discord.world.direct(session.admin.id)
        for command in session.discord.world.commands[0]:
            command["contexts"] = None
        interaction = session.people.slash(session.admin, direct, "resync")
        assert "only administrators" in shown_text(await session.people.finished(interaction))
        assert session.administration.requests == []


@pytest.mark.parametrize(("guilds", "expected"), [((), True), ((1,), True), ((2,), False)])
def test_dsc5_managing_a_server_counts_only_in_servers_of_the_settings(
    guilds: tuple[int, ...], *, expected: bool
) -> None:
    """And where none is named, in all that the bot is in."""
    settings = DiscordSettings(token="x", guild_ids=guilds, admin_roles=frozenset({7}))
    administering = Administering(
        settings=settings,
        administration=ScriptedAdministration(),
        audiences=OpenAudiences(),
        following=Mock(),
        running=Running(),
    )
    manager, librarian, member = (
        Mock(spec=discord.Member),
        Mock(spec=discord.Member),
        Mock(spec=discord.Member),
    )
    for user, may, roles in ((manager, True, []), (librarian, False, [Mock(id=7)]), (member, False, [])):
        user.id, user.roles, user.pending = 5, roles, False
        user.guild_permissions = discord.Permissions(manage_guild=may)
    interaction = Mock(guild_id=1, channel=None, channel_id=3, id=4, locale=discord.Locale.british_english)

    admitted = []
    for user in (manager, librarian, member):
        interaction.user = user
        admitted.append(administering.is_admin(interaction))

    assert admitted == [expected, expected, False]
