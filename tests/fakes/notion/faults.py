"""Scripted trouble: what goes wrong, at which endpoint, and how often.

server.faults.add(faults.rate_limited(retry_after=2), every=4)
server.faults.add(faults.bad_gateway(), route=routes.CHILDREN, times=2)
server.faults.add(faults.repeated_cursor(), route=routes.USERS)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fakes.notion.richtext import Json

if TYPE_CHECKING:
    from tests.fakes.notion.server import RequestRecord


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer this instead of the truth."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slow:
    """Answer the truth after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection: before an answer, or after ``sent`` bytes of it."""

    sent: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Answer the truth, changed. The function gets the request and the answer."""

    change: Callable[[RequestRecord, Json], Json]


@dataclass(frozen=True, slots=True)
class RefuseCursor:
    """Refuse a cursor that was good when it was given out (listings without one are unharmed)."""


Action = Answer | Slow | Drop | Change | RefuseCursor


def error(
    status: int,
    code: str,
    message: str = "",
    *,
    retry_after: int | str | None = None,
    additional: Json | None = None,
) -> Answer:
    """Any error object."""
    body: Json = {"object": "error", "status": status, "code": code, "message": message or code}
    if additional is not None:
        body["additional_data"] = additional
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer(status, json.dumps(body).encode(), headers=headers)


def rate_limited(retry_after: int | str | None = 1, reason: str | None = "connection") -> Answer:
    """429; ``reason`` stands in ``additional_data.rate_limit_reason``."""
    more = {"rate_limit_reason": reason} if reason else None
    message = "You have been rate limited. Please try again in a few minutes."
    return error(429, "rate_limited", message, retry_after=retry_after, additional=more)


def overloaded(retry_after: int | str | None = 1) -> Answer:
    """529: the service as a whole is busy."""
    return error(529, "service_overload", "Notion is overloaded.", retry_after=retry_after)


def internal_error() -> Answer:
    """500."""
    return error(500, "internal_server_error", "Unexpected error occurred.")


def unavailable() -> Answer:
    """503."""
    return error(503, "service_unavailable", "Notion is unavailable, please try again later.")


def unauthorized() -> Answer:
    """401: the token was revoked."""
    return error(401, "unauthorized", "API token is invalid.")


def restricted() -> Answer:
    """403: the integration lacks a capability."""
    return error(403, "restricted_resource", "Insufficient permissions for this endpoint.")


def not_found() -> Answer:
    """404: not there, or not shared."""
    return error(404, "object_not_found", "Could not find object.")


def conflict() -> Answer:
    """409: two changes met."""
    return error(409, "conflict_error", "Conflict occurred while saving. Please try again.")


def bad_gateway() -> Answer:
    """502 with an HTML page, as a gateway gives it."""
    return Answer(502, b"<html><body>bad gateway</body></html>", "text/html")


def gateway_timeout() -> Answer:
    """504 with an HTML page."""
    return Answer(504, b"<html><body>gateway time-out</body></html>", "text/html")


def html_ok() -> Answer:
    """200 with an HTML page: a proxy's login, for example."""
    return Answer(200, b"<html><body>please sign in</body></html>", "text/html")


def not_json() -> Answer:
    """200 that says JSON and is none."""
    return Answer(200, b'{"object": "list", "results": [')


def slow(seconds: float) -> Slow:
    """The truth, late."""
    return Slow(seconds)


def drop() -> Drop:
    """No answer; the connection closes."""
    return Drop()


def cut_short(after_bytes: int = 40) -> Drop:
    """The connection closes in the middle of the body."""
    return Drop(after_bytes)


def invalid_cursor() -> RefuseCursor:
    """400 for the cursor of a listing that was going well."""
    return RefuseCursor()


def repeated_cursor() -> Change:
    """``next_cursor`` is the cursor that was sent: the listing never moves on."""

    def change(request: RequestRecord, answer: Json) -> Json:
        sent = request.value("start_cursor")
        return {**answer, "has_more": True, "next_cursor": sent} if sent else answer

    return Change(change)


def empty_listing() -> Change:
    """200 with nothing in it and nothing to follow."""
    return Change(lambda _, answer: {**answer, "results": [], "has_more": False, "next_cursor": None})


def empty_page() -> Change:
    """A page of results with nothing in it, although more follows."""
    return Change(lambda _, answer: {**answer, "results": []} if answer.get("has_more") else answer)


def no_has_more() -> Change:
    """A listing without the key ``has_more``."""
    return Change(lambda _, answer: {key: value for key, value in answer.items() if key != "has_more"})


def more_without_cursor() -> Change:
    """``has_more`` is true and there is no cursor to go on with."""
    return Change(lambda _, answer: {**answer, "has_more": True, "next_cursor": None})


def incomplete() -> Change:
    """``request_status`` says that the listing does not hold everything."""
    status = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
    return Change(lambda _, answer: {**answer, "request_status": status})


@dataclass(slots=True)
class Rule:
    """One trouble. ``fired`` counts how often it happened."""

    action: Action
    route: str | None = None
    every: int = 1
    after: int = 0
    times: int | None = None
    where: Callable[[RequestRecord], bool] | None = None
    seen: int = 0
    fired: int = 0

    def strikes(self, request: RequestRecord) -> bool:
        """Whether it happens to this request; counts either way."""
        if self.route is not None and request.route != self.route:
            return False
        if self.where is not None and not self.where(request):
            return False
        self.seen += 1
        spent = self.times is not None and self.fired >= self.times
        due = self.seen > self.after and (self.seen - self.after) % self.every == 0
        if spent or not due:
            return False
        self.fired += 1
        return True


class Faults:
    """The rules in force. Several may strike one request; the first answer wins."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def add(
        self,
        action: Action,
        *,
        route: str | None = None,
        every: int = 1,
        after: int = 0,
        times: int | None = None,
        where: Callable[[RequestRecord], bool] | None = None,
    ) -> Rule:
        """Make trouble: at one endpoint or at all, skipping the first ``after`` matching requests,
        then at every n-th, at most ``times`` times, and only ``where`` the function agrees."""
        rule = Rule(action, route, every, after, times, where)
        self.rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        """End one trouble."""
        self.rules.remove(rule)

    def clear(self) -> None:
        """End all trouble."""
        self.rules.clear()

    def striking(self, request: RequestRecord) -> list[Action]:
        """What happens to this request."""
        return [rule.action for rule in self.rules if rule.strikes(request)]
