"""One message that shows how far a sync is, kept up by one process, and by the next where that one ends."""

import asyncio
import logging
import time
from contextlib import suppress

from adapters.chat.holding import held
from adapters.chat.running import Running
from adapters.chat.slack.asking import PLATFORM
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.render import Message, notice
from adapters.chat.slack.web import CallError, SlackWeb, call
from core.errors import FootnoteError, RateLimitedError
from core.ports.chat import AbandonedClaim, Administration, ClaimKey, Claims, ClaimState, SyncProgress

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 2.0
MOST_MESSAGES = 20
"""About one run in one place: a run that went silent and was asked for again gets another message."""

MOST_TEXT = 2_900
"""Characters of a section; Slack takes 3,000."""

RUN = "run"
"""In a claim's payload: what is to be done is to follow this run."""


class Progress:
    """Follows runs in messages. Who follows one holds a claim on it, so that there is one message a place."""

    def __init__(
        self,
        *,
        web: SlackWeb,
        administration: Administration,
        claims: Claims,
        running: Running,
        lease_seconds: float,
    ) -> None:
        self._running = running
        self._web = web
        self._administration = administration
        self._claims = claims
        self._lease = lease_seconds

    def begin(self, run_id: int, *, user: str, channel: str) -> None:
        """Follow a run for as long as it lasts, or as we do."""
        self._running.start_show(self.follow(run_id, user=user, channel=channel))

    async def follow(self, run_id: int, *, user: str, channel: str) -> None:
        """Show a run in the channel or, where we are no member, to the person; one message shows it."""
        payload = {RUN: str(run_id), "user": user, "channel": channel}
        for number in range(1, MOST_MESSAGES + 1):
            key = ClaimKey(platform=PLATFORM, event=f"run:{run_id}:{channel or user}:{number}")
            state = await self._claims.claim(key, payload=payload, lease_seconds=self._lease)
            if state is ClaimState.TAKEN:
                await self._show(key, run_id, user=user, channel=channel)
            if state is not ClaimState.DONE:
                return

    async def go_on(self, claim: AbandonedClaim) -> None:
        """Go on with the message of a process that ended."""
        place, _, ts = claim.reply.partition(":")
        user, channel = claim.payload.get("user", ""), claim.payload.get("channel", "")
        await self._show(claim.key, int(claim.payload[RUN]), user=user, channel=channel, place=place, ts=ts)

    async def _show(
        self, key: ClaimKey, run_id: int, *, user: str, channel: str, place: str = "", ts: str = ""
    ) -> None:
        shown, last = 0.0, None
        try:
            async with held(self._claims, key, lease_seconds=self._lease):
                async for progress in self._administration.follow(run_id):
                    last = progress
                    if not ts:
                        place, ts = await self._post(progress_message(progress), user=user, channel=channel)
                        shown = time.monotonic()
                        await self._claims.extend(key, lease_seconds=self._lease, reply=f"{place}:{ts}")
                    elif not progress.finished and time.monotonic() - shown >= PROGRESS_SECONDS:
                        shown = time.monotonic() + await self._edit(place, ts, progress)
            if last is not None and ts:
                await self._web.update(channel=place, ts=ts, message=progress_message(last))
            await self._claims.done(key, reply=f"{place}:{ts}")
        except asyncio.CancelledError:
            # The next process goes on in the same message.
            with suppress(FootnoteError, TimeoutError):
                async with asyncio.timeout(5):
                    await self._claims.extend(key, lease_seconds=0, reply=f"{place}:{ts}" if ts else "")
            raise

    async def _edit(self, place: str, ts: str, progress: SyncProgress) -> float:
        """Edit; returns how much longer than usual to wait with the next edit."""
        try:
            await self._web.edit(channel=place, ts=ts, message=progress_message(progress))
        except RateLimitedError as error:
            return error.retry_after or PROGRESS_SECONDS
        return 0.0

    async def _post(self, message: Message, *, user: str, channel: str) -> tuple[str, str]:
        if channel:
            try:
                return channel, await self._web.post(channel=channel, message=message)
            except CallError as error:
                logger.info("progress goes to the administrator: %s", error)
        opened = await call(self._web.patient, "conversations.open", users=user)
        direct = str(opened["channel"]["id"])
        return direct, await self._web.post(channel=direct, message=message)


def progress_message(progress: SyncProgress) -> Message:
    """How far a run is, as one line."""
    count = f"{progress.done}" if progress.total is None else f"{progress.done} of {progress.total}"
    failed = f", {progress.failed} failed" if progress.failed else ""
    if progress.finished:
        sign = ":warning:" if progress.failed else ":white_check_mark:"
        head = f"{sign} Sync {progress.run_id} ({progress.kind}) is done: {count} pages{failed}."
    else:
        head = f":hourglass_flowing_sand: Sync {progress.run_id} ({progress.kind}): {count} pages{failed} …"
    return notice(f"{head}\n{escaped(progress.message)}".strip()[:MOST_TEXT])
