"""Slack as one thing to run: connects, listens, answers, drains."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import ClientError
from aiohttp import web as http
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from adapters.chat.running import Running
from adapters.chat.slack.administering import Administering
from adapters.chat.slack.answering import Answering
from adapters.chat.slack.asking import PLATFORM
from adapters.chat.slack.asking_again import AskingAgain
from adapters.chat.slack.digesting import post_digests
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.doctor import REQUIRED_SCOPES, Workspace, identify
from adapters.chat.slack.home import Home
from adapters.chat.slack.judging import Judging, PageEditors
from adapters.chat.slack.listener import Listener
from adapters.chat.slack.marking import Marking
from adapters.chat.slack.progress import RUN, Progress
from adapters.chat.slack.settings import SlackSettings
from adapters.chat.slack.sharing import Sharing
from adapters.chat.slack.web import SlackWeb, call, open_web, quiet_logger
from core.errors import ConfigurationError, FootnoteError, TemporaryError
from core.ports import Answerer, Clock, PageTitles
from core.ports.chat import Administration, Audiences, Claims, Digests, Feedback, Insights, KeptAnswers
from core.ports.replies import GivenReplies

logger = logging.getLogger(__name__)

PING_SECONDS = 5.0
WATCH_SECONDS = 0.3
TAKE_OVER_LIMIT = 10
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class _Parts:
    """What works together while we are connected."""

    app: AsyncApp
    answering: Answering
    progress: Progress
    marking: Marking
    running: Running


class SlackChat:
    """Footnote in one Slack workspace. Several processes may run it side by side on the same claims."""

    def __init__(  # noqa: PLR0913 - one port each, given by name at one place
        self,
        settings: SlackSettings,
        *,
        answerer: Answerer,
        claims: Claims,
        kept: KeptAnswers,
        titles: PageTitles,
        audiences: Audiences,
        feedback: Feedback,
        administration: Administration,
        clock: Clock,
        insights: Insights | None = None,
        editors: PageEditors | None = None,
        digests: Digests | None = None,
        replies: GivenReplies | None = None,
    ) -> None:
        self._settings = settings
        self._answerer = answerer
        self._claims = claims
        self._kept = kept
        self._titles = titles
        self._audiences = audiences
        self._feedback = feedback
        self._administration = administration
        self._clock = clock
        self._insights = insights
        self._editors = editors
        self._digests = digests
        self._replies = replies
        self.ready = asyncio.Event()
        self.port = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set, then take nothing more and let running answers end.

        Raises:
            RefusedError: Slack does not accept a token.
            ConfigurationError: there is neither an app token nor a signing secret.
        """
        settings = self._settings
        if not settings.app_token and not settings.signing_secret:
            raise ConfigurationError(
                "Slack: set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode)"
            )
        async with open_web(
            token=settings.bot_token, base_url=settings.base_url, post_seconds=settings.pace.post
        ) as web:
            workspace = await self._connect(web, stop)
            if workspace is None:
                return
            parts = self._assemble(web, workspace)
            try:
                async with self._receiving(parts.app):
                    self.ready.set()
                    logger.info("Slack is connected as %s", workspace.bot_user)
                    await self._look_after(web, parts, stop)
            finally:
                await parts.running.drain(self._settings.drain_seconds)

    async def _connect(self, web: SlackWeb, stop: asyncio.Event) -> Workspace | None:
        """Who we are; waits for a Slack that is away, null when stopped meanwhile."""
        pause = FIRST_PAUSE
        while not stop.is_set():
            try:
                workspace = await identify(web)
                if self._settings.uses_sockets:
                    # The library would try a wrong token for ever.
                    await call(web.patient, "apps.connections.open", app_token=self._settings.app_token)
            except TemporaryError as error:
                logger.warning("%s; trying again in %.0f s", error, pause)
                await _wait(stop, pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            if missing := [scope for scope in REQUIRED_SCOPES if scope not in workspace.scopes]:
                logger.warning("Slack: scopes are missing: %s; see `footnote check`", ", ".join(missing))
            return workspace
        return None

    def _assemble(self, web: SlackWeb, workspace: Workspace) -> "_Parts":
        settings, bot_user = self._settings, workspace.bot_user
        marking, running = Marking(web=web, replies=self._replies), Running()
        directory = Directory(web, clock=self._clock, team=workspace.team, enterprise=workspace.enterprise)
        answering = Answering(
            web=web,
            settings=settings,
            answerer=self._answerer,
            claims=self._claims,
            kept=self._kept,
            audiences=self._audiences,
            directory=directory,
            clock=self._clock,
            bot_user=bot_user,
            marking=marking,
            running=running,
        )
        judging = Judging(
            web=web,
            settings=settings,
            feedback=self._feedback,
            claims=self._claims,
            directory=directory,
            editors=self._editors,
            bot_user=bot_user,
        )
        progress = Progress(
            web=web,
            administration=self._administration,
            claims=self._claims,
            running=running,
            lease_seconds=settings.lease_seconds,
        )
        administering = Administering(
            web=web,
            settings=settings,
            administration=self._administration,
            audiences=self._audiences,
            directory=directory,
            progress=progress,
            bot_user=bot_user,
        )
        home = Home(
            web=web,
            directory=directory,
            administering=administering,
            administration=self._administration,
            audiences=self._audiences,
            insights=self._insights,
        )
        sharing = Sharing(
            web=web,
            kept=self._kept,
            titles=self._titles,
            directory=directory,
            audiences=self._audiences,
        )
        app = AsyncApp(
            client=web.patient,
            signing_secret=settings.signing_secret,
            logger=quiet_logger(),
            process_before_response=True,
            raise_error_for_unhandled_request=True,
            attaching_conversation_kwargs_enabled=False,
        )
        Listener(
            web=web,
            answering=answering,
            judging=judging,
            administering=administering,
            sharing=sharing,
            asking_again=AskingAgain(web=web, answering=answering, directory=directory, bot_user=bot_user),
            home=home,
            directory=directory,
            running=running,
            bot_user=bot_user,
        ).listen(app)
        return _Parts(app=app, answering=answering, progress=progress, marking=marking, running=running)

    @asynccontextmanager
    async def _receiving(self, app: AsyncApp) -> AsyncIterator[None]:
        receiving = self._over_socket(app) if self._settings.uses_sockets else self._over_http(app)
        async with receiving:
            yield

    @asynccontextmanager
    async def _over_socket(self, app: AsyncApp) -> AsyncIterator[None]:
        handler = AsyncSocketModeHandler(app, self._settings.app_token, ping_interval=PING_SECONDS)
        watching = asyncio.create_task(_keep_connected(handler))
        try:
            await handler.connect_async()  # type: ignore[no-untyped-call]  # bolt leaves it untyped
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await handler.close_async()  # type: ignore[no-untyped-call]  # bolt leaves it untyped

    @asynccontextmanager
    async def _over_http(self, app: AsyncApp) -> AsyncIterator[None]:
        settings = self._settings
        runner = http.AppRunner(app.web_app(path=settings.http_path), access_log=None)
        await runner.setup()
        try:
            site = http.TCPSite(runner, settings.http_host, settings.http_port)
            await site.start()
            self.port = int(runner.addresses[0][1])
            logger.info(
                "Slack events are taken at %s:%d%s", settings.http_host, self.port, settings.http_path
            )
            yield
        finally:
            await runner.cleanup()

    async def _look_after(self, web: SlackWeb, parts: "_Parts", stop: asyncio.Event) -> None:
        """Until stopped, take over what others left behind, and post what is due."""
        taken: set[asyncio.Task[None]] = set()
        while not stop.is_set():
            # No more than is worked on: what waits here would only be taken over again, should we die too.
            room = TAKE_OVER_LIMIT - len(taken)
            try:
                abandoned = await self._claims.take_over(
                    PLATFORM, lease_seconds=self._settings.lease_seconds, limit=room
                )
                for claim in abandoned:
                    if RUN in claim.payload:
                        parts.running.start_show(parts.progress.go_on(claim))
                        continue
                    task = parts.running.start(parts.answering.go_on(claim))
                    taken.add(task)
                    task.add_done_callback(taken.discard)
                if self._digests is not None:
                    await post_digests(web, self._digests, platform=PLATFORM)
                await parts.marking.mark_changed()
            except FootnoteError as error:
                logger.warning("abandoned questions and digests cannot be looked for: %s", error)
            await _wait(stop, self._settings.lease_seconds / 4)


async def _keep_connected(handler: AsyncSocketModeHandler) -> None:
    """Open a cut connection again at once; by itself the library notices at its next ping."""
    client = handler.client
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        session = client.current_session
        if session is not None and session.closed and client.auto_reconnect_enabled:
            try:
                await client.connect_to_new_endpoint()
            except (SlackClientError, ClientError, TimeoutError, OSError) as error:
                logger.warning("the connection to Slack is not back yet: %s", type(error).__name__)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), timeout=seconds)
    except TimeoutError:
        return
