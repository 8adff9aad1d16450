"""From a question to its one answer: claimed, worked on in a task, kept alive, drained at the end."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar

import discord

from adapters.chat.discord.asking import PLATFORM, Asked, from_payload
from adapters.chat.discord.calls import EXPIRED, CallError, call, defer
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.directory import Directory
from adapters.chat.discord.escaping import escaped
from adapters.chat.discord.render import Reply, asked_by, notice, render
from adapters.chat.discord.replying import Replying
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.surfaces import ChannelSurface, ExpiredError, InteractionSurface, Surface
from adapters.chat.discord.texts import Text, say
from core.domain.answers import NoAnswer, NoAnswerReason, Outcome
from core.domain.questions import MAX_QUESTION_LENGTH, Conversation, Question, Turn
from core.errors import FootnoteError
from core.ports import Answerer, Clock
from core.ports.chat import AbandonedClaim, Audiences, Claims, ClaimState

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
MAX_TURNS = 5
TAKE_OVER_LIMIT = 10
KEPT_QUESTIONS = 1_000
T = TypeVar("T")
NOTHING_POSTED = "-"
"""Recorded where a question has no reply that could be seen."""


class LostClaimError(Exception):
    """Another process took the question over, since this one did not extend its claim in time."""


class RecentQuestions:
    """What was asked lately by whom, in this process: for the next question, where nothing else tells."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def keep(self, asked: Asked) -> None:
        """Remember a question."""
        self._texts[asked.event, asked.user] = asked.text
        while len(self._texts) > KEPT_QUESTIONS:
            self._texts.popitem(last=False)

    def text(self, question: str, *, user: str) -> str:
        """What somebody asked under this id; empty if it is not known, or somebody else asked."""
        return self._texts.get((question, user), "")


