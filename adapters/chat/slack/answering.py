"""From a claimed question to its one answer: worked on in a task, kept alive, drained at the end."""

import asyncio
import logging
import secrets
import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

from adapters.chat.holding import LostClaimError, held, record, require
from adapters.chat.running import Running, bounded
from adapters.chat.slack.asking import PLATFORM, Asked, from_payload
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.finding import INTENDED, Found, find_reply
from adapters.chat.slack.marking import Marking
from adapters.chat.slack.private import (
    KEPT_SECONDS,
    kept_answer,
    may_be_shared,
    private_bodies,
    private_line,
)
from adapters.chat.slack.render import Message, notice, render
from adapters.chat.slack.replying import Reply
from adapters.chat.slack.settings import SlackSettings
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.turns import earlier_turns
from adapters.chat.slack.web import CallError, SlackWeb
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.phrases import no_answer_text
from core.domain.questions import MAX_QUESTION_LENGTH, Conversation, Question
from core.errors import FootnoteError
from core.ports import Answerer, Clock
from core.ports.chat import AbandonedClaim, Audiences, Claims, ClaimState, KeptAnswers

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
MAX_UNREADABLE = 10
"""So often a question is looked at whose thread cannot be read."""

NOTHING_POSTED = "-"
"""Recorded where a question has no reply of ours in the channel."""


