"""From a question to its one answer: claimed, worked on in a task, kept alive, drained at the end."""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

import discord

from adapters.chat.discord.asking import PLATFORM, Asked, from_payload
from adapters.chat.discord.calls import CallError, call, defer
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.directory import Directory
from adapters.chat.discord.escaping import escaped
from adapters.chat.discord.marking import Marking
from adapters.chat.discord.reaching import Surfaces, find_reply, private_surfaces
from adapters.chat.discord.recent import RecentQuestions
from adapters.chat.discord.render import Reply, as_plain, asked_by, notice, render
from adapters.chat.discord.replying import Replying
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.texts import Text, say
from adapters.chat.holding import LostClaimError, held, record, require
from adapters.chat.running import Running, bounded
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.questions import MAX_QUESTION_LENGTH, Conversation, Question, Turn
from core.domain.smalltalk import asks_nothing
from core.errors import FootnoteError, TemporaryError
from core.ports import Answerer, Clock
from core.ports.chat import AbandonedClaim, Audiences, Claims, ClaimState

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
MAX_TURNS = 5
NOTHING_POSTED = "-"
"""Recorded where a question has no reply that could be seen."""

LATER_SECONDS = 30.0
"""When an answer is tried again that Discord did not take, being away itself."""

AFTER_YOU_SECONDS = 0.3
"""How much later than others a process claims that is about to end."""

NOTE_NUMBER = 99
"""Of a private note among the messages of a reply: none that was shown in the channel has it."""


class UndeliveredError(Exception):
    """Discord is away, or too slow for us: the answer is made again later."""


