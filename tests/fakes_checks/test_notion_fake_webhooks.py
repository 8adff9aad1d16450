"""The stand-in delivers events as Notion does: signed, aggregated, repeated, out of order."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.fakes.notion import Webhooks, Workspace, blocks


@dataclass
class Receiver:
    """What a webhook of ours would get; answers with ``statuses``, then with 200."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    signatures: list[str | None] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        """Keep the raw body and its signature."""
        self.bodies.append(await request.read())
        self.signatures.append(request.headers.get("X-Notion-Signature"))
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The bodies, read."""
        return [json.loads(body) for body in self.bodies]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver on loopback."""
    held = Receiver()
    application = web.Application()
    application.router.add_post("/hook", held.take)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    held.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield held
    await runner.cleanup()


async def test_not17_the_handshake_tells_the_key_of_the_signatures(
    workspace: Workspace, receiver: Receiver
) -> None:
    """Token first; then every body, non-ASCII included, is signed with it."""
    hooks = Webhooks(workspace, receiver.url)
    workspace.name = "Büro – команда"
    assert await hooks.handshake() == 200
    workspace.add_page("Straße")
    assert await hooks.deliver() == [200]
    token = receiver.events[0]["verification_token"]
    assert receiver.events[0] == {"verification_token": token}
    for body, signature in zip(receiver.bodies, receiver.signatures, strict=True):
        digest = hmac.new(token.encode(), body, hashlib.sha256).hexdigest()
        assert signature == f"sha256={digest}"
    assert "Büro".encode() in receiver.bodies[1]


async def test_changes_become_the_events_notion_has(workspace: Workspace, receiver: Receiver) -> None:
    """Each kind of change tells its kind of event, with entity, parent and what was updated."""
    hooks = Webhooks(workspace, receiver.url)
    top = workspace.add_page("Top")
    page = workspace.add_page("Page", parent=top, blocks=[blocks.paragraph("text")])
    base = workspace.add_database("Base", parent=top)
    source = workspace.databases[base].sources[0]
    row = workspace.add_row(source, "Row")
    hooks.pending()
    block = workspace.find_block(page, "text")
    old = workspace.add_comment(block, "Earlier")
    hooks.pending()
    changes: dict[str, Callable[[], object]] = {
        "page.content_updated": lambda: workspace.edit_block(block, "new"),
        "page.properties_updated": lambda: workspace.rename(row, "Renamed"),
        "page.content_updated (title)": lambda: workspace.rename(page, "New title"),
        "page.moved": lambda: workspace.move(page, None),
        "page.deleted": lambda: workspace.trash(page),
        "page.undeleted": lambda: workspace.restore(page),
        "page.locked": lambda: workspace.lock(page),
        "data_source.schema_updated": lambda: workspace.rename(source, "Rows"),
        "database.deleted": lambda: workspace.trash(base),
        "comment.created": lambda: workspace.add_comment(block, "Hm"),
        "comment.deleted": lambda: workspace.delete_comment(old),
    }
    seen = {}
    for kind, change in changes.items():
        change()
        told = {event["type"]: event for event in hooks.pending()}
        assert kind.split()[0] in told, f"{kind} missing in {sorted(told)}"
        seen[kind] = told[kind.split()[0]]
    assert seen["page.content_updated"]["entity"] == {"id": page, "type": "page"}
    assert seen["page.content_updated"]["data"] == {
        "parent": {"id": top, "type": "page"},
        "updated_blocks": [{"id": block, "type": "block"}],
    }
    assert seen["page.content_updated (title)"]["data"]["updated_blocks"] == [{"id": page, "type": "page"}]
    assert seen["page.properties_updated"]["data"] == {
        "parent": {"id": base, "type": "database", "data_source_id": source},
        "updated_properties": ["title"],
    }
    assert seen["page.moved"]["data"]["parent"] == {"id": workspace.id, "type": "space"}
    assert seen["comment.created"]["data"]["page_id"] == page


async def test_unsharing_tells_nothing_unless_asked(workspace: Workspace, receiver: Receiver) -> None:
    """NOT-7: without an event only the next reconciliation can notice."""
    hooks = Webhooks(workspace, receiver.url)
    page = workspace.add_page("Page")
    hooks.pending()
    workspace.unshare(page)
    assert hooks.pending() == []
    workspace.share(page)
    workspace.unshare(page, event=True)
    assert [event["type"] for event in hooks.pending()] == ["page.deleted"]


async def test_a_burst_on_one_page_is_one_event_or_a_thousand(
    workspace: Workspace, receiver: Receiver
) -> None:
    """Aggregated, 1,000 edits are one delivery with each block once; else each has its own id."""
    hooks = Webhooks(workspace, receiver.url)
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    hooks.pending()
    block = workspace.block_ids(page)[0]
    for number in range(1000):
        workspace.edit_block(block, f"text {number}")
    kept = list(workspace.events)
    (event,) = hooks.pending()
    assert event["data"]["updated_blocks"] == [{"id": block, "type": "block"}]
    workspace.events = kept
    single = hooks.pending(aggregate=False)
    assert len({item["id"] for item in single}) == 1000


async def test_deliveries_repeat_and_lose_their_order(workspace: Workspace, receiver: Receiver) -> None:
    """NOT-17: every event arrives twice with one id, and not in the order of the changes."""
    hooks = Webhooks(workspace, receiver.url)
    pages = [workspace.add_page(f"Page {n}") for n in range(6)]
    assert await hooks.deliver(repeat=2, shuffle=True) == [200] * 12
    arrived = [event["entity"]["id"] for event in receiver.events]
    assert sorted(arrived) == sorted(pages * 2)
    assert list(dict.fromkeys(arrived)) != pages
    assert len({event["id"] for event in receiver.events}) == 6


async def test_a_refused_delivery_is_tried_again_with_a_higher_number(
    workspace: Workspace, receiver: Receiver
) -> None:
    """The attempt number grows until the answer is 2xx or the attempts are used up."""
    hooks = Webhooks(workspace, receiver.url)
    workspace.add_page("Page")
    receiver.statuses = [503, 500, 200]
    assert await hooks.deliver() == [200]
    assert [event["attempt_number"] for event in receiver.events] == [1, 2, 3]
    assert len({event["id"] for event in receiver.events}) == 1
    workspace.add_page("Other")
    receiver.bodies.clear()
    receiver.statuses = [500] * 8
    assert await hooks.deliver() == [500]
    assert [event["attempt_number"] for event in receiver.events] == list(range(1, 9))


async def test_forged_and_unsigned_deliveries_can_be_sent(workspace: Workspace, receiver: Receiver) -> None:
    """A test can send a wrong signature, or none."""
    hooks = Webhooks(workspace, receiver.url)
    await hooks.post({"type": "page.created"}, signature="sha256=00")
    await hooks.post({"type": "page.created"}, signature="")
    assert receiver.signatures == ["sha256=00", None]
