"""Every request of the product and every answer of the stand-in, by Discord's own OpenAPI document.

The document allows 4,000 characters of content, which bots may not send: lengths are the stand-in's business.
"""

from dataclasses import replace
from typing import Any

import pytest

from adapters.chat.discord import check
from core.domain.answers import NoAnswer, NoAnswerReason
from core.domain.questions import Question
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Call, buttons, shown_text
from tests.fakes.discord.permissions import READ_HISTORY, SEND_MESSAGES, Overwrite
from tests.peers.discord.peers import complaint, operation

MENTION = f"<@{BOT_USER}>"


async def a_day(session: Session) -> None:
    """Everything that people do, once."""
    people, world = session.people, session.discord.world
    people.slash(session.alice, session.channel, "ask", question="How long?")
    await session.settled()
    people.slash(session.alice, session.channel, "ask", question="How long?", private=True)
    await session.settled(questions=2)
    people.say(session.alice, session.channel, f"{MENTION} How long?")
    await session.settled(questions=3)
    people.say(session.alice, world.direct(session.alice.id), "How long?")
    await session.settled(questions=4)
    answer = next(message for message in world.from_bot() if "good" in buttons(message))
    for name in ("good", "bad", "continue"):
        pressed = people.press(session.alice, answer, buttons(answer)[name])
        await people.acknowledged(pressed)
    people.submit(pressed, "And for fathers?")
    await session.settled(questions=5)
    said = people.say(session.bob, session.channel, "Ten weeks.", reply_to=answer)
    await session.settled(questions=6)
    for name in ("Answer this", "Keep as answer"):
        await people.acknowledged(people.menu(session.alice, said, name))
    await session.settled(questions=7)
    await people.acknowledged(people.complete(session.alice, session.channel, "ask", "question", "L"))
    for verb in ("status", "gaps", "scope"):
        await people.finished(people.slash(session.admin, session.channel, verb))
    people.slash(session.admin, session.channel, "resync", full=True)
    await session.until(lambda: session.administration.requests and not session.administration.running)
    refused = people.slash(session.alice, session.channel, "ask", question="?")
    await people.finished(refused)


async def calls_of_a_day(*, layout: bool) -> list[Call]:
    """What went over the wire."""
    text = "Fact. " * 1200
    answerer = ScriptedAnswerer(
        lambda question: an_answer(question, text), drafts=("one", "one two"), seconds=0.6
    )
    async with discord_session(answerer, starts=False, layout=layout) as session:
        session.suggestions.texts = ("Leave",)
        await session.start()
        await a_day(session)
    answerer = ScriptedAnswerer(no_answer)
    async with discord_session(answerer, starts=False) as second:
        second.settings = replace(second.settings, expert=str(second.bob.id))
        await second.start()
        second.people.slash(second.alice, second.channel, "ask", question="How long?")
        await second.settled()
        (none,) = second.discord.world.from_bot()
        await second.people.acknowledged(second.people.press(second.alice, none, buttons(none)["expert"]))
        await second.until(lambda: "disabled" in str(none.body["components"]))
        await second.stop()
    return session.discord.calls + second.discord.calls + await calls_of_rare_cases()


async def calls_of_rare_cases() -> list[Call]:
    """Limits told privately, closed channels, an expert after a bad thumb, an answer shared, a long sync."""
    async with discord_session(ScriptedAnswerer(limited), starts=False) as session:
        people, world = session.people, session.discord.world
        session.settings = replace(session.settings, expert=str(session.bob.id))
        await session.start()
        people.slash(session.alice, session.channel, "ask", question="Again?")
        people.say(session.alice, session.channel, f"{MENTION} Again?")
        await session.settled(questions=2)
        session.answerer.answer_with = an_answer
        session.channel.overwrites[BOT_USER] = Overwrite(deny=SEND_MESSAGES)
        people.say(session.alice, session.channel, f"{MENTION} How long?")
        await session.settled(questions=3)
        session.channel.overwrites[BOT_USER] = Overwrite(deny=READ_HISTORY)
        people.say(session.alice, session.channel, f"{MENTION} How long?")
        await session.settled(questions=4)
        session.channel.overwrites.clear()
        answer = await people.finished(people.slash(session.alice, session.channel, "ask", question="?a"))
        opened = await people.acknowledged(people.press(session.alice, answer, buttons(answer)["bad"]))
        thanks = await people.finished(people.submit(opened, "outdated"))
        await people.acknowledged(people.press(session.alice, thanks, buttons(thanks)["expert"]))
        await session.until(lambda: "disabled" in str(thanks.body["components"]))
        asked = people.slash(session.alice, session.channel, "ask", question="?b", private=True)
        private = await people.finished(asked)
        await people.finished(people.press(session.alice, private, buttons(private)["share"]))
        session.administration.before_step = lambda step: (
            world.clock.advance(14.5 * 60) if step == 2 else None
        )
        people.slash(session.admin, session.channel, "resync")
        await session.until(lambda: any("is done" in shown_text(one) for one in world.from_bot()))
        await check(replace(session.settings, guild_ids=(session.guild.id, 123)))
        await session.stop()
        return session.discord.calls


def limited(_: Question) -> NoAnswer:
    """Asked too much."""
    return NoAnswer(reason=NoAnswerReason.LIMIT_REACHED, language="en", wait=60.0)


@pytest.mark.parametrize("layout", [True, False])
async def test_discords_own_document_has_nothing_against_our_requests(*, layout: bool) -> None:
    """Paths, methods and bodies, whatever people do."""
    calls = await calls_of_a_day(layout=layout)

    complaints = []
    for call in calls:
        found = operation(call.method, call.path)
        if found is None:
            complaints.append(f"no operation {call.method} {call.path}")
            continue
        content = found[1].get("requestBody", {}).get("content", {})
        told = content.get("application/json")
        if told is not None and (why := complaint(told["schema"], _as_sent_by_others(call.body))):
            complaints.append(f"{call.method} {found[0]}: {why}")
    assert complaints == []
    assert len(calls) > 50


async def test_discords_own_document_has_nothing_against_the_stand_ins_answers() -> None:
    """So that the stand-in cannot drift away from what it stands for."""
    calls = await calls_of_a_day(layout=True)

    complaints = []
    for call in calls:
        found = operation(call.method, call.path)
        assert found is not None
        responses = found[1]["responses"]
        told = responses.get(str(call.status)) or responses.get(f"{call.status // 100}XX")
        if told is None:
            complaints.append(f"{call.method} {found[0]}: no answer {call.status}")
            continue
        content = told.get("content", {}).get("application/json")
        if content is not None and (why := complaint(content["schema"], call.answer)):
            complaints.append(f"{call.method} {found[0]} {call.status}: {why}")
    assert sorted(set(complaints)) == []


def _as_sent_by_others(body: Any) -> Any:
    """Ids as texts: the library writes some of them as numbers, which Discord takes as well."""
    if not isinstance(body, dict):
        return body
    made = dict(body)
    if "data" in made:
        made["data"] = _as_sent_by_others(made["data"])
    if "recipient_id" in made:
        made["recipient_id"] = str(made["recipient_id"])
    if reference := made.get("message_reference"):
        ids = {key: str(value) for key, value in reference.items() if key.endswith("_id")}
        made["message_reference"] = reference | ids
    if allowed := made.get("allowed_mentions"):
        lists = {key: list(map(str, allowed[key])) for key in ("users", "roles") if key in allowed}
        made["allowed_mentions"] = allowed | lists
    return made
