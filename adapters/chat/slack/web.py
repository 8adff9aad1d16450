"""The Web API as the adapter uses it: paced, patient where it must be, in terms of messages."""

import asyncio
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
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
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
THREAD_PAGES = 5
"""Of 200 messages."""

_REFUSED = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"})

_LIMITED = frozenset({"ratelimited", "rate_limited"})
"""Errors that ask for a pause; they also come with status 200."""

NO_PLACE = frozenset(
    {
        *("channel_not_found", "not_in_channel", "is_archived", "thread_not_found"),
        *("restricted_action", "restricted_action_thread_locked", "restricted_action_read_only_channel"),
        *("cannot_reply_to_message", "user_not_in_channel", "messages_tab_disabled"),
        *("team_access_not_granted", "access_denied", "ekm_access_denied", "no_permission"),
    }
)
"""Errors of a place in which we cannot post, now or later."""

RESPONSE_TRIES = 4
"""To one response URL, where Slack is busy."""


class CallError(FootnoteError):
    """Slack answered ``ok: false``; ``code`` is its error."""

    def __init__(self, method: str, code: str) -> None:
        super().__init__(f"Slack refused {method}: {code}")
        self.code = code

    @property
    def is_of_place(self) -> bool:
        """Whether nothing can be posted there, however often it is tried."""
        return self.code in NO_PLACE


class _PatientHandler(AsyncRateLimitErrorRetryHandler):
    """Waits as Slack asks; the library's own overlooks limits that come with status 200."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if response is not None and isinstance(response.body, dict):
            return response.body.get("error") in _LIMITED
        return await super()._can_retry_async(state=state, request=request, response=response, error=error)


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

    async def whisper(
        self, *, channel: str, user: str, message: Message, thread: str = "", waits: bool = True
    ) -> None:
        """Say something that only one person sees; RateLimitedError rather than a wait if it need not be."""
        arguments = _message(message) | ({"thread_ts": thread} if thread else {})
        client = self.patient if waits else self._prompt
        await call(client, "chat.postEphemeral", channel=channel, user=user, **arguments)

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
        """The messages of a thread with their metadata, oldest first, at most 1,000 from ``oldest`` on."""
        arguments: dict[str, Any] = {"oldest": oldest, "inclusive": True} if oldest else {}
        messages: list[Mapping[str, Any]] = []
        for _ in range(THREAD_PAGES):
            found = await call(
                self.patient,
                "conversations.replies",
                channel=channel,
                ts=thread,
                limit=200,
                include_all_metadata=True,
                **arguments,
            )
            messages += found.get("messages") or []
            cursor = (found.get("response_metadata") or {}).get("next_cursor")
            if not found.get("has_more") or not cursor:
                break
            arguments["cursor"] = cursor
        return messages

    async def respond(self, url: str, body: Mapping[str, Any]) -> None:
        """Post to a response URL: five times within half an hour.

        Raises:
            RateLimitedError, CallError, UnavailableError: as `respond`; CallError where the URL has expired.
        """
        session = self.patient.session
        if session is None or not url:
            raise UnavailableError("no way back to Slack is open")
        for attempt in range(1, RESPONSE_TRIES + 1):
            try:
                async with session.post(url, json=dict(body)) as response:
                    if response.status == HTTPStatus.OK:
                        return
                    error: FootnoteError = _unanswered(response)
            except (aiohttp.ClientError, TimeoutError) as failure:
                # It may have arrived: not again.
                raise UnavailableError(f"Slack cannot be reached: {type(failure).__name__}") from failure
            if isinstance(error, CallError) or attempt == RESPONSE_TRIES:
                raise error
            await asyncio.sleep(getattr(error, "retry_after", None) or attempt)


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

        limited = _PatientHandler(max_retry_count=RATE_LIMIT_RETRIES)
        # What the patient client does may be done twice: reading, and replacing one message by the same.
        again = (
            AsyncConnectionErrorRetryHandler(max_retry_count=SERVER_RETRIES),
            AsyncServerErrorRetryHandler(max_retry_count=SERVER_RETRIES),
        )
        yield SlackWeb(patient=client(limited, *again), prompt=client(), post_seconds=post_seconds)


def _translated(method: str, error: SlackApiError) -> FootnoteError:
    response = error.response
    status = getattr(response, "status_code", 200)
    data = getattr(response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == HTTPStatus.TOO_MANY_REQUESTS or code in _LIMITED:
        return RateLimitedError(f"Slack limits {method}", retry_after=_pause(response.headers))
    if code in _REFUSED:
        return RefusedError(f"Slack refused the token ({code}); check SLACK_BOT_TOKEN and SLACK_APP_TOKEN")
    if not code or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError(f"Slack answered {method} with HTTP {status}")
    return CallError(method, code)


def _unanswered(response: aiohttp.ClientResponse) -> FootnoteError:
    """Why a response URL did not take a post."""
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError("Slack limits a response URL", retry_after=_pause(response.headers))
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError(f"Slack answered a response URL with HTTP {response.status}")
    return CallError("response_url", f"HTTP {response.status}")


def _pause(headers: Mapping[str, str]) -> float | None:
    """The seconds of ``Retry-After``, however the name is written; null without it."""
    asked = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    return float(asked) if asked.isdecimal() else None


def _message(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": list(message.blocks)}


def _chunks(text: str) -> list[dict[str, str]]:
    return [{"type": "markdown_text", "text": text}]
