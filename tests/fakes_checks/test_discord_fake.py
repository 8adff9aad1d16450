"""What the Discord stand-in refuses, by hand-made requests and a bare WebSocket: as strict as Discord."""

import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.fakes.discord import (
    APPLICATION,
    BOT_TOKEN,
    FakeDiscord,
    ImpossibleError,
    Interaction,
    running_discord,
)
from tests.fakes.discord import permissions as bits
from tests.fakes.discord.permissions import Overwrite
from tests.fakes.discord.world import BOT_USER, FORUM, Channel, Guild, User

TEXT = {"type": 10, "content": "hello"}
V2 = 1 << 15


class Place:
    """A server with a channel and a member, and a client that holds the bot's token."""

    def __init__(self, fake: FakeDiscord, http: aiohttp.ClientSession) -> None:
        self.fake = fake
        self.http = http
        self.guild: Guild = fake.world.add_guild("Company")
        self.channel: Channel = fake.world.add_channel(self.guild, "general")
        self.user: User = fake.world.add_user("alice")
        fake.world.join(self.user, self.guild)

    async def call(
        self, method: str, path: str, body: Any = None, *, token: str = BOT_TOKEN
    ) -> tuple[int, Any]:
        """One request; its status and what came back."""
        headers = {"Authorization": f"Bot {token}"} if token else {}
        async with self.http.request(
            method, f"{self.fake.api_url}{path}", json=body, headers=headers
        ) as response:
            text = await response.text()
            return response.status, json.loads(text) if text else None

    async def post(self, body: dict[str, Any]) -> tuple[int, int]:
        """A message in the channel: status, and Discord's code where it was refused."""
        status, answered = await self.call("POST", f"/channels/{self.channel.id}/messages", body)
        return status, answered.get("code", 0)

    def interaction(self) -> Interaction:
        """An ``/ask`` that waits to be acknowledged."""
        self.fake.world.commands[0] = [{"id": "1", "name": "ask", "type": 1, "options": []}]
        return self.fake.people.slash(self.user, self.channel, "ask")

    async def respond(self, interaction: Interaction, body: dict[str, Any]) -> tuple[int, int]:
        """Acknowledge: status and code."""
        path = f"/interactions/{interaction.id}/{interaction.token}/callback"
        status, answered = await self.call("POST", path, body, token="")
        return status, (answered or {}).get("code", 0)

    async def follow_up(self, interaction: Interaction, body: dict[str, Any]) -> tuple[int, int]:
        """A followup: status and code."""
        path = f"/webhooks/{APPLICATION}/{interaction.token}"
        status, answered = await self.call("POST", path, body, token="")
        return status, answered.get("code", 0)


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    """A stand-in of one's own, without rate limits."""
    async with running_discord() as fake, aiohttp.ClientSession() as http:
        fake.limits.is_on = False
        yield Place(fake, http)


# --- messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"content": "x" * 2000}, (200, 0)),
        ({"content": "x" * 2001}, (400, 50035)),
        ({"content": "😀" * 1001}, (400, 50035)),
        ({"content": ""}, (400, 50006)),
        ({"content": "x", "surprise": 1}, (400, 50035)),
        ({"content": "x", "flags": 64}, (400, 50035)),
        ({"content": "x", "flags": V2, "components": [TEXT]}, (400, 50035)),
        ({"flags": V2, "components": [TEXT]}, (200, 0)),
        ({"flags": V2}, (400, 50035)),
        ({"components": [TEXT]}, (400, 50035)),
        ({"flags": V2, "components": [{"type": 10, "content": "x" * 4001}]}, (400, 50035)),
        ({"flags": V2, "components": [{"type": 10, "content": "x" * 2001}] * 2}, (400, 50035)),
        ({"flags": V2, "components": [TEXT] * 40}, (200, 0)),
        ({"flags": V2, "components": [TEXT] * 41}, (400, 50035)),
        ({"flags": V2, "components": [{"type": 10, "content": ""}]}, (400, 50035)),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, (400, 50035)),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, (400, 50035)),
    ],
)
async def test_messages_outside_the_limits_are_refused(
    body: dict[str, Any], expected: tuple[int, int]
) -> None:
    """Length in UTF-16 units, fields, flags, components, mentions."""
    async with place() as here:
        assert await here.post(body) == expected


