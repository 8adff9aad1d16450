"""What Slack delivers, handed to whom it concerns. Claims are written before Slack is told that we have it.

Bolt runs every listener before it responds (``process_before_response``): a listener claims the question,
starts a task, and returns; an error on the way means no acknowledgement, and Slack delivers again.
"""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncAssistant
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse

from adapters.chat.running import Running
from adapters.chat.slack import blocks
from adapters.chat.slack.administering import Administering
from adapters.chat.slack.answering import Answering
from adapters.chat.slack.apologizing import Apologizing
from adapters.chat.slack.asking import (
    Asked,
    from_command,
    from_event,
    from_shortcut,
    may_follow_up,
    mentions,
)
from adapters.chat.slack.asking_again import AskingAgain
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.home import Home
from adapters.chat.slack.judging import Judging
from adapters.chat.slack.sharing import Sharing
from adapters.chat.slack.web import SlackWeb
from core.errors import FootnoteError
from core.ports.chat import ResyncKind

logger = logging.getLogger(__name__)

Body = dict[str, Any]
Ack = Callable[..., Awaitable[BoltResponse]]


class Listener:
    """Registers everything that Footnote listens to on a Bolt app."""

    def __init__(  # noqa: PLR0913 - one part each, given by name at one place
        self,
        *,
        web: SlackWeb,
        answering: Answering,
        judging: Judging,
        administering: Administering,
        sharing: Sharing,
        asking_again: AskingAgain,
        home: Home,
        running: Running,
        directory: Directory,
        bot_user: str,
    ) -> None:
        self._answering = answering
        self._judging = judging
        self._administering = administering
        self._sharing = sharing
        self._asking_again = asking_again
        self._home = home
        self._running = running
        self._apologizing = Apologizing(web=web, directory=directory)
        self._bot_user = bot_user

    def listen(self, app: AsyncApp) -> None:
        """Register all listeners."""
        # Slack's older assistant surface, for apps that were made before the agent view.
        assistant = AsyncAssistant()
        assistant.thread_started(self._on_assistant_thread)
        assistant.thread_context_changed(self._on_nothing)
        assistant.user_message(self._on_message)
        app.assistant(assistant)
        app.event("app_mention")(self._on_message)
        app.event("message")(self._on_message)
        app.event("app_home_opened")(self._on_home)
        app.event(re.compile(".*"))(self._on_nothing)
        app.command("/ask")(self._on_ask)
        app.command("/footnote")(self._on_admin)
        app.command("/resync")(self._on_admin)
        app.shortcut(blocks.ANSWER_THIS)(self._on_answer_this)
        app.shortcut(blocks.KEEP)(self._on_keep)
        app.action(blocks.FEEDBACK)(self._on_thumb)
        app.action(blocks.EXPERT)(self._on_expert)
        app.action(blocks.SHARE)(self._on_share)
        app.action(blocks.AGAIN)(self._on_again)
        app.action(re.compile(f"^{blocks.RESYNC}_"))(self._on_resync_button)
        app.view(blocks.REASON)(self._on_reason)
        app.error(_on_error)

    # --- events ---

    async def _on_message(self, body: Body) -> None:
        asked = from_event(body, bot_user=self._bot_user)
        if asked is None:
            return
        event = body["event"]
        is_asked = asked.is_direct or mentions(event, bot_user=self._bot_user)
        if is_asked or (may_follow_up(event) and await self._answering.is_follow_up(asked)):
            try:
                await self._answering.take(asked)
            except FootnoteError:
                incident = secrets.token_hex(4)
                logger.warning("incident %s: question %s cannot be noted", incident, asked.event)
                self._running.start(_logged(self._apologizing.not_taken(asked, incident)))
                raise

    async def _on_home(self, body: Body) -> None:
        event = body["event"]
        if event.get("tab") == "messages":
            self._running.start(_logged(self._home.suggest(channel=str(event["channel"]))))
        else:
            self._running.start(_logged(self._home.publish(str(event["user"]))))

    async def _on_assistant_thread(self, body: Body) -> None:
        thread = body["event"]["assistant_thread"]
        where = {"channel": str(thread["channel_id"]), "thread": str(thread["thread_ts"])}
        self._running.start(_logged(self._home.suggest(**where)))

    async def _on_nothing(self) -> None:
        """Acknowledged and ignored."""

    # --- commands and shortcuts: Slack brings them once, so what fails is told ---

    async def _on_ask(self, body: Body, ack: Ack) -> None:
        await self._take_now(from_command(body, bot_user=self._bot_user), body, ack)

    async def _on_admin(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._administering.command(body), body)

    async def _on_answer_this(self, body: Body, ack: Ack) -> None:
        await self._take_now(from_shortcut(body, bot_user=self._bot_user), body, ack)

    async def _on_keep(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._judging.keep(body), body)

    async def _take_now(self, asked: Asked, body: Body, ack: Ack) -> None:
        try:
            is_ours = await self._answering.take(asked)
        except FootnoteError as error:
            self._start(_failing(error), body)
        else:
            if not is_ours:
                self._start(self._judging.is_answered(body), body)
        await ack()

    # --- buttons and the modal ---

    async def _on_thumb(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._judging.thumb(body), body)

    async def _on_expert(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._judging.call_expert(body), body)

    async def _on_share(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._sharing.share(body), body)

    async def _on_again(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._asking_again.ask(body), body)

    async def _on_resync_button(self, body: Body, ack: Ack) -> None:
        await ack()
        kind = ResyncKind(str(body["actions"][0]["action_id"]).removeprefix(f"{blocks.RESYNC}_"))
        self._start(self._administering.button(kind, user=str(body["user"]["id"])), body)

    async def _on_reason(self, body: Body, ack: Ack) -> None:
        await ack()
        self._start(self._judging.reason(body), body)

    def _start(self, work: Coroutine[None, None, None], body: Body) -> None:
        self._running.start(self._apologizing.unless_done(work, body))


async def _failing(error: FootnoteError) -> None:
    raise error


async def _logged(work: Coroutine[None, None, None]) -> None:
    """What nobody waits for fails in the log, not in silence."""
    try:
        await work
    except FootnoteError as error:
        logger.warning("something in Slack could not be done: %s", error)
    except Exception:
        logger.exception("something in Slack could not be done")


async def _on_error(error: Exception) -> BoltResponse:
    """No acknowledgement where nothing could be noted; bodies stay out of the log."""
    if isinstance(error, BoltUnhandledRequestError):
        logger.info("Slack delivered something that nothing listens to")
        return BoltResponse(status=404, body="")
    logger.warning("a delivery of Slack could not be taken: %s", error)
    return BoltResponse(status=503, body="")
