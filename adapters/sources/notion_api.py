"""Notion's API as the source needs it: notion-client sends, retrying and paging are our own."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, cast

import httpx
from notion_client import AsyncClient
from notion_client.errors import HTTPResponseError, InvalidPathParameterError, RequestTimeoutError

from adapters.sources.notion_json import Json, as_list, as_mapping, as_text, clean, instant
from adapters.sources.notion_pace import Pace
from adapters.sources.notion_time import NotionTime
from adapters.transport.dates import seconds_to_wait
from core.errors import NotFoundError, RateLimitedError, RefusedError, UnavailableError, UnreadableError

NOTION_VERSION = "2026-03-11"
"""Databases hold data sources, ``in_trash`` replaces ``archived``, blocks may be ``meeting_notes``."""

BASE_URL = "https://api.notion.com"
PAGE_SIZE = 100
"""The most that a list endpoint gives at once."""

MOST_EMPTY = 100
"""Pages of results in a row without anything new, after which a listing counts as one that never ends."""

_TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY})
"""Beside everything that a server or a gateway before it (520 to 530) has to answer for."""
_REFUSED_FOR_NOW = frozenset({HTTPStatus.TOO_MANY_REQUESTS, 529})
_MAX_BACKOFF = 30.0
_LONGEST_MESSAGE = 500
_DEFAULT_RETRY_AFTER = 5.0
"""Seconds to pause where a refusal does not say how long."""

_logger = logging.getLogger("footnote.notion.http")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: seconds for one answer, attempts after failures, attempts after 429 and 529."""

    timeout: float = 60.0
    attempts: int = 6
    refusals: int = 30


class InvalidCursorError(UnreadableError):
    """Notion does not know the cursor any more; the listing must start again (F26)."""


class ForbiddenError(UnreadableError):
    """Notion answered 403: this object is not for us, or the integration lacks a capability."""


