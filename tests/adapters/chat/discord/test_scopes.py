"""Who sees what: from Discord's server, channel and roles to a place, and from there to an audience."""

from dataclasses import replace

from core.domain.audiences import NOTHING
from core.domain.places import AskerKind, ChannelKind
from tests.adapters.chat.discord.harness import OpenAudiences, discord_session
from tests.fakes.discord import BOT_USER, Channel, shown_text
from tests.fakes.discord.permissions import VIEW_CHANNEL, Overwrite
from tests.fakes.discord.world import PRIVATE_THREAD, PUBLIC_THREAD


async def test_shr4_a_place_has_server_channel_and_roles_by_their_ids() -> None:
    """Taken from what the server tells, never from text."""
    async with discord_session() as session:
        session.people.slash(session.admin, session.channel, "ask", question="How long?")
        await session.settled()

        (place,) = session.audiences.places
        assert (place.platform, place.workspace) == ("discord", str(session.guild.id))
        assert (place.channel, place.channel_kind) == (str(session.channel.id), ChannelKind.PUBLIC)
        assert (place.asker, place.asker_kind) == (str(session.admin.id), AskerKind.MEMBER)
        assert place.groups == frozenset(str(role) for role in session.guild.members[session.admin.id])


async def test_shr4_a_channel_closed_to_everyone_is_private_and_its_threads_with_it() -> None:
    """By the overwrite of the role that everybody has; threads belong to their channel."""
    async with discord_session(starts=False) as session:
        world = session.discord.world
        session.closed.overwrites[session.alice.id] = Overwrite(allow=VIEW_CHANNEL)
        kinds = (
            (PUBLIC_THREAD, session.channel),
            (PRIVATE_THREAD, session.channel),
            (PUBLIC_THREAD, session.closed),
        )
        threads = []
        for kind, parent in kinds:
            thread = Channel(
                id=world.new_id(), name="thread", guild=session.guild.id, type=kind, parent=parent.id
            )
            world.channels[thread.id] = thread
            threads.append(thread)
        await session.start()
        for number, channel in enumerate((session.closed, *threads), start=1):
            session.people.slash(session.alice, channel, "ask", question="How long?")
            await session.settled(questions=number)

        places = session.audiences.places
        assert [place.channel_kind for place in places] == [
            ChannelKind.PRIVATE,
            ChannelKind.PUBLIC,
            ChannelKind.PRIVATE,
            ChannelKind.PRIVATE,
        ]
        expected = [session.closed, session.channel, session.channel, session.closed]
        assert [place.channel for place in places] == [str(channel.id) for channel in expected]


async def test_shr4_a_private_question_is_read_by_its_asker_alone() -> None:
    """The roles stay, the channel does not count."""
    async with discord_session() as session:
        session.people.slash(session.admin, session.channel, "ask", question="How long?", private=True)
        await session.settled()

        (place,) = session.audiences.places
        assert (place.channel, place.channel_kind) == ("", ChannelKind.DIRECT)
        assert place.groups


async def test_shr4_a_direct_message_gets_what_the_roles_in_our_server_allow() -> None:
    """Asked of the server at that moment, not of a copy."""
    async with discord_session() as session:
        direct = session.discord.world.direct(session.admin.id)
        session.people.say(session.admin, direct, "How long?")
        await session.settled()

        (place,) = session.audiences.places
        assert (place.workspace, place.asker_kind) == (str(session.guild.id), AskerKind.MEMBER)
        assert place.groups == frozenset(str(role) for role in session.guild.members[session.admin.id])


async def test_shr4_a_stranger_in_a_direct_message_gets_the_public_audience() -> None:
    """Whoever is in none of our servers."""
    async with discord_session() as session:
        stranger = session.discord.world.add_user("stranger")
        direct = session.discord.world.direct(stranger.id)
        session.people.say(stranger, direct, "How long?")
        await session.settled()

        (place,) = session.audiences.places
        assert (place.workspace, place.asker_kind) == ("", AskerKind.EXTERNAL)
        assert session.answerer.questions[0].audience.name == "public"


async def test_shr4_a_member_of_somebody_elses_server_gains_nothing_in_a_direct_message() -> None:
    """With two servers and none configured, no roles count; with ours configured, ours do."""
    async with discord_session(starts=False) as session:
        world = session.discord.world
        elsewhere = world.add_guild("Elsewhere")
        mallory = world.add_user("mallory")
        world.join(mallory, elsewhere, world.add_role(elsewhere, "Board"))
        await session.start()
        session.people.say(mallory, world.direct(mallory.id), "How long?")
        await session.settled()
        await session.stop()
        session.settings = replace(session.settings, guild_ids=(session.guild.id,))
        await session.start()
        session.people.say(mallory, world.direct(mallory.id), "How long?")
        session.people.say(session.admin, world.direct(session.admin.id), "How long?")
        await session.settled(questions=3)

        kinds = {(place.asker, place.asker_kind) for place in session.audiences.places}
        assert kinds == {(str(mallory.id), AskerKind.EXTERNAL), (str(session.admin.id), AskerKind.MEMBER)}


async def test_shr4_a_member_who_has_not_accepted_the_rules_is_a_guest() -> None:
    """Membership screening comes before trust."""
    async with discord_session() as session:
        session.guild.pending.add(session.alice.id)
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> How long?")
        await session.settled()

        assert session.audiences.places[0].asker_kind is AskerKind.GUEST


async def test_shr4_where_nobody_may_ask_the_reply_says_so_and_nothing_is_searched() -> None:
    """The file decides."""
    async with discord_session(starts=False) as session:
        session.audiences = OpenAudiences(closed=frozenset({str(session.channel.id)}))
        await session.start()
        interaction = session.people.slash(session.alice, session.channel, "ask", question="How long?")

        assert "may not answer" in shown_text(await session.people.finished(interaction))
        assert session.answerer.questions == []


async def test_shr4_a_server_that_the_bot_is_not_in_sees_least() -> None:
    """Commands can be installed without the bot: nothing tells of the channel, nor of anybody's roles."""
    async with discord_session() as session:
        world = session.discord.world
        unknown = world.add_guild("Commands only")
        channel = world.add_channel(unknown, "general")
        world.join(session.alice, unknown, world.add_role(unknown, "Board"))
        session.people.slash(session.alice, channel, "ask", question="How long?")
        await session.settled()

        (place,) = session.audiences.places
        assert (place.channel_kind, place.groups) == (ChannelKind.SHARED, frozenset())
        assert session.answerer.questions[0].audience is NOTHING
