"""The REST API: who may do what, when it is too late, and what it leads to."""

import json
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from aiohttp import web

from tests.fakes.discord import payloads
from tests.fakes.discord import permissions as bits
from tests.fakes.discord.forms import (
    COMPONENTS_V2,
    EPHEMERAL,
    LOADING,
    check_choices,
    check_commands,
    check_message,
    check_modal,
    units,
)
from tests.fakes.discord.posting import Posting
from tests.fakes.discord.refusals import (
    DiscordRefusedError,
    invalid_form,
    missing_access,
    missing_permissions,
    unauthorized,
    unknown,
)
from tests.fakes.discord.world import (
    APPLICATION,
    BOT_TOKEN,
    BOT_USER,
    DIRECT,
    FORUM,
    PUBLIC_THREAD,
    TEXT,
    Channel,
    Interaction,
    Message,
    World,
)

ACKNOWLEDGE_SECONDS = 3.0
TOKEN_SECONDS = 15 * 60.0
MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9

Body = dict[str, Any]
Handler = Callable[[web.Request, Body], Awaitable[tuple[int, Any]]]


class Rest:
    """Handlers of routes; each gives a status and a JSON body."""

    def __init__(self, world: World, posting: Posting) -> None:
        self._world = world
        self._posting = posting
        self.gateway_url = ""
        self.typed: list[int] = []
        self.files: list[bytes] = []
        self.on_thread: Callable[[Channel], None] = lambda _: None

    def routes(self) -> list[tuple[str, str, Handler, str]]:
        """Method, path, handler, and the name of the rate limit's bucket."""
        webhook = "/webhooks/{application:\\d+}/{token}"
        return [
            ("GET", "/gateway/bot", self.get_gateway, ""),
            ("GET", "/users/@me", self.get_me, ""),
            ("GET", "/users/{user:\\d+}", self.get_user, ""),
            ("GET", "/oauth2/applications/@me", self.get_application, ""),
            ("PUT", "/applications/{application}/commands", self.put_commands, "PUT /applications/commands"),
            (
                "PUT",
                "/applications/{application}/guilds/{guild}/commands",
                self.put_commands,
                "PUT /applications/commands",
            ),
            ("POST", "/interactions/{interaction}/{token}/callback", self.respond, ""),
            ("POST", webhook, self.follow_up, "POST /webhooks"),
            ("GET", webhook + "/messages/{message}", self.get_followup, ""),
            ("PATCH", webhook + "/messages/{message}", self.patch_followup, "PATCH /webhooks"),
            ("DELETE", webhook + "/messages/{message}", self.delete_followup, ""),
            ("GET", "/channels/{channel}/messages", self.get_messages, "GET /channels/messages"),
            ("GET", "/channels/{channel}/messages/{message}", self.get_message, ""),
            ("POST", "/channels/{channel}/messages", self.post_message, "POST /channels/messages"),
            (
                "PATCH",
                "/channels/{channel}/messages/{message}",
                self.patch_message,
                "PATCH /channels/messages",
            ),
            ("DELETE", "/channels/{channel}/messages/{message}", self.delete_message, ""),
            ("POST", "/channels/{channel}/messages/{message}/threads", self.post_thread, ""),
            ("POST", "/channels/{channel}/typing", self.post_typing, "POST /channels/typing"),
            ("POST", "/users/@me/channels", self.post_direct, ""),
            ("GET", "/guilds/{guild:\\d+}", self.get_guild, ""),
            ("GET", "/guilds/{guild}/members/{user}", self.get_member, ""),
        ]

    # --- who we are ---

    async def get_gateway(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        start = {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1}
        return 200, {"url": self.gateway_url, "shards": self._world.shards, "session_start_limit": start}

    async def get_me(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        private = {"mfa_enabled": False, "locale": "en-US", "verified": True, "email": None}
        return 200, self._world.users[BOT_USER].as_json() | private

    async def get_user(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        user = self._world.users.get(int(request.match_info["user"]))
        if user is None:
            raise unknown("User", 10013)
        return 200, user.as_json()

    async def get_application(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        return 200, payloads.application(self._world)

    # --- commands ---

    async def put_commands(self, request: web.Request, body: Any) -> tuple[int, Any]:
        _require_token(request)
        if int(request.match_info["application"]) != APPLICATION:
            raise DiscordRefusedError(403, 20012, "You are not authorized to perform this action")
        guild = int(request.match_info.get("guild") or 0)
        if guild and guild not in self._world.guilds:
            raise missing_access()
        check_commands(body)
        registered = [
            {
                "type": 1,
                "description": "",
                "contexts": None,
                "integration_types": [0],
                "nsfw": False,
                "options": [],
                **command,
                "default_member_permissions": _as_text(command.get("default_member_permissions")),
                "id": str(self._world.new_id()),
                "application_id": str(APPLICATION),
                "version": str(self._world.new_id()),
                **({"guild_id": str(guild)} if guild else {}),
            }
            for command in body
        ]
        self._world.commands[guild] = registered
        return 200, registered

    # --- interactions ---

    async def respond(self, request: web.Request, body: Body) -> tuple[int, Any]:
        interaction = self._world.interactions.get(request.match_info["token"])
        now = self._world.clock.now()
        if interaction is None or str(interaction.id) != request.match_info["interaction"]:
            raise unknown("interaction", 10062)
        if interaction.acknowledged is not None:
            raise DiscordRefusedError(400, 40060, "Interaction has already been acknowledged.")
        if now - interaction.made > timedelta(seconds=ACKNOWLEDGE_SECONDS):
            raise unknown("interaction", 10062)
        kind, data = int(body.get("type") or 0), body.get("data") or {}
        self._check_response(interaction, kind, data)
        interaction.acknowledged, interaction.response = now, kind
        message = self._responded(interaction, kind, data)
        if "with_response" not in request.query:
            return 204, None
        shown: Body = {"id": str(interaction.id), "type": interaction.type}
        if message is None:
            return 200, {"interaction": shown}
        shown |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.is_loading,
            "response_message_ephemeral": bool(message.ephemeral_for),
        }
        if kind == DEFERRED:
            return 200, {"interaction": shown}
        resource = {"type": kind, "message": payloads.message(self._world, message)}
        return 200, {"interaction": shown, "resource": resource}

    def _check_response(self, interaction: Interaction, kind: int, data: Body) -> None:
        if (kind == CHOICES) != (interaction.type == 4):
            raise invalid_form(type="this response does not fit the interaction")
        match kind:
            case 4 | 7:
                check_message(data, may_be_private=True, is_edit=kind == UPDATE)
            case 5:
                if (data.get("flags") or 0) & ~EPHEMERAL:
                    raise invalid_form(flags="only EPHEMERAL can be set")
            case 6:
                if interaction.type != 3:
                    raise invalid_form(type="only for components")
            case 8:
                check_choices(data.get("choices") or [])
            case 9:
                if interaction.type == 5:
                    raise invalid_form(type="a modal cannot follow a modal")
                check_modal(data)
            case _:
                raise invalid_form(type="unknown response")

    def _responded(self, interaction: Interaction, kind: int, data: Body) -> Message | None:
        channel = self._world.channels[interaction.channel]
        if kind == CHOICES:
            interaction.result = data.get("choices") or []
            return None
        if kind == MODAL:
            interaction.result = data
            return None
        if kind in (DEFERRED_UPDATE, UPDATE):
            interaction.original = interaction.message
            message = self._world.messages[interaction.message]
            return self._posting.change(message, data) if kind == UPDATE else None
        interaction.is_private = bool((data.get("flags") or 0) & EPHEMERAL)
        body = dict(data)
        if kind == DEFERRED:
            body["flags"] = LOADING
        message = self._posting.post(channel, body, interaction=interaction, ephemeral=interaction.is_private)
        interaction.original = message.id
        return message

    def _by_token(self, request: web.Request) -> Interaction:
        """The acknowledged interaction of a token that is still good."""
        interaction = self._world.interactions.get(request.match_info["token"])
        if interaction is None or interaction.acknowledged is None:
            raise unknown("Webhook", 10015)
        if self._world.clock.now() - interaction.made > timedelta(seconds=TOKEN_SECONDS):
            raise unknown("Webhook", 10015)
        return interaction

    async def follow_up(self, request: web.Request, body: Body) -> tuple[int, Any]:
        interaction = self._by_token(request)
        check_message(body, may_be_private=True)
        original = self._world.messages.get(interaction.original)
        if original is not None and original.is_loading:
            # The first followup takes the place of "thinking", and is as private as that was.
            return 200, payloads.message(self._world, self._posting.change(original, body))
        # Every further one is as private as it says itself.
        private = bool((body.get("flags") or 0) & EPHEMERAL)
        channel = self._world.channels[interaction.channel]
        message = self._posting.post(channel, body, interaction=interaction, ephemeral=private)
        return 200, payloads.message(self._world, message)

    def _followup(self, request: web.Request) -> Message:
        interaction, name = self._by_token(request), request.match_info["message"]
        message_id = interaction.original if name == "@original" else int(name)
        message = self._world.messages.get(message_id)
        if message is None or (message.token != interaction.token and message_id != interaction.original):
            raise unknown("Message", 10008)
        return message

    async def get_followup(self, request: web.Request, _: Body) -> tuple[int, Any]:
        return 200, payloads.message(self._world, self._followup(request))

    async def patch_followup(self, request: web.Request, body: Body) -> tuple[int, Any]:
        message = self._followup(request)
        _check_edit(message, body)
        return 200, payloads.message(self._world, self._posting.change(message, body))

    async def delete_followup(self, request: web.Request, _: Body) -> tuple[int, Any]:
        del self._world.messages[self._followup(request).id]
        return 204, None

    # --- channels ---

    def _channel(self, request: web.Request, needs: int) -> Channel:
        _require_token(request)
        channel = self._world.channels.get(int(request.match_info["channel"]))
        if channel is None:
            raise unknown("Channel", 10003)
        may = self._world.may(BOT_USER, channel)
        if not may & bits.VIEW_CHANNEL:
            raise missing_access()
        if needs & bits.SEND_MESSAGES and channel.type == PUBLIC_THREAD:
            needs = needs & ~bits.SEND_MESSAGES | bits.SEND_IN_THREADS
        if needs & ~may:
            raise missing_permissions()
        return channel

    def _message(self, request: web.Request, channel: Channel) -> Message:
        message = self._world.messages.get(int(request.match_info["message"]))
        if message is None or message.channel != channel.id or message.ephemeral_for:
            raise unknown("Message", 10008)
        return message

    async def get_messages(self, request: web.Request, _: Body) -> tuple[int, Any]:
        channel = self._channel(request, bits.VIEW_CHANNEL)
        if not self._world.may(BOT_USER, channel) & bits.READ_HISTORY:
            return 200, []
        limit = int(request.query.get("limit") or 50)
        if not 1 <= limit <= 100:
            raise invalid_form(limit="int value should be between 1 and 100.")
        after, before = int(request.query.get("after") or 0), int(request.query.get("before") or 2**63)
        found = sorted(
            (
                message
                for message in self._world.messages.values()
                if message.channel == channel.id and after < message.id < before
                if not message.ephemeral_for
            ),
            key=lambda message: message.id,
        )
        chosen = found[:limit] if after else found[-limit:]
        return 200, [self.read_by_bot(message) for message in reversed(chosen)]

    async def get_message(self, request: web.Request, _: Body) -> tuple[int, Any]:
        channel = self._channel(request, bits.READ_HISTORY)
        return 200, self.read_by_bot(self._message(request, channel))

    def read_by_bot(self, message: Message) -> Body:
        """Without the intent, contents of messages that do not concern the bot are empty."""
        body = payloads.message(self._world, message)
        return body if concerns_bot(self._world, message) else without_content(body)

    async def post_message(self, request: web.Request, body: Body) -> tuple[int, Any]:
        channel = self._channel(request, bits.SEND_MESSAGES)
        self._require_open(channel)
        may_read = self._world.may(BOT_USER, channel) & bits.READ_HISTORY
        if body.get("message_reference") and not may_read:
            raise DiscordRefusedError(400, 160002, "Cannot reply without permission to read message history")
        check_message(body)
        return 200, payloads.message(self._world, self._posting.post(channel, body))

    def _require_open(self, channel: Channel) -> None:
        """Refuse where nobody, or not the bot, can write although it may send messages."""
        if channel.type == FORUM:
            raise DiscordRefusedError(400, 50008, "Cannot send messages in a non-text channel")
        if channel.is_locked and not self._world.may(BOT_USER, channel) & bits.MANAGE_THREADS:
            raise DiscordRefusedError(400, 160005, "Thread is locked")
        if channel.type == DIRECT and not self._world.users[channel.recipient].takes_direct_messages:
            raise DiscordRefusedError(403, 50007, "Cannot send messages to this user")

    async def patch_message(self, request: web.Request, body: Body) -> tuple[int, Any]:
        message = self._message(request, self._channel(request, bits.VIEW_CHANNEL))
        if message.author != BOT_USER:
            raise DiscordRefusedError(403, 50005, "Cannot edit a message authored by another user")
        _check_edit(message, body)
        return 200, payloads.message(self._world, self._posting.change(message, body))

    async def delete_message(self, request: web.Request, _: Body) -> tuple[int, Any]:
        message = self._message(request, self._channel(request, bits.VIEW_CHANNEL))
        if message.author != BOT_USER:
            raise missing_permissions()
        del self._world.messages[message.id]
        return 204, None

    async def post_thread(self, request: web.Request, body: Body) -> tuple[int, Any]:
        channel = self._channel(request, bits.CREATE_THREADS)
        message = self._message(request, channel)
        name = body.get("name")
        if not isinstance(name, str) or not 1 <= units(name) <= 100:
            raise invalid_form(name="Must be between 1 and 100 in length.")
        if channel.type != TEXT:
            raise DiscordRefusedError(400, 50024, "Cannot execute action on this channel type")
        if message.id in self._world.channels:
            raise DiscordRefusedError(400, 160004, "A thread has already been created for this message")
        thread = Channel(id=message.id, name=name, guild=channel.guild, type=PUBLIC_THREAD, parent=channel.id)
        self._world.channels[thread.id] = thread
        self.on_thread(thread)
        return 201, payloads.channel(self._world, thread)

    async def post_typing(self, request: web.Request, _: Body) -> tuple[int, Any]:
        self.typed.append(self._channel(request, bits.SEND_MESSAGES).id)
        return 204, None

    async def post_direct(self, request: web.Request, body: Body) -> tuple[int, Any]:
        _require_token(request)
        user = int(body.get("recipient_id") or 0)
        if user not in self._world.users:
            raise unknown("User", 10013)
        return 200, payloads.channel(self._world, self._world.direct(user))

    async def get_guild(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        guild = self._world.guilds.get(int(request.match_info["guild"]))
        if guild is None or BOT_USER not in guild.members:
            raise missing_access()
        return 200, payloads.guild_itself(self._world, guild)

    async def get_member(self, request: web.Request, _: Body) -> tuple[int, Any]:
        _require_token(request)
        guild = self._world.guilds.get(int(request.match_info["guild"]))
        if guild is None:
            raise missing_access()
        user = int(request.match_info["user"])
        if user not in guild.members:
            raise unknown("Member", 10007)
        return 200, payloads.member(self._world, guild, user)


async def read_body(request: web.Request) -> tuple[Body, list[bytes]]:
    """The JSON of a request, and the files that came with it."""
    if not request.content_type.startswith("multipart/"):
        text = await request.text()
        return (json.loads(text) if text else {}), []
    body: Body = {}
    files: list[bytes] = []
    async for part in await request.multipart():
        name = getattr(part, "name", "") or ""
        if name == "payload_json":
            body = json.loads(await part.text())  # type: ignore[union-attr]  # no nested multipart here
        elif re.fullmatch(r"files\[\d+\]", name):
            files.append(bytes(await part.read()))  # type: ignore[union-attr]  # no nested multipart here
    for number, attachment in enumerate(_attachments(body)):
        content = files[number] if number < len(files) else b""
        where = f"https://cdn.discordapp.com/attachments/{attachment['filename']}"
        attachment |= {"id": str(number + 1), "size": len(content), "url": where, "proxy_url": where}
    return body, files


def _attachments(body: Body) -> list[Body]:
    return list((body.get("data") or body).get("attachments") or [])


def concerns_bot(world: World, message: Message) -> bool:
    """Whether the bot may read a message's content: its own, direct, naming it, or with the intent."""
    if message.author == BOT_USER or world.grants_message_content:
        return True
    if not world.channels[message.channel].guild:
        return True
    return any(user["id"] == str(BOT_USER) for user in message.body["mentions"])


def without_content(body: Body) -> Body:
    """What is left of a message without the intent."""
    return body | {"content": "", "embeds": [], "attachments": [], "components": []}


def _as_text(number: Any) -> str | None:
    return None if number is None else str(number)


def _require_token(request: web.Request) -> None:
    if request.headers.get("Authorization") != f"Bot {BOT_TOKEN}":
        raise unauthorized()


def _check_edit(message: Message, body: Body) -> None:
    was_v2 = bool(message.body["flags"] & COMPONENTS_V2)
    check_message(body, may_be_private=True, was_v2=was_v2, is_edit=True)
    if (body.get("flags") or 0) & COMPONENTS_V2 and not was_v2:
        keeps_content = "content" not in body and message.body["content"]
        if keeps_content:
            raise invalid_form(content="cannot be used with IS_COMPONENTS_V2")