class NotionApi:
    """Calls to Notion with one client, one pace, and errors of ours (NOT-3, NOT-16).

    ``requests`` counts what was sent, by endpoint. ``time`` listens to every answer. ``http`` is for tests;
    whoever makes the object closes it.
    """

    def __init__(
        self,
        token: str,
        *,
        base_url: str = BASE_URL,
        notion_version: str = NOTION_VERSION,
        pace: Pace | None = None,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        time: NotionTime | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.time = time or NotionTime()
        http = http or httpx.AsyncClient()
        http.event_hooks["response"].append(self._listen)
        self._client = AsyncClient(
            client=http,
            auth=token,
            base_url=base_url.rstrip("/"),
            notion_version=notion_version,
            timeout_ms=int((patience or Patience()).timeout * 1000),
            retry=False,
            logger=_logger,
            # Every refusal becomes an error of ours, which says more and is logged by whoever cannot go on.
            log_level=logging.ERROR,
        )
        self.pace = pace or Pace()
        self._patience = patience or Patience()
        self._sleep = sleep
        self.requests: Counter[str] = Counter()
        self.incomplete: Counter[str] = Counter()
        """Listings that Notion itself called incomplete and that could not be completed (NOT-5)."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _listen(self, response: httpx.Response) -> None:
        self.time.heard(response.headers)

    # --- Single objects --------------------------------------------------------------------------------

    async def page(self, page_id: str) -> Json:
        """One page object, in the trash or not."""
        return await self._call("pages.retrieve", self._client.pages.retrieve, page_id=page_id)

    async def block(self, block_id: str) -> Json:
        """One block object."""
        return await self._call("blocks.retrieve", self._client.blocks.retrieve, block_id=block_id)

    async def database(self, database_id: str) -> Json:
        """One database object, the container of data sources."""
        return await self._call(
            "databases.retrieve", self._client.databases.retrieve, database_id=database_id
        )

    async def data_source(self, data_source_id: str) -> Json:
        """One data source object, with the schema of its rows."""
        return await self._call(
            "data_sources.retrieve", self._client.data_sources.retrieve, data_source_id=data_source_id
        )

    async def me(self) -> Json:
        """The integration's own user: the cheapest call that needs a valid token."""
        return await self._call("users.me", self._client.users.me)

    async def user(self, user_id: str) -> Json:
        """One person or bot; the address only with the capability for it.

        Raises:
            UnreadableError: the integration may not read users.
        """
        return await self._call("users.retrieve", self._client.users.retrieve, user_id=user_id)

    # --- Lists -----------------------------------------------------------------------------------------

    def children(self, block_id: str) -> AsyncIterator[Json]:
        """The blocks directly below a block or page, in order."""
        return self._paginate("blocks.children.list", self._client.blocks.children.list, block_id=block_id)

    def comments(self, block_id: str) -> AsyncIterator[Json]:
        """Open comments on one page or block, not on what lies below it."""
        return self._paginate("comments.list", self._client.comments.list, block_id=block_id)

    def search(self, *, newest_first: bool = True, state: "ListState | None" = None) -> AsyncIterator[Json]:
        """Pages and data sources by the time of their last edit; never to be taken for complete (U7)."""
        direction = "descending" if newest_first else "ascending"
        return self._paginate(
            "search",
            self._client.search,
            state,
            sort={"timestamp": "last_edited_time", "direction": direction},
        )

    def property_items(self, page_id: str, property_id: str) -> AsyncIterator[Json]:
        """All entries of one property (NOT-14)."""
        return self._paginate(
            "pages.properties.retrieve",
            self._client.pages.properties.retrieve,
            page_id=page_id,
            property_id=property_id,
        )

    async def rows(self, data_source_id: str) -> AsyncIterator[Json]:
        """Every row of a data source; beyond Notion's limit of 10,000 by windows of creation time (NOT-5).

        Raises:
            UnavailableError: Notion stopped early and the windows did not get further.
        """
        seen: set[str] = set()
        since: str | None = None
        while True:
            state = ListState()
            found = 0
            latest: str | None = None
            async for row in self._paginate(
                "data_sources.query", self._client.data_sources.query, state, **_query(data_source_id, since)
            ):
                latest = _later(latest, as_text(row.get("created_time")))
                identifier = as_text(row.get("id"))
                if identifier in seen:
                    continue
                seen.add(identifier)
                found += 1
                yield row
            if not state.incomplete:
                return
            if not found or latest is None or latest == since:
                raise UnavailableError(
                    f"Notion stopped listing data source {data_source_id} after {len(seen)} rows; "
                    "split it into smaller databases to have all of it."
                )
            since = latest

    async def _paginate(
        self,
        name: str,
        endpoint: Callable[..., Any],
        state: "ListState | None" = None,
        **arguments: Any,
    ) -> AsyncIterator[Json]:
        """All results of a list endpoint; ``has_more`` alone says whether there are more (SY13, NOT-4).

        A cursor that became invalid starts the listing again once, without what was given already (F26).

        Raises:
            UnavailableError: the listing broke off; what was given is not all.
        """
        state = state or ListState()
        given: set[str] = set()
        cursors: set[str] = set()
        cursor: str | None = None
        restarted = False
        empty = 0
        while True:
            empty += 1
            place = {} if cursor is None else {"start_cursor": cursor}
            try:
                answer = await self._call(name, endpoint, page_size=PAGE_SIZE, **arguments, **place)
            except InvalidCursorError as error:
                if restarted or cursor is None:
                    raise UnavailableError(f"Notion broke off a listing ({name}): {error}") from error
                restarted, cursor = True, None
                cursors.clear()
                continue
            for result in map(as_mapping, as_list(answer.get("results"))):
                identifier = as_text(result.get("id"))
                if result.get("object") != "property_item" and identifier:
                    if identifier in given:
                        continue
                    given.add(identifier)
                empty = 0
                yield result
            self._note_state(name, answer, state)
            if answer.get("has_more") is not True:
                return
            cursor = as_text(answer.get("next_cursor"))
            if not cursor or cursor in cursors or empty > MOST_EMPTY:
                raise UnavailableError(f"Notion broke off a listing ({name}): its cursor does not move on.")
            cursors.add(cursor)

    def _note_state(self, name: str, answer: Json, state: "ListState") -> None:
        if as_text(as_mapping(answer.get("request_status")).get("type")) == "incomplete":
            state.incomplete = True
            self.incomplete[name] += 1

    # --- One request -----------------------------------------------------------------------------------

    async def _call(self, name: str, endpoint: Callable[..., Any], **arguments: Any) -> Json:
        """Send a request until it is answered, refused for good, or tried often enough.

        Raises:
            RefusedError: the token was refused; every other call is doomed as well (SY20, T21).
            NotFoundError: no such object, or not shared with the integration.
            UnreadableError: this object cannot be had, though it may exist (403, 400 and their like).
            RateLimitedError, UnavailableError: tried as often as it makes sense.
        """
        failures = refusals = 0
        while True:
            try:
                async with self.pace.turn():
                    self.requests[name] += 1
                    answer = await asyncio.wait_for(
                        cast(Awaitable[Any], endpoint(**arguments)), timeout=2 * self._patience.timeout
                    )
                    self.pace.accepted()
            except HTTPResponseError as error:
                if error.status in _REFUSED_FOR_NOW:
                    refusals += 1
                    wait = seconds_to_wait(error.headers)
                    await self.pace.refused(_DEFAULT_RETRY_AFTER if wait is None else wait)
                    if refusals >= self._patience.refusals:
                        raise RateLimitedError(
                            f"Notion refused {refusals} times in a row ({name}): it is overloaded or the "
                            "workspace's budget is used up. Try again later.",
                            retry_after=wait,
                        ) from error
                    continue
                if not _passes(error.status):
                    raise _permanent(error, name) from error
                failure: Exception = error
                reason = f"HTTP {error.status}"
            except (RequestTimeoutError, TimeoutError, httpx.TransportError) as error:
                failure, reason = error, type(error).__name__
            except InvalidPathParameterError as error:
                raise UnreadableError(f"Notion knows no such object ({name}).") from error
            except ValueError as error:
                failure, reason = error, "an answer that is no JSON"
            else:
                if isinstance(answer, Mapping):
                    return answer
                failure, reason = TypeError(type(answer).__name__), "an answer that is no object"
            failures += 1
            if failures >= self._patience.attempts:
                raise UnavailableError(
                    f"Notion did not answer after {failures} attempts ({name}: {reason})."
                ) from failure
            await self._sleep(min(_MAX_BACKOFF, 2.0**failures / 2) * (0.5 + random.random() / 2))  # noqa: S311 - spreads retries, guards nothing


class ListState:
    """What a listing said about itself."""

    def __init__(self) -> None:
        self.incomplete = False


def _query(data_source_id: str, since: str | None) -> dict[str, Any]:
    """No filter must mean no key: Notion refuses an empty one (F31)."""
    query: dict[str, Any] = {
        "data_source_id": data_source_id,
        "sorts": [{"timestamp": "created_time", "direction": "ascending"}],
    }
    if since is not None:
        query["filter"] = {"timestamp": "created_time", "created_time": {"on_or_after": since}}
    return query


def _later(one: str | None, other: str) -> str | None:
    """The later of two times of the API, compared as instants (T4)."""
    second = instant(other)
    if second is None:
        return one
    first = instant(one)
    return other if first is None or second > first else one


def _passes(status: int) -> bool:
    """Whether the same request may be answered a little later."""
    return status in _TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _permanent(error: HTTPResponseError, name: str) -> Exception:
    # It is shown and stored, and repeats what it was asked about.
    message = clean(str(error))[:_LONGEST_MESSAGE]
    said = f"{name}: {message}" if message else name
    if error.status == HTTPStatus.UNAUTHORIZED:
        return RefusedError(
            "Notion refused the token. Set NOTION_TOKEN to the secret of an internal integration "
            "(notion.so/profile/integrations)."
        )
    if error.status == HTTPStatus.NOT_FOUND:
        return NotFoundError(f"Notion has no such object, or it is not shared with the integration ({said}).")
    if error.status == HTTPStatus.FORBIDDEN:
        return ForbiddenError(f"Notion forbids this object to the integration ({said}).")
    if error.status == HTTPStatus.BAD_REQUEST and "start_cursor" in str(error):
        return InvalidCursorError(f"The cursor is not valid any more ({name}).")
    return UnreadableError(f"Notion answered {error.status} ({said}).")
