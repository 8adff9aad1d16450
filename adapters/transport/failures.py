"""What a failed exchange means, in our errors, and what to do about it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx

from adapters.transport.addresses import without_credentials
from adapters.transport.dates import seconds_to_wait
from adapters.transport.snippets import LENGTH, complaint_in, json_list, json_object, message_in, snippet
from core.errors import (
    ConfigurationError,
    FootnoteError,
    InvalidInputError,
    RateLimitedError,
    RefusedError,
    UnavailableError,
)

_REFUSED = {401, 402, 403}
_ABOUT_THE_INPUT = {400, 413, 422}
_TRANSIENT = {408, 409, 425}
_STATUS = re.compile(r"[1-9]\d\d", re.ASCII)
_SPENT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
"""Codes that OpenAI sends with 429 though no waiting helps."""
_BASE_HINT = " An OpenAI-compatible API usually ends in /v1, once; Ollama's own has no path."


class UnreachableError(UnavailableError):
    """No response began: trying again cannot do anything twice."""


class AnsweredError(UnavailableError):
    """The service answered that it failed (5xx)."""


@dataclass(frozen=True, slots=True)
class Service:
    """Who is asked: ``name`` is what people call it; the settings are those that messages point to."""

    name: str
    url: str
    setting: str
    key_setting: str
    key: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.name} at {self.url}"


@contextmanager
def translated(service: Service, *, seconds: float) -> Iterator[None]:
    """Turn what httpx raises before a response began into our errors."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise UnreachableError(
            f"{service} cannot be reached: is it running, and is {service.setting} right?"
        ) from error
    except (httpx.TimeoutException, TimeoutError) as error:
        raise UnreachableError(f"{service} did not answer within {seconds:g} s") from error
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as error:
        raise ConfigurationError(f"{service.setting} is not usable for {service.name}: {error}") from error
    except httpx.HTTPError as error:
        raise UnreachableError(f"the connection to {service} broke: {type(error).__name__}") from error


def failure_of(response: httpx.Response, service: Service, *, sent: Mapping[str, Any]) -> FootnoteError:
    """The error that a response with a status other than 200 stands for; its body has been read."""
    said = complaint_in(response.content)
    if httpx.codes.is_redirect(response.status_code):
        target = _shown(response.headers.get("Location", ""))
        return ConfigurationError(f"{service} has moved to {target}: set {service.setting} to that")
    if _is_not_there(response.status_code) and json_object(response.content) is None:
        return ConfigurationError(
            f"{_answered(service, response.status_code, said, sent)}; is {service.setting} right?{_BASE_HINT}"
        )
    return failure_for(
        response.status_code, said, service, sent=sent, pause=seconds_to_wait(response.headers)
    )


def failure_in(error: object, service: Service, *, sent: Mapping[str, Any]) -> FootnoteError:
    """The error for an error object inside a response that had begun well."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int | str) and _STATUS.fullmatch(str(code)) else 500
    return failure_for(status, message_in(error), service, sent=sent)


def failure_for(
    status: int, said: str, service: Service, *, sent: Mapping[str, Any], pause: float | None = None
) -> FootnoteError:
    """The error for a status and what was said with it."""
    answered = _answered(service, status, said, sent)
    if status in _REFUSED or any(code in said for code in _SPENT):
        return RefusedError(f"{answered}; check {service.key_setting} and what the account may use")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError(answered, retry_after=pause)
    if status in _ABOUT_THE_INPUT:
        return InvalidInputError(answered)
    if _is_not_there(status):
        return ConfigurationError(f"{answered}; is the model's name right, and is it installed there?")
    if httpx.codes.is_client_error(status) and status not in _TRANSIENT:
        return ConfigurationError(answered)
    return AnsweredError(answered)


def json_of(response: httpx.Response, service: Service, *, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object in a response with status 200.

    Raises:
        UnavailableError: it holds something else, such as a proxy's HTML page.
    """
    value = json_object(response.content)
    if value is None:
        raise unexpected(response, service, sent=sent)
    return value


def list_of(response: httpx.Response, service: Service, *, sent: Mapping[str, Any]) -> list[Any]:
    """The JSON list in a response with status 200.

    Raises:
        UnavailableError: it holds something else.
    """
    value = json_list(response.content)
    if value is None:
        raise unexpected(response, service, sent=sent)
    return value


def unexpected(response: httpx.Response, service: Service, *, sent: Mapping[str, Any]) -> UnavailableError:
    """The error for a response that claims success and is no answer of the API."""
    kind = response.headers.get("Content-Type", "").split(";")[0] or "something"
    what = "broken or unexpected JSON" if "json" in kind else f"{kind} instead of JSON"
    said = snippet(complaint_in(response.content), key=service.key, sent=sent)
    return UnavailableError(
        f"{service} answered {what}: {said or 'nothing at all'}; is {service.setting} right?{_BASE_HINT}"
    )


def _answered(service: Service, status: int, said: str, sent: Mapping[str, Any]) -> str:
    short = snippet(said, key=service.key, sent=sent)
    return f"{service} answered {status}" + (f": {short}" if short else "")


def _shown(location: str) -> str:
    """Where a service has moved to, without what may be secret in it."""
    try:
        return without_credentials(location)[:LENGTH] or "another place"
    except ValueError:
        return "another place"


def _is_not_there(status: int) -> bool:
    return status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE}
