"""The rules of a file under Discord's real client: channels, roles, and everything that nobody named."""

from bot.scopes.reading import read_footnote_file
from tests.adapters.chat.answers import page_id
from tests.adapters.chat.discord.harness import discord_session

RULES = """
[scopes.handbook]
include = ["{handbook}"]
[scopes.board]
include = ["{board}"]
[discord]
[discord.roles]
{role} = ["board"]
[discord.channels]
{channel} = ["handbook"]
"""


async def test_shr4_the_real_rules_decide_and_what_they_do_not_name_sees_nothing() -> None:
    """A mapped channel, a role in a direct message, and everything else: fail closed."""
    async with discord_session(starts=False) as session:
        world = session.discord.world
        (role,) = session.guild.members[session.admin.id]
        other = world.add_channel(session.guild, "random")
        text = RULES.format(handbook=page_id(1), board=page_id(2), role=role, channel=session.channel.id)
        rules = read_footnote_file(text, name="footnote.toml").rules
        session.audiences = rules  # type: ignore[assignment]  # the real ones instead of the usual
        await session.start()
        session.people.slash(session.alice, session.channel, "ask", question="in the channel?")
        session.people.slash(session.alice, other, "ask", question="elsewhere?")
        session.people.say(session.admin, world.direct(session.admin.id), "with the role?")
        session.people.say(session.alice, world.direct(session.alice.id), "without it?")
        await session.settled(questions=4)

        seen = {question.text: question.audience for question in session.answerer.questions}
        pages = {
            text: [audience.admits((page_id(one),)) for one in (1, 2)] for text, audience in seen.items()
        }
        assert pages == {
            "in the channel?": [True, False],
            "elsewhere?": [False, False],
            "with the role?": [False, True],
            "without it?": [False, False],
        }
