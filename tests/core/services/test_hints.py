"""From Notion's webhook to the index: signed deliveries over HTTP, gathered and followed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import pytest
from aiohttp import web

from adapters.sources.notion_webhook import WebhookReceiver, sign
from core.domain.ids import PageId
from core.services.hints import HintFollower
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import Webhooks, blocks, routes


@asynccontextmanager
async def subscribed(rig: SyncRig) -> AsyncIterator[tuple[Webhooks, HintFollower]]:
    """A web server with the receiver, and a subscription of the stand-in to it."""
    follower = HintFollower(rig.syncer)
    hooks = Webhooks(rig.workspace, "")
    receiver = WebhookReceiver(hint=follower.hint, token=hooks.verification_token)

    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=receiver.receive(await request.read(), request.headers))

    application = web.Application()
    application.router.add_post("/webhooks/notion", handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        hooks.url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhooks/notion"
        yield hooks, follower
    finally:
        await runner.cleanup()


async def test_an_edit_is_followed_without_a_listing() -> None:
    """One look at the page, one reading; no search."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("old words")])
        await rig.settled()
        rig.workspace.events.clear()
        async with subscribed(rig) as (hooks, follower):
            rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "new words")
            assert await hooks.deliver() == [200]
            rig.notion.server.forget()

            report = await follower.follow()

        assert report is not None
        assert report.is_clean
        assert rig.bodies(page) == ["new words"]
        assert rig.notion.server.counts == {routes.PAGE: 1, routes.CHILDREN: 1}
        assert await follower.follow() is None