@pytest.mark.parametrize(
    "button",
    [
        {"type": 2, "style": 2, "label": "x" * 81, "custom_id": "a"},
        {"type": 2, "style": 2, "label": "x", "custom_id": "a" * 101},
        {"type": 2, "style": 2, "custom_id": "a"},
        {"type": 2, "style": 5, "label": "x", "url": "https://a.b/" + "x" * 512},
        {"type": 2, "style": 5, "label": "x", "url": "javascript:alert"},
    ],
)
async def test_buttons_outside_the_limits_are_refused(button: dict[str, Any]) -> None:
    """Labels, ids, addresses."""
    async with place() as here:
        body = {"content": "x", "components": [{"type": 1, "components": [button]}]}

        assert await here.post(body) == (400, 50035)


async def test_two_buttons_with_one_id_are_refused() -> None:
    """And six buttons in one row."""
    async with place() as here:
        button = {"type": 2, "style": 2, "label": "x", "custom_id": "a"}
        others = [{**button, "custom_id": str(number)} for number in range(6)]
        for buttons in ([button, button], others):
            body = {"content": "x", "components": [{"type": 1, "components": buttons}]}
            assert await here.post(body) == (400, 50035)


async def test_the_same_nonce_gives_the_same_message() -> None:
    """Where it is enforced."""
    async with place() as here:
        for _ in range(2):
            await here.post({"content": "x", "nonce": "1", "enforce_nonce": True})

        assert len(here.fake.world.from_bot()) == 1


async def test_a_layout_cannot_become_plain_text_again() -> None:
    """Nor can plain text stay beside a layout."""
    async with place() as here:
        await here.post({"flags": V2, "components": [TEXT]})
        await here.post({"content": "x"})
        layout, plain = here.fake.world.from_bot()
        where = f"/channels/{here.channel.id}/messages"

        assert (await here.call("PATCH", f"{where}/{layout.id}", {"content": "x"}))[0] == 400
        both = {"flags": V2, "components": [TEXT]}
        assert (await here.call("PATCH", f"{where}/{plain.id}", both))[0] == 400
        assert (await here.call("PATCH", f"{where}/{plain.id}", {**both, "content": None}))[0] == 200


async def test_mentions_notify_only_whom_they_are_allowed_to() -> None:
    """Without ``allowed_mentions`` everybody named; with it only who is listed."""
    async with place() as here:
        text = f"@everyone <@{here.user.id}>"
        await here.post({"content": text})
        await here.post({"content": text, "allowed_mentions": {"parse": []}})
        await here.post({"content": text, "allowed_mentions": {"parse": [], "users": [str(here.user.id)]}})

        pinged = [message.pinged for message in here.fake.world.from_bot()]
        assert pinged == [{"everyone", str(here.user.id)}, frozenset(), {str(here.user.id)}]


# --- permissions -----------------------------------------------------------------------------------------


async def test_permissions_of_the_bot_count_channel_by_channel() -> None:
    """50001 where it sees nothing, 50013 where it may not write, 401 without the token."""
    async with place() as here:
        here.channel.overwrites[here.guild.id] = Overwrite(deny=bits.SEND_MESSAGES)
        assert await here.post({"content": "x"}) == (403, 50013)
        here.channel.overwrites[here.guild.id] = Overwrite(deny=bits.VIEW_CHANNEL)
        assert await here.post({"content": "x"}) == (403, 50001)
        where = f"/channels/{here.channel.id}/messages"
        assert (await here.call("POST", where, {"content": "x"}, token="wrong"))[0] == 401
        assert here.fake.limits.invalid == 3


async def test_people_cannot_do_what_their_client_would_not_let_them() -> None:
    """Hidden commands, missing options, buttons that are not there."""
    async with place() as here:
        hidden = {"id": "1", "name": "resync", "type": 1, "options": [], "default_member_permissions": 1 << 5}
        here.fake.world.commands[0] = [hidden]
        message = here.fake.people.say(here.user, here.channel, "hello")
        with pytest.raises(ImpossibleError, match="not offered"):
            here.fake.people.slash(here.user, here.channel, "resync")
        with pytest.raises(ImpossibleError, match="never registered"):
            here.fake.people.slash(here.user, here.channel, "ask")
        with pytest.raises(ImpossibleError, match="no button"):
            here.fake.people.press(here.user, message, "x")


# --- interactions ----------------------------------------------------------------------------------------


async def test_an_interaction_is_acknowledged_once() -> None:
    """The second time is 40060."""
    async with place() as here:
        interaction = here.interaction()

        assert await here.respond(interaction, {"type": 5}) == (204, 0)
        assert await here.respond(interaction, {"type": 5}) == (400, 40060)


