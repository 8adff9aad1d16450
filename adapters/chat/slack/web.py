"""The Web API as the adapter uses it: paced, patient where it must be, in terms of messages."""

import logging
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.chat.slack.blocks import Block
from adapters.chat.slack.pacing import (
    EDITED_A_MINUTE,
    EDITS_A_MINUTE,
    STREAMS_A_MINUTE,
    Allowance,
    ChannelPacer,
)
from adapters.chat.slack.render import Message
from core.errors import FootnoteError, RateLimitedError, RefusedError, UnavailableError

TIMEOUT_SECONDS = 15
RATE_LIMIT_RETRIES = 12
SERVER_RETRIES = 3
ANSWERED = "footnote_answer"
"""Metadata of our answers: the sure sign, for whoever takes a question over, that it was answered."""

_REFUSED = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"})


class CallError(FootnoteError):
    """Slack answered ``ok: false``; ``code`` is its error."""

    def __init__(self, method: str, code: str) -> None:
        super().__init__(f"Slack refused {method}: {code}")
        self.code = code


def quiet_logger() -> logging.Logger:
    """A logger for the libraries that never goes below WARNING: further down they log message texts."""
    logger = logging.getLogger("adapters.chat.slack.sdk")
    logger.setLevel(logging.WARNING)
    return logger