async def test_not17_a_burst_of_1000_events_costs_at_most_two_readings() -> None:
    """However many, however often repeated, in whatever order."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("text 0")])
        await rig.settled()
        rig.workspace.events.clear()
        async with subscribed(rig) as (hooks, follower):
            first = rig.workspace.block_ids(page)[0]
            for number in range(1, 1001):
                rig.workspace.edit_block(first, f"text {number}")
            payloads = hooks.pending(aggregate=False)
            assert len(payloads) == 1000
            rig.notion.server.forget()
            await hooks.deliver(payloads[:20], repeat=3, shuffle=True)
            receiver = WebhookReceiver(hint=follower.hint, token=hooks.verification_token)
            for payload in payloads[:500]:
                deliver(receiver, hooks, payload)
            looking = asyncio.ensure_future(follower.follow())
            for payload in reversed(payloads):
                deliver(receiver, hooks, payload)
                await asyncio.sleep(0)
            await looking
            await follower.follow()

        assert rig.bodies(page) == ["text 1000"]
        assert rig.notion.server.counts[routes.CHILDREN] <= 2


def deliver(receiver: WebhookReceiver, hooks: Webhooks, payload: dict[str, object]) -> None:
    """One delivery without a network."""
    body = json.dumps(payload).encode()
    assert receiver.receive(body, {"x-notion-signature": hooks.sign(body)}) == HTTPStatus.OK


async def test_hints_are_followed_as_they_come() -> None:
    """The follower wakes up by itself, gathers, and goes on after a look that failed."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("old words")])
        await rig.settled()
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "new words")
        turns: asyncio.Queue[float] = asyncio.Queue()

        async def gather(seconds: float) -> None:
            turns.put_nowait(seconds)

        follower = HintFollower(rig.syncer, gather_seconds=2.0, sleep=gather)
        running = asyncio.ensure_future(follower.run())
        rig.notion.server.revoke_token()
        rig.notion.server.forget()
        follower.hint(PageId(page))
        assert await turns.get() == 2.0
        async with asyncio.timeout(10):
            while rig.notion.server.total == 0:  # noqa: ASYNC110 - the server has no event to wait for
                await asyncio.sleep(0.01)
        rig.notion.server.tokens.add(rig.notion.server.token)
        follower.hint(PageId(page))
        await turns.get()
        async with asyncio.timeout(10):
            while rig.bodies(page) != ["new words"]:  # noqa: ASYNC110 - the index has no event to wait for
                await asyncio.sleep(0.01)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_not7_a_deletion_is_followed_at_once() -> None:
    """The page and what hung on it stop answering."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("goneword")])
        below = rig.workspace.add_page("Below", parent=page, blocks=[blocks.paragraph("belowword")])
        await rig.settled()
        rig.workspace.events.clear()
        async with subscribed(rig) as (hooks, follower):
            rig.workspace.trash(page)
            await hooks.deliver(shuffle=True, repeat=2)
            await follower.follow()

        assert below not in rig.pages()
        assert await rig.found("goneword belowword") == []


async def test_created_moved_and_renamed_pages_are_followed() -> None:
    """Whatever the order of the events."""
    async with sync_rig() as rig:
        here = rig.workspace.add_page("Here")
        there = rig.workspace.add_page("There")
        page = rig.workspace.add_page("Page", parent=here, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.events.clear()
        async with subscribed(rig) as (hooks, follower):
            fresh = rig.workspace.add_page("Fresh", parent=there, blocks=[blocks.paragraph("freshword")])
            rig.workspace.move(page, there)
            rig.workspace.rename(there, "Elsewhere")
            await hooks.deliver(shuffle=True)
            await follower.follow()

        assert rig.chunks(page)[0].chunk.breadcrumb == "Elsewhere > Page"
        assert rig.chunks(fresh)[0].chunk.breadcrumb == "Elsewhere > Fresh"


async def test_a_change_of_a_database_asks_for_all_changes() -> None:
    """A schema has no page of its own to look at."""
    async with sync_rig() as rig:
        base = rig.workspace.add_database("Base")
        await rig.settled()
        rig.workspace.events.clear()
        async with subscribed(rig) as (hooks, follower):
            rig.workspace.rename(base, "Things")
            rig.workspace.rename(rig.workspace.databases[base].sources[0], "Things")
            row = rig.workspace.add_row(base, "Row")
            await hooks.deliver()
            report = await follower.follow()

        assert report is not None
        assert row in rig.pages()
        assert rig.chunks(row)[0].chunk.body == "Row"


@pytest.mark.parametrize(
    "forged",
    ["", "sha256=", "sha256=00", "sha1=abc", "ü", sign(b"{}", "another token")],
    ids=["none", "empty", "short", "other hash", "not ascii", "other key"],
)
def test_not17_what_is_not_signed_is_refused(forged: str) -> None:
    """No hint comes of it, whatever it says."""
    hints: list[PageId | None] = []
    receiver = WebhookReceiver(hint=hints.append, token="secret")
    body = b'{"id": "1", "type": "page.created", "entity": {"id": "00000000-0000-0000-0000-000000000001"}}'

    assert receiver.receive(body, {"X-Notion-Signature": forged}) == HTTPStatus.UNAUTHORIZED
    assert hints == []
    assert receiver.receive(body, {"X-Notion-Signature": sign(body, "secret")}) == HTTPStatus.OK
    assert hints == ["00000000-0000-0000-0000-000000000001"]


def test_not17_the_signature_is_over_the_raw_bytes() -> None:
    """Equal JSON in other bytes is another message."""
    receiver = WebhookReceiver(hint=lambda _: None, token="secret")
    body = '{"type":"page.created","name":"Ä"}'.encode()

    header = {"x-notion-signature": sign(body, "secret")}

    assert receiver.receive(body, header) == HTTPStatus.OK
    assert receiver.receive(body.replace(b":", b": "), header) == HTTPStatus.UNAUTHORIZED


def test_not17_the_handshake_is_accepted_once_and_its_token_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first one gives the key; a second one with another key changes nothing."""
    told: list[str] = []
    receiver = WebhookReceiver(hint=lambda _: None, on_handshake=told.append)
    body = b'{"verification_token": "secret_one"}'

    with caplog.at_level("DEBUG"):
        assert receiver.receive(body, {"x-notion-signature": sign(body, "secret_one")}) == HTTPStatus.OK
        other = b'{"verification_token": "secret_two"}'
        assert receiver.receive(other, {"x-notion-signature": sign(other, "secret_two")}) == 401

    assert told == ["secret_one"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"null"])
def test_not10_odd_bodies_and_unknown_events_are_no_harm(body: bytes) -> None:
    """Signed nonsense is refused; event types of tomorrow are accepted and ignored."""
    hints: list[PageId | None] = []
    receiver = WebhookReceiver(hint=hints.append, token="secret")
    unknown = b'{"id": "9", "type": "galaxy.created", "entity": null}'

    assert receiver.receive(body, {"x-notion-signature": sign(body, "secret")}) == HTTPStatus.BAD_REQUEST
    assert receiver.receive(unknown, {"x-notion-signature": sign(unknown, "secret")}) == HTTPStatus.OK
    assert hints == []


def test_nothing_is_believed_before_a_handshake() -> None:
    """Without a token and without anybody to tell it to, every request is refused."""
    body = b'{"verification_token": "secret_one"}'

    assert WebhookReceiver(hint=lambda _: None).receive(body, {}) == HTTPStatus.UNAUTHORIZED