async def test_an_interaction_expires_after_three_seconds() -> None:
    """10062 from then on, and its followups find no webhook."""
    async with place() as here:
        interaction = here.interaction()
        here.fake.world.clock.advance(3.1)

        assert await here.respond(interaction, {"type": 5}) == (404, 10062)
        assert await here.follow_up(interaction, {"content": "x"}) == (404, 10015)


async def test_a_token_expires_after_fifteen_minutes() -> None:
    """10015 from then on."""
    async with place() as here:
        interaction = here.interaction()
        await here.respond(interaction, {"type": 5})
        here.fake.world.clock.advance(14 * 60)
        assert await here.follow_up(interaction, {"content": "x"}) == (200, 0)
        here.fake.world.clock.advance(61)

        assert await here.follow_up(interaction, {"content": "x"}) == (404, 10015)


async def test_the_first_followup_is_as_private_as_the_deferral_and_no_other() -> None:
    """Each further one is what it says itself."""
    async with place() as here:
        interaction = here.interaction()
        await here.respond(interaction, {"type": 5, "data": {"flags": 64}})
        await here.follow_up(interaction, {"content": "first"})
        await here.follow_up(interaction, {"content": "second"})
        await here.follow_up(interaction, {"content": "third", "flags": 64})

        private = [bool(message.ephemeral_for) for message in here.fake.world.from_bot()]
        assert private == [True, False, True]


@pytest.mark.parametrize(
    "body",
    [
        {"type": 5, "data": {"flags": 4}},
        {"type": 6},
        {"type": 8, "data": {"choices": []}},
        {"type": 4, "data": {"content": "x" * 2001}},
        {"type": 9, "data": {"title": "x" * 46, "custom_id": "a", "components": []}},
        {"type": 99},
    ],
)
async def test_responses_that_do_not_fit_are_refused(body: dict[str, Any]) -> None:
    """And acknowledge nothing."""
    async with place() as here:
        interaction = here.interaction()

        assert await here.respond(interaction, body) == (400, 50035)
        assert interaction.acknowledged is None


@pytest.mark.parametrize(
    "commands",
    [
        [{"name": "Ask", "description": "x"}],
        [{"name": "ask", "description": ""}],
        [{"name": "ask", "description": "x" * 101}],
        [{"name": "ask", "description": "x"}] * 2,
        [{"name": "Answer this", "type": 3, "description": "x"}],
    ],
)
async def test_commands_that_do_not_fit_are_refused(commands: list[dict[str, Any]]) -> None:
    """Names, descriptions, doubles."""
    async with place() as here:
        status, _ = await here.call("PUT", f"/applications/{APPLICATION}/commands", commands)

        assert status == 400


# --- rate limits -----------------------------------------------------------------------------------------


async def test_a_bucket_refuses_what_is_too_much_and_tells_when_to_come_again() -> None:
    """Five messages in five seconds to one channel; another channel has its own bucket."""
    async with place() as here:
        here.fake.limits.is_on = True
        statuses = [(await here.post({"content": "x"}))[0] for _ in range(6)]
        other = here.fake.world.add_channel(here.guild, "other")
        elsewhere, _ = await here.call("POST", f"/channels/{other.id}/messages", {"content": "x"})

        assert statuses == [200] * 5 + [429]
        assert elsewhere == 200


# --- gateway ---------------------------------------------------------------------------------------------