class Answering:
    """Answers claimed questions in tasks that it owns."""

    def __init__(
        self,
        *,
        client: discord.Client,
        settings: DiscordSettings,
        answerer: Answerer,
        claims: Claims,
        audiences: Audiences,
        directory: Directory,
        clock: Clock,
    ) -> None:
        self._client = client
        self._settings = settings
        self._answerer = answerer
        self._claims = claims
        self._audiences = audiences
        self._directory = directory
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self.recent = RecentQuestions()
        self.is_draining = False

    # --- taking questions ---

    async def take_interaction(self, interaction: discord.Interaction, asked: Asked) -> None:
        """Claim a question and tell Discord that an answer will come, within its three seconds.

        The claim is written first, but not waited for longer than the settings allow: with a slow database
        Discord is told before, and the claim still decides who answers.
        """
        if self.is_draining:
            await whisper(interaction, say(Text.RESTARTING, asked.language))
            return
        claiming = asyncio.ensure_future(self._claim(asked))
        done, _ = await asyncio.wait({claiming}, timeout=self._settings.claim_seconds)
        if done and not claiming.exception() and claiming.result() is not ClaimState.TAKEN:
            return
        # An answer in a thread has a private pointer to it.
        in_time = await defer(interaction, private=asked.is_private or bool(asked.posts_in))
        if not in_time:
            asked = replace(asked, token="")
        try:
            state = await claiming
        except FootnoteError as error:
            await self._cannot_claim(asked, error)
            return
        if state is ClaimState.TAKEN:
            self.recent.keep(asked)
            self.start(self._answer(asked, existing=""))

    async def take_message(self, asked: Asked) -> None:
        """Claim and answer a message; a database that is away is told to the asker."""
        if self.is_draining:
            return
        try:
            state = await self._claim(asked)
        except FootnoteError as error:
            await self._cannot_claim(asked, error)
            return
        if state is ClaimState.TAKEN:
            self.start(self._answer(asked, existing=""))

    async def is_follow_up(self, asked: Asked) -> bool:
        """Whether somebody whose question was answered in this thread goes on there without a mention."""
        if not asked.conversation:
            return False
        try:
            return await self._claims.was_answered(PLATFORM, asked.conversation)
        except FootnoteError as error:
            logger.warning("whether a message goes on cannot be looked up: %s", error)
            return False

    async def take_over(self) -> None:
        """Answer what other processes left behind, unless Discord shows that they did answer."""
        abandoned = await self._claims.take_over(
            PLATFORM, lease_seconds=self._settings.lease_seconds, limit=TAKE_OVER_LIMIT
        )
        for claim in abandoned:
            self.start(self._take_over(claim))

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run something in a task that `drain` waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Take nothing more and wait for running answers; those that take too long are handed over."""
        self.is_draining = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._settings.drain_seconds)
        unfinished = tuple(self._tasks)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _claim(self, asked: Asked) -> ClaimState:
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

    async def _take_over(self, claim: AbandonedClaim) -> None:
        try:
            # The claim is found by its first event, whatever the payload says.
            asked = replace(from_payload(claim.payload), event=claim.key.event)
        except (TypeError, ValueError):
            logger.warning("a question of another version cannot be taken over")
            await self._claims.done(claim.key, reply=NOTHING_POSTED)
            return
        logger.info("question %s is taken over, attempt %d", asked.event, claim.attempts)
        try:
            posted = await self._find(asked)
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
            await self._answer(asked, existing=claim.reply)

    async def _find(self, asked: Asked) -> str:
        """The id of the finished reply that an earlier process posted, empty if there is none."""
        surface = self._surface(asked)
        if surface is None:
            return ""
        try:
            found = await surface.find(asked.event)
        except ExpiredError:
            found = ""
        except CallError as error:
            logger.info("a place cannot be searched for a reply: %s", error)
            return ""
        return found

    async def _answer(self, asked: Asked, *, existing: str) -> None:
        replying = self._replying(asked, existing=existing)
        try:
            async with self._held(asked), asyncio.timeout(self._settings.answer_seconds):
                await self._reply_to(asked, replying)
        except asyncio.CancelledError:
            await self._hand_over(asked, replying)
            raise
        except LostClaimError:
            logger.warning("question %s took too long and is now another process's", asked.event)
        except Exception:  # noqa: BLE001 - whatever went wrong, nobody may be left waiting
            await self._fail(asked, replying, Text.FAILED)
        finally:
            await replying.close()

    async def _reply_to(self, asked: Asked, replying: Replying) -> None:
        place = await self._directory.place(asked)
        if not self._audiences.may_ask(place):
            await self._show(asked, replying, notice(escaped(say(Text.NOT_HERE, asked.language))))
            return
        if not any(character.isalnum() for character in asked.text):
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
            outcome = await self._answerer.answer(question, replying)
        header = "" if asked.shows_question else asked_by(asked.name, asked.text, outcome.language)
        reply = render(
            outcome,
            question_id=asked.event,
            asker=asked.user,
            header=header,
            private=asked.is_private,
            expert=not asked.is_direct,
        )
        await self._show(asked, replying, reply)

    async def _show(self, asked: Asked, replying: Replying, reply: Reply) -> None:
        await self._require_claim(asked)
        posted = await replying.finish(reply)
        await self._record(asked, posted or NOTHING_POSTED)
        if asked.posts_in and asked.token:
            await self._point_to_thread(asked)
        logger.info("question %s is answered", asked.event)

    async def _point_to_thread(self, asked: Asked) -> None:
        """The private response to whoever went on: where the answer is."""
        webhook = discord.Webhook.partial(int(asked.application), asked.token, client=self._client)
        try:
            await call(
                "pointing to a thread",
                webhook.send(f"→ <#{asked.posts_in}>", allowed_mentions=NO_MENTIONS, wait=True),
            )
        except FootnoteError as error:
            logger.info("nobody could be pointed to a thread: %s", error)

    async def _require_claim(self, asked: Asked) -> None:
        """Post only what is still ours to post; a database that is away is no reason to keep silent."""
        try:
            is_ours = await self._claims.extend(asked.key, lease_seconds=self._settings.lease_seconds)
        except FootnoteError as error:
            logger.warning("a claim cannot be extended: %s", error)
            return
        if not is_ours:
            raise LostClaimError

    async def _record(self, asked: Asked, posted: str) -> None:
        """Note that it was answered; if that fails, whoever takes over finds the answer in Discord."""
        try:
            await self._claims.done(asked.key, reply=posted)
        except FootnoteError as error:
            logger.warning("question %s is answered, but that cannot be recorded: %s", asked.event, error)

    # --- where the reply goes ---

    def _replying(self, asked: Asked, *, existing: str) -> Replying:
        async def begun(posted: str) -> None:
            with suppress(FootnoteError):
                await self._claims.extend(asked.key, lease_seconds=self._settings.lease_seconds, reply=posted)

        async def fallback() -> Surface | None:
            return await self._fallback(asked)

        return Replying(
            self._surface(asked),
            fallback=fallback,
            begun=begun,
            existing=existing,
            question=asked.event,
            layout=self._settings.layout,
            edit_seconds=self._settings.edit_seconds,
        )

    def _surface(self, asked: Asked) -> Surface | None:
        """Null for an interaction whose token is of no use any more."""
        if asked.posts_in or asked.message:
            return ChannelSurface(self._client, asked)
        if asked.is_open(self._clock.now(), seconds=self._settings.token_seconds):
            return InteractionSurface(self._client, asked)
        return None

    async def _fallback(self, asked: Asked) -> Surface | None:
        """After the token expired: the channel, or for a private reply the asker's direct messages."""
        if not asked.is_private:
            return ChannelSurface(self._client, asked)
        try:
            user = await call("looking up a user", self._client.fetch_user(int(asked.user)))
            direct = await call("opening a direct message", user.create_dm())
        except FootnoteError as error:
            logger.warning("a late private answer cannot be sent: %s", error)
            return None
        return ChannelSurface(self._client, asked, channel=str(direct.id))

    # --- keeping, failing, handing over ---

    @asynccontextmanager
    async def _held(self, asked: Asked) -> AsyncIterator[None]:
        """Extend the claim for as long as the work goes on."""

        async def extend() -> None:
            lease = self._settings.lease_seconds
            while True:
                await asyncio.sleep(lease / 3)
                try:
                    await self._claims.extend(asked.key, lease_seconds=lease)
                except FootnoteError as error:
                    logger.warning("a claim cannot be extended: %s", error)

        task = asyncio.create_task(extend())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _fail(self, asked: Asked, replying: Replying, text: Text) -> None:
        """One polite line with an id that the log has too; no internals."""
        if await self._show_failure(asked, replying, text):
            await self._record(asked, replying.first or NOTHING_POSTED)

    async def _show_failure(self, asked: Asked, replying: Replying, text: Text) -> bool:
        incident = secrets.token_hex(4)
        logger.exception("question %s could not be answered, incident %s", asked.event, incident)
        try:
            await replying.finish(notice(escaped(say(text, asked.language, id=incident))))
        except FootnoteError as error:
            # Where Discord refuses for good, nobody can be told; else the question is taken over.
            logger.warning("incident %s could not be told to the asker: %s", incident, error)
            return isinstance(error, CallError)
        return True

    async def _hand_over(self, asked: Asked, replying: Replying) -> None:
        """At shutdown: say so, and let go of the claim, so that the next process goes on at once."""
        posted = await _bounded(replying.interrupt(escaped(say(Text.RESTARTING, asked.language))))
        await _bounded(self._claims.extend(asked.key, lease_seconds=0, reply=posted or replying.first))


async def whisper(interaction: discord.Interaction, text: str) -> None:
    """Tell the person alone; an interaction that is gone is no reason to fail. ``text`` is shown as it is."""
    drawn = escaped(text)
    try:
        if interaction.response.is_done():
            await call(
                "a followup",
                interaction.followup.send(
                    drawn, ephemeral=True, allowed_mentions=NO_MENTIONS, suppress_embeds=True
                ),
            )
        else:
            await call(
                "a response",
                interaction.response.send_message(
                    drawn, ephemeral=True, allowed_mentions=NO_MENTIONS, suppress_embeds=True
                ),
            )
    except CallError as error:
        level = logging.INFO if error.code in EXPIRED else logging.WARNING
        logger.log(level, "interaction %d could not be told: %s", interaction.id, error)
    except (FootnoteError, discord.InteractionResponded) as error:
        logger.warning("interaction %d could not be told: %s", interaction.id, error)


async def _bounded(work: Awaitable[T]) -> T | None:
    """What is done while everything ends: not for long, and never the reason of a failure."""
    try:
        return await asyncio.wait_for(work, timeout=5)
    except (FootnoteError, TimeoutError) as error:
        logger.warning("a reply could not be handed over: %s", error)
        return None