class Answering:
    """Answers claimed questions in tasks that it owns."""

    def __init__(  # noqa: PLR0913 - one port each, given by name at one place
        self,
        *,
        client: discord.Client,
        settings: DiscordSettings,
        answerer: Answerer,
        claims: Claims,
        audiences: Audiences,
        directory: Directory,
        clock: Clock,
        running: Running,
        marking: Marking,
    ) -> None:
        self._client = client
        self._marking = marking
        self._settings = settings
        self._answerer = answerer
        self._claims = claims
        self._audiences = audiences
        self._directory = directory
        self._clock = clock
        self._running = running
        self.recent = RecentQuestions()

    # --- taking questions ---

    async def take_interaction(self, interaction: discord.Interaction, asked: Asked) -> None:
        """Claim a question and tell Discord that an answer will come, within its three seconds.

        The claim is written first, but not waited for longer than the settings allow: with a slow database
        Discord is told before, and the claim still decides who answers.
        """
        claiming = asyncio.ensure_future(self._claim(asked))
        done, _ = await asyncio.wait({claiming}, timeout=self._settings.claim_seconds)
        if done and not claiming.exception() and claiming.result() is not ClaimState.TAKEN:
            return
        # An answer in a thread has a private pointer to it.
        in_time = await defer(
            interaction,
            private=asked.is_private or bool(asked.posts_in),
            in_place=bool(asked.again),
        )
        if not in_time:
            asked = replace(asked, token="")
        try:
            state = await claiming
        except FootnoteError as error:
            await self._cannot_claim(asked, error)
            return
        if state is ClaimState.TAKEN:
            await self._begin(asked)

    async def take_message(self, asked: Asked) -> None:
        """Claim and answer a message; a database that is away is told to the asker."""
        try:
            state = await self._claim(asked)
        except FootnoteError as error:
            await self._cannot_claim(asked, error)
            return
        if state is ClaimState.TAKEN:
            await self._begin(asked)

    async def _begin(self, asked: Asked) -> None:
        """Answer what is claimed now; while everything ends, leave it to the next process instead."""
        if self._running.is_draining:
            await self._hand_over(asked, self._replying(asked, existing=next(iter(asked.replaces), "")))
            return
        if not asked.message:
            # A message can be read again where it was written.
            self.recent.keep(asked)
        self._running.start(self._answer(asked, existing=next(iter(asked.replaces), "")))

    async def is_follow_up(self, asked: Asked) -> bool:
        """Whether somebody whose question was answered in this thread goes on there without a mention."""
        if not asked.conversation:
            return False
        try:
            return await self._claims.was_answered(PLATFORM, asked.conversation)
        except FootnoteError as error:
            logger.warning("whether a message goes on cannot be looked up: %s", error)
            return False

    async def _claim(self, asked: Asked) -> ClaimState:
        if self._running.is_draining:
            # Another process, if there is one, should have it: it can answer at once.
            await asyncio.sleep(AFTER_YOU_SECONDS)
        return await self._claims.claim(
            asked.key,
            payload=asked.as_payload(),
            lease_seconds=self._settings.lease_seconds,
            thread=asked.conversation,
        )

    async def _cannot_claim(self, asked: Asked, error: FootnoteError) -> None:
        logger.error("question %s cannot be claimed: %s", asked.event, error)
        replying = self._replying(asked, existing="")
        await self._show_failure(asked, replying, Text.FAILED)
        await replying.close()

    # --- answering ---

    async def take_over(self, claim: AbandonedClaim) -> None:
        """Answer what another process left behind, unless Discord shows that it did answer."""
        try:
            # The claim is found by its first event, whatever the payload says.
            asked = replace(from_payload(claim.payload), event=claim.key.event)
        except (TypeError, ValueError):
            logger.warning("a question of another version cannot be taken over")
            await self._claims.done(claim.key, reply=NOTHING_POSTED)
            return
        logger.info("question %s is taken over, attempt %d", asked.event, claim.attempts)
        try:
            posted = await find_reply(
                self._client, asked, now=self._clock.now(), token_seconds=self._settings.token_seconds
            )
        except FootnoteError as error:
            logger.warning("what was posted cannot be read, the question waits: %s", error)
            return
        if posted:
            logger.info("question %s had been answered before", asked.event)
            await self._record(asked, posted)
        elif claim.attempts > MAX_ATTEMPTS:
            replying = self._replying(asked, existing=claim.reply)
            await self._fail(asked, replying, Text.GAVE_UP)
            await replying.close()
        else:
            await self._answer(asked, existing=claim.reply or next(iter(asked.replaces), ""))

    async def _answer(self, asked: Asked, *, existing: str) -> None:
        replying = self._replying(asked, existing=existing)
        try:
            async with (
                held(self._claims, asked.key, lease_seconds=self._settings.lease_seconds),
                asyncio.timeout(self._settings.answer_seconds),
            ):
                await self._reply_to(asked, replying)
        except asyncio.CancelledError:
            await self._hand_over(asked, replying)
            raise
        except LostClaimError:
            logger.warning("question %s took too long and is now another process's", asked.event)
        except UndeliveredError as error:
            logger.warning("question %s is answered again later: %s", asked.event, error)
            with suppress(FootnoteError):
                await self._claims.extend(asked.key, lease_seconds=LATER_SECONDS, reply=replying.first)
        except Exception:  # noqa: BLE001 - whatever went wrong, nobody may be left waiting
            await self._fail(asked, replying, Text.FAILED)
        finally:
            await replying.close()

    async def _reply_to(self, asked: Asked, replying: Replying) -> None:
        place = await self._directory.place(asked)
        if not self._audiences.may_ask(place):
            line = notice(escaped(say(Text.NOT_HERE, asked.language)))
            await (self._show_alone if asked.again else self._show)(asked, replying, line)
            return
        if asks_nothing(asked.text):
            await self._show(asked, replying, notice(escaped(say(Text.HOW_TO, asked.language))))
            return
        outcome: Outcome
        if len(asked.text) > MAX_QUESTION_LENGTH:
            outcome = NoAnswer(reason=NoAnswerReason.QUESTION_TOO_LONG, language=asked.language)
        else:
            question = Question(
                id=asked.event,
                text=asked.text,
                asker=asked.user,
                conversation=Conversation(
                    platform=PLATFORM, workspace=asked.guild, channel=asked.channel, thread=asked.posts_in
                ),
                audience=self._audiences.audience_for(place),
                asked_at=self._clock.now(),
                turns=tuple(Turn(text=text) for text in asked.earlier())[-MAX_TURNS:],
            )
            # In the place of a finished reply nothing half-finished is shown.
            outcome = await self._answerer.answer(question, None if asked.again else replying)
        reply = render(
            outcome,
            question_id=asked.event,
            asker=asked.user,
            header=asked_by(asked.name, asked.text, outcome.language),
            private=asked.is_private,
            direct=asked.is_direct,
        )
        if isinstance(outcome, NoAnswer) and outcome.is_private and not asked.is_direct:
            await self._require_claim(asked)
            await self._show_alone(asked, replying, reply)
            return
        await self._show(asked, replying, reply)
        await self._delete(asked, asked.replaces[1:])
        if isinstance(outcome, Answer):
            await self._marking.given(asked, channel=replying.where, message=replying.first, answer=outcome)

    async def _delete(self, asked: Asked, messages: Sequence[str]) -> None:
        """What a former answer went on with says nothing any more."""
        channel = self._client.get_partial_messageable(int(asked.channel))
        for message in messages:
            try:
                await call("deleting a message", channel.get_partial_message(int(message)).delete())
            except FootnoteError as error:
                logger.info("a part of a former answer could not be deleted: %s", error)

    async def _show(self, asked: Asked, replying: Replying, reply: Reply) -> None:
        await self._require_claim(asked)
        try:
            posted = await replying.finish(reply)
        except TemporaryError as error:
            raise UndeliveredError(str(error)) from error
        # Before it is recorded: who pressed the button waits for this.
        await self._point_to_thread(asked, replying)
        await self._record(asked, posted or NOTHING_POSTED)
        logger.info("question %s is answered", asked.event)

    async def _show_alone(self, asked: Asked, replying: Replying, reply: Reply) -> None:
        """A note that concerns nobody but the asker, in the channel only where nothing else reaches them."""
        if not asked.again:
            await replying.withdraw()
        surfaces = private_surfaces(
            self._client, asked, now=self._clock.now(), token_seconds=self._settings.token_seconds
        )
        async with aclosing(surfaces):
            async for surface in surfaces:
                shown = replace(reply, header="") if surface.shows_question else reply
                try:
                    await surface.send(as_plain(shown)[0], number=NOTE_NUMBER)
                except FootnoteError as error:
                    logger.info("a note cannot be shown there: %s", error)
                else:
                    break
        await self._record(asked, NOTHING_POSTED)

    async def _point_to_thread(self, asked: Asked, replying: Replying) -> None:
        """The private response to whoever went on: where the answer is."""
        if not (asked.posts_in and asked.token and replying.where == asked.posts_in):
            return
        webhook = discord.Webhook.partial(int(asked.application), asked.token, client=self._client)
        try:
            await call(
                "pointing to a thread",
                webhook.send(f"→ <#{asked.posts_in}>", allowed_mentions=NO_MENTIONS, wait=True),
            )
        except FootnoteError as error:
            logger.info("nobody could be pointed to a thread: %s", error)

    async def _require_claim(self, asked: Asked) -> None:
        await require(self._claims, asked.key, lease_seconds=self._settings.lease_seconds)

    async def _record(self, asked: Asked, posted: str) -> None:
        await record(self._claims, asked.key, reply=posted)

    # --- where the reply goes ---

    def _replying(self, asked: Asked, *, existing: str) -> Replying:
        async def begun(posted: str) -> None:
            with suppress(FootnoteError):
                await self._claims.extend(asked.key, lease_seconds=self._settings.lease_seconds, reply=posted)

        surfaces = Surfaces(
            self._client, asked, now=self._clock.now(), token_seconds=self._settings.token_seconds
        )
        return Replying(
            surfaces,
            begun=begun,
            existing=existing,
            question=asked.event,
            layout=self._settings.layout,
            edit_seconds=self._settings.edit_seconds,
        )

    # --- keeping, failing, handing over ---

    async def _fail(self, asked: Asked, replying: Replying, text: Text) -> None:
        """One polite line with an id that the log has too; no internals."""
        if replying.is_finished:
            # What failed came behind the answer, or the answer came at the very end of its time.
            logger.warning("question %s is answered, and something failed behind that", asked.event)
            await self._record(asked, replying.first or NOTHING_POSTED)
            return
        if await self._show_failure(asked, replying, text):
            await self._record(asked, replying.first or NOTHING_POSTED)

    async def _show_failure(self, asked: Asked, replying: Replying, text: Text) -> bool:
        incident = secrets.token_hex(4)
        logger.exception("question %s could not be answered, incident %s", asked.event, incident)
        line = notice(escaped(say(text, asked.language, id=incident)))
        try:
            if asked.again:
                # The reply that is there says more than that there is no other.
                await self._show_alone(asked, replying, line)
            else:
                await replying.finish(line)
        except FootnoteError as error:
            # Where Discord refuses for good, nobody can be told; else the question is taken over.
            logger.warning("incident %s could not be told to the asker: %s", incident, error)
            return isinstance(error, CallError)
        await self._point_to_thread(asked, replying)
        return True

    async def _hand_over(self, asked: Asked, replying: Replying) -> None:
        """At shutdown: say so, and let go of the claim, so that the next process goes on at once."""
        if replying.is_finished:
            await bounded(self._record(asked, replying.first or NOTHING_POSTED))
            return
        posted = await bounded(replying.interrupt(escaped(say(Text.RESTARTING, asked.language))))
        await bounded(self._claims.extend(asked.key, lease_seconds=0, reply=posted or replying.first))