class Line:
    """A bare WebSocket to the gateway."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self._inflate = zlib.decompressobj()

    async def receive(self) -> dict[str, Any]:
        """The next payload; ``{"closed": code}`` at the end."""
        received = await self.ws.receive(timeout=10)
        if received.type is aiohttp.WSMsgType.BINARY:
            found: dict[str, Any] = json.loads(self._inflate.decompress(received.data))
            return found
        return {"closed": self.ws.close_code}

    async def until(self, event: str) -> dict[str, Any]:
        """The next payload of an event."""
        while True:
            payload = await self.receive()
            if payload.get("t") == event or "closed" in payload:
                return payload

    async def identify(self, **changes: Any) -> None:
        """Say who we are."""
        data = {
            "token": BOT_TOKEN,
            "intents": 1 << 9 | 1,
            "properties": {"os": "linux", "browser": "x", "device": "x"},
            "shard": [0, 1],
        }
        await self.ws.send_json({"op": 2, "d": data | changes})


@asynccontextmanager
async def line(here: Place) -> AsyncIterator[Line]:
    """A connection that was greeted."""
    url = f"{here.fake.gateway_url}?v=10&encoding=json&compress=zlib-stream"
    async with here.http.ws_connect(url) as ws:
        connected = Line(ws)
        hello = await connected.receive()
        assert hello["op"] == 10
        yield connected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"shard": [0, 2]}, 4010),
        ({"shard": [1, 1]}, 4010),
        ({"intents": 1 << 15}, 4014),
        ({"intents": 1 << 1}, 4014),
        ({"properties": {}}, 4002),
    ],
)
async def test_whoever_identifies_wrongly_is_shown_out(changes: dict[str, Any], code: int) -> None:
    """Token, shard, intents that were not granted."""
    async with place() as here, line(here) as connected:
        await connected.identify(**changes)

        assert await connected.receive() == {"closed": code}


async def test_nothing_is_taken_before_one_has_identified_and_that_only_once() -> None:
    """4003 and 4005."""
    async with place() as here:
        async with line(here) as connected:
            await connected.ws.send_json({"op": 3, "d": {}})
            assert await connected.receive() == {"closed": 4003}
        async with line(here) as connected:
            await connected.identify()
            await connected.until("GUILD_CREATE")
            await connected.identify()
            assert await connected.receive() == {"closed": 4005}


async def test_a_client_without_heartbeats_is_shown_out() -> None:
    """4009 after two intervals."""
    async with place() as here:
        here.fake.gateway.heartbeat_seconds = 0.1
        async with line(here) as connected:
            assert await connected.receive() == {"closed": 4009}


async def test_a_resume_tells_what_was_missed_in_order_and_nothing_twice() -> None:
    """From the last number that the client knows."""
    async with place() as here:
        async with line(here) as connected:
            await connected.identify()
            ready = await connected.until("READY")
            known = (await connected.until("GUILD_CREATE"))["s"]
            await here.fake.gateway.drop()
        for text in ("one", "two"):
            here.fake.people.say(here.user, here.channel, text)
        async with line(here) as connected:
            session = ready["d"]["session_id"]
            data = {"token": BOT_TOKEN, "session_id": session, "seq": known}
            await connected.ws.send_json({"op": 6, "d": data})
            told = [await connected.receive() for _ in range(3)]

        assert [payload["t"] for payload in told] == ["MESSAGE_CREATE", "MESSAGE_CREATE", "RESUMED"]
        assert [payload["s"] for payload in told] == [known + 1, known + 2, known + 3]


async def test_an_unknown_session_cannot_be_resumed() -> None:
    """Op 9, not to be tried again."""
    async with place() as here, line(here) as connected:
        data = {"token": BOT_TOKEN, "session_id": "x", "seq": 1}
        await connected.ws.send_json({"op": 6, "d": data})
        answered = await connected.receive()

        assert (answered["op"], answered["d"]) == (9, False)


async def test_contents_are_empty_without_the_intent_unless_the_bot_is_named() -> None:
    """As Discord does it."""
    async with place() as here, line(here) as connected:
        await connected.identify()
        await connected.until("GUILD_CREATE")
        here.fake.people.say(here.user, here.channel, "between us")
        here.fake.people.say(here.user, here.channel, f"<@{1_100_000_000_000_000_002}> hello")

        contents = [(await connected.until("MESSAGE_CREATE"))["d"]["content"] for _ in range(2)]
        assert contents == ["", "<@1100000000000000002> hello"]


async def test_closed_places_are_refused_each_in_its_own_way() -> None:
    """Forums, locked threads, replies without the history, people who take no direct messages."""
    async with place() as here:
        world = here.fake.world
        forum = world.add_channel(here.guild, "forum", kind=FORUM)
        thread = world.add_thread(here.channel, "old")
        thread.is_locked = True
        direct = world.direct(here.user.id)
        here.user.takes_direct_messages = False
        refused = [
            (await here.call("POST", f"/channels/{where.id}/messages", {"content": "x"}))[1]["code"]
            for where in (forum, thread, direct)
        ]
        assert refused == [50008, 160005, 50007]

        said = here.fake.people.say(here.user, here.channel, "hello")
        here.channel.overwrites[BOT_USER] = Overwrite(deny=bits.READ_HISTORY)
        reply = {"content": "x", "message_reference": {"message_id": str(said.id)}}
        assert await here.post(reply) == (400, 160002)
        assert (await here.post({"content": "x"}))[0] == 200