class SlackWeb:
    """What is said to Slack. ``patient`` waits out rate limits; ``prompt`` does not, for what can be left."""

    def __init__(self, *, patient: AsyncWebClient, prompt: AsyncWebClient, post_seconds: float) -> None:
        self.patient = patient
        self._prompt = prompt
        self._pacer = ChannelPacer(seconds=post_seconds)
        self.streams = Allowance(STREAMS_A_MINUTE)
        self.stream_calls = Allowance(sys.maxsize)
        """Closed where the workspace has no streams."""
        self.edited = Allowance(EDITED_A_MINUTE)
        self.edits = Allowance(EDITS_A_MINUTE)
        self.statuses = Allowance(600)

    async def post(
        self, *, channel: str, message: Message, thread: str = "", metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Post a message in a channel or thread; returns its ts."""
        arguments = _message(message) | {"unfurl_links": False, "unfurl_media": False}
        if thread:
            arguments["thread_ts"] = thread
        if metadata:
            arguments["metadata"] = dict(metadata)
        for _ in range(RATE_LIMIT_RETRIES):
            await self._pacer.turn(channel)
            try:
                found = await call(self._prompt, "chat.postMessage", channel=channel, **arguments)
            except RateLimitedError as error:
                # Other processes post there too; all of ours wait, and keep their order.
                self._pacer.postpone(channel, error.retry_after or 1.0)
                continue
            return str(found["ts"])
        raise RateLimitedError("Slack limits posts to this channel")

    async def whisper(self, *, channel: str, user: str, message: Message, thread: str = "") -> None:
        """Say something that only one person sees."""
        arguments = _message(message) | ({"thread_ts": thread} if thread else {})
        await call(self.patient, "chat.postEphemeral", channel=channel, user=user, **arguments)

    async def update(
        self, *, channel: str, ts: str, message: Message, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Replace a message, whatever it takes."""
        arguments = _message(message) | ({"metadata": dict(metadata)} if metadata else {})
        await call(self.patient, "chat.update", channel=channel, ts=ts, **arguments)

    async def edit(self, *, channel: str, ts: str, message: Message) -> None:
        """Replace a message for a moment; RateLimitedError rather than a wait."""
        await call(self._prompt, "chat.update", channel=channel, ts=ts, **_message(message))

    async def delete(self, *, channel: str, ts: str) -> None:
        """Remove a message of ours."""
        await call(self.patient, "chat.delete", channel=channel, ts=ts)

    async def start_stream(self, *, channel: str, thread: str, team: str, user: str, text: str) -> str:
        """Begin a streamed message; returns its ts."""
        found = await call(
            self._prompt,
            "chat.startStream",
            channel=channel,
            thread_ts=thread,
            recipient_team_id=team,
            recipient_user_id=user,
            chunks=_chunks(text),
        )
        return str(found["ts"])

    async def append(self, *, channel: str, ts: str, text: str) -> None:
        """Go on with a streamed message."""
        await call(self._prompt, "chat.appendStream", channel=channel, ts=ts, chunks=_chunks(text))

    async def stop_stream(
        self, *, channel: str, ts: str, text: str = "", blocks: Sequence[Block] = ()
    ) -> None:
        """End a streamed message with what is missing of it."""
        arguments: dict[str, Any] = {"chunks": _chunks(text)} if text else {}
        if blocks:
            arguments["blocks"] = list(blocks)
        await call(self.patient, "chat.stopStream", channel=channel, ts=ts, **arguments)

    async def set_status(self, *, channel: str, thread: str, status: str) -> None:
        """Show under the thread what we are doing; empty clears it. Left out where Slack will not have it."""
        if not self.statuses.take():
            return
        try:
            await call(
                self._prompt,
                "assistant.threads.setStatus",
                channel_id=channel,
                thread_ts=thread,
                status=status,
            )
        except RateLimitedError as error:
            self.statuses.close(error.retry_after or 30)
        except CallError as error:
            if error.code in ("missing_scope", "unknown_method", "not_allowed_token_type"):
                self.statuses.close(3600)
        except FootnoteError:
            return

    async def thread(self, *, channel: str, thread: str, oldest: str = "") -> Sequence[Mapping[str, Any]]:
        """The messages of a thread with their metadata, oldest first, at most 200 from ``oldest`` on."""
        arguments: dict[str, Any] = {"oldest": oldest, "inclusive": True} if oldest else {}
        found = await call(
            self.patient,
            "conversations.replies",
            channel=channel,
            ts=thread,
            limit=200,
            include_all_metadata=True,
            **arguments,
        )
        return list(found.get("messages") or [])

    async def respond(self, url: str, body: Mapping[str, Any]) -> None:
        """Post to a response URL: five times within half an hour."""
        session = self.patient.session
        if session is None:
            raise UnavailableError("no connection to Slack is open")
        try:
            async with session.post(url, json=dict(body)) as response:
                if response.status != HTTPStatus.OK:
                    raise CallError("response_url", f"HTTP {response.status}")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UnavailableError(f"Slack cannot be reached: {type(error).__name__}") from error


async def call(client: AsyncWebClient, method: str, **arguments: Any) -> Mapping[str, Any]:
    """One call by its documented name; its data.

    Raises:
        RateLimitedError, RefusedError, CallError, UnavailableError: as `respond`.
    """
    data = (await respond(client, method, **arguments)).data
    return data if isinstance(data, dict) else {}


async def respond(client: AsyncWebClient, method: str, **arguments: Any) -> AsyncSlackResponse:
    """One call by its documented name; data and headers.

    Raises:
        RateLimitedError: 429, after as many retries as the client has.
        RefusedError: the token is not accepted.
        CallError: Slack says why not.
        UnavailableError: Slack cannot be reached, or answers nonsense.
    """
    name = method.replace(".", "_")
    try:
        response: AsyncSlackResponse = await getattr(client, name)(**arguments)
    except SlackApiError as error:
        raise _translated(method, error) from error
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise UnavailableError(f"Slack cannot be reached for {method}: {type(error).__name__}") from error
    return response


@asynccontextmanager
async def open_web(*, token: str, base_url: str, post_seconds: float = 1.0) -> AsyncIterator[SlackWeb]:
    """Clients over one pool of connections."""
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        # Repeated only where nothing can have been sent: a post that was cut off may have been accepted.
        unsent = AsyncConnectionErrorRetryHandler(
            max_retry_count=2, error_types=[aiohttp.ClientConnectorError]
        )

        def client(*handlers: Any) -> AsyncWebClient:
            return AsyncWebClient(
                token=token,
                base_url=base_url,
                session=session,
                timeout=TIMEOUT_SECONDS,
                logger=quiet_logger(),
                retry_handlers=[unsent, *handlers],
            )

        limited = AsyncRateLimitErrorRetryHandler(max_retry_count=RATE_LIMIT_RETRIES)
        # What the patient client does may be done twice: reading, and replacing one message by the same.
        again = (
            AsyncConnectionErrorRetryHandler(max_retry_count=SERVER_RETRIES),
            AsyncServerErrorRetryHandler(max_retry_count=SERVER_RETRIES),
        )
        yield SlackWeb(patient=client(limited, *again), prompt=client(), post_seconds=post_seconds)


def _translated(method: str, error: SlackApiError) -> FootnoteError:
    response = error.response
    status = getattr(response, "status_code", 200)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        retry_after = str(response.headers.get("Retry-After", ""))
        return RateLimitedError(
            f"Slack limits {method}", retry_after=float(retry_after) if retry_after.isdecimal() else None
        )
    data = getattr(response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if code in _REFUSED:
        return RefusedError(f"Slack refused the token ({code}); check SLACK_BOT_TOKEN and SLACK_APP_TOKEN")
    if not code or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError(f"Slack answered {method} with HTTP {status}")
    return CallError(method, code)


def _message(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": list(message.blocks)}


def _chunks(text: str) -> list[dict[str, str]]:
    return [{"type": "markdown_text", "text": text}]
