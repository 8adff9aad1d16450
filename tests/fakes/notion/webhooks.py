"""Deliveries of events to the product's webhook, with Notion's signature and Notion's bad habits."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import Sequence
from uuid import NAMESPACE_URL, UUID, uuid5

import aiohttp

from tests.fakes.notion.clock import to_millisecond
from tests.fakes.notion.present import CURRENT
from tests.fakes.notion.records import Event, Parent
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace

MAX_ATTEMPTS = 8  # reported by third parties, spread over about a day
_TIMEOUT = aiohttp.ClientTimeout(total=10)
_PARENTS = {
    "workspace": "space",
    "page_id": "page",
    "block_id": "block",
    "database_id": "database",
    "data_source_id": "database",
}


class Webhooks:
    """One subscription. Events gather in the workspace until they are delivered.

    ``verification_token`` is the key of the signatures; the handshake tells it to the receiver.
    """

    def __init__(self, workspace: Workspace, url: str, *, seed: int = 0) -> None:
        self.workspace = workspace
        self.url = url
        self.verification_token = f"secret_{workspace.id.replace('-', '')}"
        self.subscription = workspace.new_id()
        self.integration = workspace.new_id()
        self.delivered: list[tuple[Json, int]] = []
        """Payloads with the status each was answered with."""
        self._random = random.Random(seed)
        self._sent = 0

    def sign(self, body: bytes) -> str:
        """The value of ``X-Notion-Signature`` for a raw body."""
        digest = hmac.new(self.verification_token.encode(), body, hashlib.sha256).hexdigest()
        return f"sha256={digest}"

    def pending(self, *, aggregate: bool = True) -> list[Json]:
        """The payloads of the events since the last call; equal kinds of one object become one."""
        events, self.workspace.events = self.workspace.events, []
        groups: dict[object, list[Event]] = {}
        for number, event in enumerate(events):
            key = (event.type, event.entity) if aggregate and event.type.endswith("_updated") else number
            groups.setdefault(key, []).append(event)
        return [self.payload(group) for group in groups.values()]

    def payload(self, events: Sequence[Event], attempt: int = 1) -> Json:
        """One delivery for one event, or for several of the same kind that were aggregated."""
        last = events[-1]
        self._sent += 1
        authors = dict.fromkeys(event.author for event in events)
        return {
            "id": str(uuid5(UUID(self.subscription), f"{self._sent}/{last.entity}")),
            "timestamp": to_millisecond(last.at).replace("+00:00", "Z"),
            "workspace_id": self.workspace.id,
            "workspace_name": self.workspace.name,
            "subscription_id": self.subscription,
            "integration_id": self.integration,
            "authors": [{"id": author, "type": "person"} for author in authors],
            "attempt_number": attempt,
            "api_version": CURRENT,
            "entity": {"id": last.entity, "type": last.entity_kind},
            "type": last.type,
            "data": self._data(events),
        }

    async def handshake(self) -> int:
        """The one-time request that tells the receiver its verification token; its status."""
        return await self.post({"verification_token": self.verification_token})

    async def deliver(
        self,
        payloads: Sequence[Json] | None = None,
        *,
        repeat: int = 1,
        shuffle: bool = False,
        attempts: int = MAX_ATTEMPTS,
    ) -> list[int]:
        """Deliver the pending events (or these payloads): each ``repeat`` times, in any order if
        ``shuffle``, and again with a higher ``attempt_number`` while the answer is not 2xx.
        The last status of each delivery. There is no pause between attempts."""
        queue = [item for item in (self.pending() if payloads is None else payloads) for _ in range(repeat)]
        if shuffle:
            self._random.shuffle(queue)
        statuses = []
        for payload in queue:
            status = 0
            for attempt in range(payload.get("attempt_number", 1), attempts + 1):
                status = await self.post({**payload, "attempt_number": attempt})
                if 200 <= status < 300:
                    break
            statuses.append(status)
        return statuses

    async def post(self, payload: Json, *, signature: str | None = None) -> int:
        """Send one payload, signed (or with the given signature; empty leaves the header out)."""
        body = json.dumps(payload, ensure_ascii=False).encode()
        signed = self.sign(body) if signature is None else signature
        headers = {"Content-Type": "application/json", "User-Agent": "notion-api"}
        if signed:
            headers["X-Notion-Signature"] = signed
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.post(self.url, data=body, headers=headers) as response,
        ):
            self.delivered.append((payload, response.status))
            return response.status

    def _data(self, events: Sequence[Event]) -> Json:
        last = events[-1]
        data: Json = {"parent": self._parent(last.parent)}
        if last.type.endswith("content_updated"):
            seen = dict.fromkeys(block for event in events for block in event.blocks)
            data["updated_blocks"] = [{"id": block, "type": kind} for block, kind in seen]
        elif last.type == "page.properties_updated":
            data["updated_properties"] = list(dict.fromkeys(p for event in events for p in event.properties))
        elif last.type.startswith("comment."):
            known = self.workspace.knows(last.parent.id)
            page = self.workspace.page_of(self.workspace.record(last.parent.id)) if known else None
            data["page_id"] = page.id if page else last.parent.id
        return data

    def _parent(self, parent: Parent) -> Json:
        if parent.kind == "workspace":
            return {"id": self.workspace.id, "type": "space"}
        answer = {"id": parent.id, "type": _PARENTS.get(parent.kind, "block")}
        if parent.kind == "data_source_id" and parent.id in self.workspace.sources:
            answer["id"] = self.workspace.sources[parent.id].parent.id
            answer["data_source_id"] = parent.id
        return answer


def event_id(text: str) -> str:
    """A well-formed event id from any text, for payloads made by hand."""
    return str(uuid5(NAMESPACE_URL, text))
