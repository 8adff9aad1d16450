"""One HTTP service: JSON in, JSON or lines out, tried again where that is safe."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

import httpx
import stamina

from adapters.transport.addresses import without_credentials
from adapters.transport.client import Patience, timeouts
from adapters.transport.failures import (
    AnsweredError,
    Service,
    UnreachableError,
    failure_of,
    json_of,
    list_of,
    translated,
    unexpected,
)
from core.errors import ConfigurationError, RateLimitedError, UnavailableError

_LONGEST_LINE = 4 * 1024 * 1024
_log = logging.getLogger(__name__)


T = TypeVar("T")
_Value_co = TypeVar("_Value_co", covariant=True)


class _Read(Protocol[_Value_co]):
    """Reads what a service answered."""

    def __call__(
        self, response: httpx.Response, service: Service, /, *, sent: Mapping[str, Any]
    ) -> _Value_co:
        """The value, or `UnavailableError` where it is something else."""


class Endpoint:
    """A service below one base URL, with its key."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        name: str,
        base_url: str,
        api_key: str = "",
        setting: str = "LLM_BASE_URL",
        key_setting: str = "LLM_API_KEY",
    ) -> None:
        """``name`` is what messages call the service; the settings are those that messages point to.

        Raises:
            ConfigurationError: the key holds characters that cannot be sent.
        """
        if not (api_key.isascii() and (api_key.isprintable() or not api_key)):
            raise ConfigurationError(f"{key_setting} holds characters that no key has: copy it again")
        self._client = client
        # httpx would send a name in the link instead of the key.
        self._base = without_credentials(base_url) if api_key else base_url
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self.service = Service(
            name=name,
            url=without_credentials(base_url),
            setting=setting,
            key_setting=key_setting,
            key=api_key,
        )

    async def post(self, path: str, payload: Mapping[str, Any], *, patience: Patience) -> dict[str, Any]:
        """The JSON object that the service answers.

        Tried again where no response began, or where the service said that it is busy (429, 5xx) and does
        not ask for too long a pause.

        Raises:
            InvalidInputError: the service says that the input is wrong (400, 413, 422).
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
        return await self._retried(path, payload, patience, json_of)

    async def post_for_list(self, path: str, payload: Mapping[str, Any], *, patience: Patience) -> list[Any]:
        """As `post`, of a service that answers a JSON list."""
        return await self._retried(path, payload, patience, list_of)

    async def _retried(
        self, path: str, payload: Mapping[str, Any], patience: Patience, read: "_Read[T]"
    ) -> T:
        # Before the call, so that a call that hangs is seen (inventory T20).
        _log.debug("asking %s: POST %s%s", self.service.name, self.service.url, path)
        async for attempt in stamina.retry_context(
            on=lambda error: _pause(error, patience),
            attempts=patience.attempts,
            timeout=None,
            wait_initial=patience.first_wait,
            wait_max=patience.longest_wait,
            wait_jitter=patience.first_wait,
        ):
            with attempt:
                return await self._exchange(path, payload, patience.seconds, read)
        raise AssertionError("stamina yields at least one attempt")  # pragma: no cover

    async def _exchange(self, path: str, payload: Mapping[str, Any], seconds: float, read: "_Read[T]") -> T:
        begun = False
        try:
            async with asyncio.timeout(seconds):
                response = await self._send(path, payload, seconds)
                begun = True
                try:
                    await response.aread()
                finally:
                    await response.aclose()
        except (httpx.HTTPError, TimeoutError) as error:
            if not begun:
                with translated(self.service, seconds=seconds):
                    raise
            raise UnavailableError(
                f"the response of {self.service.name} at {self.service.url} broke off"
            ) from error
        if response.status_code != httpx.codes.OK:
            raise failure_of(response, self.service, sent=payload)
        return read(response, self.service, sent=payload)

    async def lines(self, path: str, payload: Mapping[str, Any], *, seconds: float) -> AsyncGenerator[str]:
        """The lines of a streamed response as they come; ``seconds`` bounds the wait for each.

        Lines end at line feeds only: JSON may hold every other separator that Unicode knows. Close the
        iterator to hang up.

        Raises:
            InvalidInputError, TemporaryError, RefusedError, ConfigurationError: as `post`.
        """
        _log.debug("asking %s: POST %s%s", self.service.name, self.service.url, path)
        with translated(self.service, seconds=seconds):
            response = await self._send(path, payload, seconds)
        try:
            await self._refuse_what_is_no_stream(response, payload, seconds)
            async with aclosing(self._split_lines(response, seconds)) as lines:
                async for line in lines:
                    yield line
        finally:
            await response.aclose()

    async def _send(self, path: str, payload: Mapping[str, Any], seconds: float) -> httpx.Response:
        request = self._client.build_request(
            "POST",
            self._base + path,
            # Half a surrogate pair is no UTF-8: it becomes a question mark instead of an error.
            content=json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"),
            headers={"Content-Type": "application/json", **self._headers},
            timeout=timeouts(seconds),
        )
        return await self._client.send(request, stream=True)

    async def _refuse_what_is_no_stream(
        self, response: httpx.Response, payload: Mapping[str, Any], seconds: float
    ) -> None:
        is_html = "html" in response.headers.get("Content-Type", "")
        if response.status_code == httpx.codes.OK and not is_html:
            return
        with translated(self.service, seconds=seconds):
            async with asyncio.timeout(seconds):
                await response.aread()
        if is_html and response.status_code == httpx.codes.OK:
            raise unexpected(response, self.service, sent=payload)
        raise failure_of(response, self.service, sent=payload)

    async def _split_lines(self, response: httpx.Response, seconds: float) -> AsyncGenerator[str]:
        rest = bytearray()
        try:
            async for piece in response.aiter_bytes():
                rest += piece
                *whole, tail = rest.split(b"\n")
                rest = bytearray(tail)
                for line in whole:
                    yield line.decode("utf-8", "replace").removesuffix("\r")
                if len(rest) > _LONGEST_LINE:
                    raise UnavailableError(f"{self.service.name} sends a line without end")
        except httpx.TimeoutException as error:
            raise UnavailableError(f"{self.service.name} fell silent for {seconds:g} s") from error
        except httpx.HTTPError as error:
            raise UnavailableError(f"the response of {self.service.name} broke off") from error
        if rest:
            yield rest.decode("utf-8", "replace")


def _pause(error: Exception, patience: Patience) -> bool | float:
    """Whether to try again: false, true after the usual wait, or after so many seconds."""
    match error:
        case RateLimitedError(retry_after=None) | AnsweredError() | UnreachableError():
            return True
        case RateLimitedError(retry_after=seconds) if seconds is not None:
            return seconds if seconds <= patience.longest_wait else False
        case _:
            return False