class Answering:
    """Answers claimed questions in tasks that it owns."""

    def __init__(  # noqa: PLR0913 - one port each, given by name at one place
        self,
        *,
        web: SlackWeb,
        settings: SlackSettings,
        answerer: Answerer,
        claims: Claims,
        kept: KeptAnswers,
        audiences: Audiences,
        directory: Directory,
        clock: Clock,
        bot_user: str,
        marking: Marking,
        running: Running,
    ) -> None:
        self._marking = marking
        self._web = web
        self._settings = settings
        self._answerer = answerer
        self._claims = claims
        self._kept = kept
        self._audiences = audiences
        self._directory = directory
        self._clock = clock
        self._bot_user = bot_user
        self._running = running

    # --- taking questions ---

    async def take(self, asked: Asked) -> bool:
        """Claim a question and begin to answer it; false if it is somebody's already.

        Raises:
            FootnoteError: no claim could be written, so Slack must deliver the question again.
        """
        state = await self._claims.claim(
            asked.key,
            payload=asked.as_payload(),
            lease_seconds=self._settings.lease_seconds,
            thread=asked.conversation,
        )
        if state is not ClaimState.TAKEN:
            return False
        self._running.start(
            self._keeping(asked, self._answer(asked, existing=next(iter(asked.replaces), "")))
        )
        return True

    async def is_follow_up(self, asked: Asked) -> bool:
        """Whether somebody whose question was answered in this thread goes on there without a mention."""
        if not self._settings.follow_ups or asked.thread == asked.message:
            return False
        return await self._claims.was_answered(PLATFORM, asked.conversation)

    # --- answering ---

    async def go_on(self, claim: AbandonedClaim) -> None:
        """Answer what another process left behind, unless the thread shows that it did answer."""
        try:
            asked = from_payload(claim.payload)
        except TypeError:
            logger.warning("a question of another version cannot be taken over")
            await self._claims.done(claim.key, reply=NOTHING_POSTED)
            return
        # The claim is found by its first event, whatever the payload says.
        asked = replace(asked, event=claim.key.event)
        logger.info("question %s is taken over, attempt %d", asked.event, claim.attempts)
        await self._keeping(asked, self._go_on(asked, claim))

    async def _go_on(self, asked: Asked, claim: AbandonedClaim) -> None:
        try:
            # What is asked again is answered in place: doing that twice is doing it once.
            is_unseen = asked.is_private or asked.again or not claim.reply
            found = Found() if is_unseen else await self._found(asked)
        except FootnoteError as error:
            await self._wait_or_give_up(asked, claim, error)
            return
        if found.finished:
            logger.info("question %s had been answered before the crash", asked.event)
            await self._claims.done(asked.key, reply=found.finished)
            return
        begun = claim.reply.removeprefix(INTENDED) or asked.again
        existing, *others = [begun, *(ts for ts in found.pieces if ts != begun)]
        if not existing and others:
            existing, *others = others
        for ts in others:
            await self._delete(asked, ts)
        if claim.attempts > MAX_ATTEMPTS:
            await self._give_up(asked, existing=existing)
        else:
            await self._answer(asked, existing=existing)

    async def _found(self, asked: Asked) -> Found:
        return await find_reply(self._web, asked, bot_user=self._bot_user)

    async def _wait_or_give_up(self, asked: Asked, claim: AbandonedClaim, error: FootnoteError) -> None:
        """Not knowing whether it was answered: not now, and not for ever."""
        is_hopeless = isinstance(error, CallError) and error.is_of_place
        if is_hopeless or claim.attempts > MAX_UNREADABLE:
            logger.warning("question %s is given up, its thread cannot be read: %s", asked.event, error)
            await self._record(asked, NOTHING_POSTED)
        else:
            logger.warning("a thread cannot be read, its question waits: %s", error)

    async def _give_up(self, asked: Asked, *, existing: str) -> None:
        """Say sorry after several attempts; said or not, nobody tries again."""
        language = (await self._directory.person(asked.user)).language
        reply = self._reply(asked, language=language, existing=existing)
        try:
            await self._fail(asked, reply, Text.GAVE_UP, language=language)
        finally:
            await self._record(asked, reply.ts or NOTHING_POSTED)

    async def _delete(self, asked: Asked, ts: str) -> None:
        try:
            await self._web.delete(channel=asked.channel, ts=ts)
        except FootnoteError as error:
            logger.info("a part of an unfinished answer could not be deleted: %s", error)

    async def _answer(self, asked: Asked, *, existing: str) -> None:
        person = await self._directory.person(asked.user)
        reply = self._reply(asked, language=person.language, existing=existing)
        try:
            try:
                await self._reply_to(asked, reply)
            except LostClaimError:
                raise
            except Exception:  # noqa: BLE001 - whatever went wrong, nobody may be left waiting
                await self._fail(asked, reply, Text.FAILED, language=person.language)
        except asyncio.CancelledError:
            await self._hand_over(asked, reply)
            raise
        except LostClaimError:
            logger.warning("question %s took too long and is now another process's", asked.event)
        finally:
            await reply.close()

    async def _reply_to(self, asked: Asked, reply: Reply) -> None:
        place = await self._directory.place(asked)
        language = (await self._directory.person(asked.user)).language
        if not self._audiences.may_ask(place):
            await self._say(asked, reply, escaped(say(Text.NOT_HERE, language)))
            return
        if asked.wordless:
            await self._say(asked, reply, escaped(say(Text.HOW_TO, language)))
            return
        outcome: Outcome
        if len(asked.text) > MAX_QUESTION_LENGTH:
            outcome = NoAnswer(reason=NoAnswerReason.QUESTION_TOO_LONG, language=language)
        else:
            question = Question(
                id=asked.event,
                text=asked.text,
                asker=asked.user,
                conversation=Conversation(
                    platform=PLATFORM, workspace=asked.team, channel=asked.channel, thread=asked.thread
                ),
                audience=self._audiences.audience_for(place),
                asked_at=self._clock.now(),
                turns=await earlier_turns(self._web, asked, bot_user=self._bot_user),
            )
            # Posting has limits of its own: an answer that waits for its turn to be posted is not late.
            async with asyncio.timeout(self._settings.answer_seconds):
                is_whole = asked.is_private or bool(asked.again)
                outcome = await self._answerer.answer(question, None if is_whole else reply)
        await self._show(asked, reply, outcome)

    async def _show(self, asked: Asked, reply: Reply, outcome: Outcome) -> None:
        if asked.is_private:
            await self._show_privately(asked, outcome)
            await self._record(asked, NOTHING_POSTED)
            return
        await self._require_claim(asked, reply)
        if isinstance(outcome, NoAnswer) and outcome.is_private and not asked.is_direct:
            await self._whisper(asked, outcome)
            await self._record(asked, NOTHING_POSTED)
            return
        ts = await reply.finish(lambda room: render(outcome, question_id=asked.event, room=room))
        posted = time.monotonic()
        await self._record(asked, ts)
        for former in asked.replaces[1:]:
            # What the former answer went on with says nothing any more.
            await self._delete(asked, former)
        if isinstance(outcome, Answer):
            await self._marking.given(asked, ts, outcome)
        # A crash in this window is the one way to a second answer, if Slack does not show the first one yet.
        logger.info(
            "question %s is answered, recorded %.1f ms after it was posted",
            asked.event,
            (time.monotonic() - posted) * 1000,
        )

    async def _whisper(self, asked: Asked, outcome: NoAnswer) -> None:
        """A note that concerns the asker alone, in the thread."""
        await self._whisper_line(
            asked, escaped(no_answer_text(outcome.reason, outcome.language, wait=outcome.wait))
        )

    async def _whisper_line(self, asked: Asked, text: str) -> None:
        await self._web.whisper(
            channel=asked.channel, user=asked.user, message=notice(text), thread=asked.thread
        )

    async def _show_privately(self, asked: Asked, outcome: Outcome) -> None:
        can_share = False
        if isinstance(outcome, Answer) and not asked.is_direct:
            channel = await self._directory.channel_place(asked)
            can_share = may_be_shared(outcome, self._audiences.channel_audience(channel))
            can_share = can_share and await self._keep(asked, outcome)
        for body in private_bodies(asked, outcome, can_share=can_share):
            await self._respond(asked, body)

    async def _keep(self, asked: Asked, answer: Answer) -> bool:
        """Remember an answer for its button; without a memory there is no button."""
        try:
            await self._kept.keep(kept_answer(asked, answer), seconds=KEPT_SECONDS)
        except FootnoteError as error:
            logger.warning("a private answer cannot be kept for sharing: %s", error)
            return False
        return True

    async def _say(self, asked: Asked, reply: Reply, text: str) -> None:
        ts = NOTHING_POSTED
        if asked.is_private:
            await self._respond(asked, private_line(text))
        elif asked.again:
            # The reply that is there says more than why there is no other.
            await self._whisper_line(asked, text)
        else:
            await self._require_claim(asked, reply)
            ts = await reply.say_instead(text)
        await self._record(asked, ts)

    async def _respond(self, asked: Asked, body: Mapping[str, Any]) -> None:
        """Tell the asker alone; where the response URL has expired, in our conversation."""
        try:
            await self._web.respond(asked.response_url, body)
        except CallError as error:
            logger.info("a private answer goes another way: %s", error)
            shown = Message(text=str(body["text"]), blocks=tuple(body.get("blocks") or ()))
            await self._web.post(channel=asked.user, message=shown)

    async def _require_claim(self, asked: Asked, reply: Reply) -> None:
        """Note before a post that we do, if it is still ours to post."""
        lease, intended = self._settings.lease_seconds, reply.ts or INTENDED
        await require(self._claims, asked.key, lease_seconds=lease, reply=intended)

    async def _record(self, asked: Asked, ts: str) -> None:
        await record(self._claims, asked.key, reply=ts)

    # --- keeping, failing, handing over ---

    def _reply(self, asked: Asked, *, language: str, existing: str) -> Reply:
        async def begun(ts: str) -> None:
            try:
                await self._claims.extend(asked.key, lease_seconds=self._settings.lease_seconds, reply=ts)
            except FootnoteError as error:
                if ts == INTENDED:
                    raise
                # It is posted: what was noted before suffices to find it.
                logger.warning("the message of question %s cannot be noted: %s", asked.event, error)

        return Reply(
            self._web,
            asked,
            language=language,
            pace=self._settings.pace,
            begun=begun,
            bot_user=self._bot_user,
            existing=existing,
        )

    async def _keeping(self, asked: Asked, work: Coroutine[None, None, None]) -> None:
        """Hold the claim from the first look-up to the last post, whatever has to be waited for meanwhile."""
        try:
            async with held(self._claims, asked.key, lease_seconds=self._settings.lease_seconds):
                await work
        except asyncio.CancelledError:
            # Let go of it, so that the next process goes on at once.
            await bounded(self._claims.extend(asked.key, lease_seconds=0))
            raise

    async def _fail(self, asked: Asked, reply: Reply, text: Text, *, language: str = "") -> None:
        """One polite line with an id that the log has too; no internals."""
        incident = secrets.token_hex(4)
        logger.exception("question %s could not be answered, incident %s", asked.event, incident)
        line = escaped(say(text, language, id=incident))
        try:
            await self._say(asked, reply, line)
        except LostClaimError:
            raise
        except CallError as error:
            logger.warning("incident %s cannot be told where it was asked: %s", incident, error)
            if error.is_of_place:
                await self._say_elsewhere(asked, line)
        except Exception:  # The lease ends, and the question is taken over.
            logger.exception("incident %s could not be told to the asker", incident)

    async def _say_elsewhere(self, asked: Asked, line: str) -> None:
        """Nothing can be posted where it was asked, now or later: the asker is told in our conversation."""
        try:
            await self._web.post(channel=asked.user, message=notice(line))
        except FootnoteError as error:
            logger.warning("question %s stays without a word: %s", asked.event, error)
        await self._record(asked, NOTHING_POSTED)

    async def _hand_over(self, asked: Asked, reply: Reply) -> None:
        """At shutdown: say so, and note in which message."""
        ts = ""
        if asked.is_private:
            language = (await self._directory.person(asked.user)).language
            await bounded(
                self._web.respond(asked.response_url, private_line(escaped(say(Text.RESTARTING, language))))
            )
        else:
            ts = await bounded(reply.interrupt()) or reply.ts
        lease = self._settings.lease_seconds
        await bounded(self._claims.extend(asked.key, lease_seconds=lease, reply=ts))
