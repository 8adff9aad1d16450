"""Messages coming into being: who is notified, which ids the server gives, and who hears of it."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.discord import payloads
from tests.fakes.discord.forms import COMPONENTS_V2, EPHEMERAL, LOADING
from tests.fakes.discord.permissions import VIEW_CHANNEL
from tests.fakes.discord.world import APPLICATION, BOT_USER, Channel, Interaction, Message, World, shown_text

Dispatch = Callable[[str, dict[str, Any], int], None]
"""Event, data, server (0 for direct messages)."""


class Posting:
    """Writes messages into the world and tells the gateway."""

    def __init__(self, world: World, dispatch: Dispatch) -> None:
        self._world = world
        self._dispatch = dispatch
        self._nonces: dict[tuple[int, str], int] = {}

    def post(
        self,
        channel: Channel,
        body: Mapping[str, Any],
        *,
        author: int = BOT_USER,
        interaction: Interaction | None = None,
        ephemeral: bool = False,
    ) -> Message:
        """A new message; the same nonce twice gives the same message."""
        nonce = str(body.get("nonce") or "")
        if body.get("enforce_nonce") and (channel.id, nonce) in self._nonces:
            return self._world.messages[self._nonces[channel.id, nonce]]
        made = self._made(channel, body, author=author, ephemeral=ephemeral)
        if interaction is not None:
            made.token = interaction.token
            made.ephemeral_for = interaction.user if ephemeral else 0
            made.body |= {
                "webhook_id": str(APPLICATION),
                "application_id": str(APPLICATION),
                "interaction_metadata": self._metadata(interaction),
            }
        self._world.messages[made.id] = made
        if nonce:
            self._nonces[channel.id, nonce] = made.id
        if not ephemeral:
            event = payloads.message(self._world, made)
            if channel.guild:
                guild = self._world.guilds[channel.guild]
                event["guild_id"] = str(channel.guild)
                if author in guild.members:
                    event["member"] = payloads.member(self._world, guild, author)
            self._dispatch("MESSAGE_CREATE", event, channel.guild)
        return made

    def change(self, message: Message, body: Mapping[str, Any]) -> Message:
        """An edit: fields that are not given stay."""
        kept = message.body
        if "content" in body:
            kept["content"] = body["content"] or ""
        if "components" in body:
            kept["components"] = self._numbered(body["components"] or [])
        if "attachments" in body:
            kept["attachments"] = list(body["attachments"] or [])
        if "flags" in body:
            kept["flags"] = (kept["flags"] & ~COMPONENTS_V2) | (body["flags"] or 0)
        kept["flags"] &= ~LOADING
        kept["edited_timestamp"] = self._world.clock.now().isoformat()
        message.is_loading = False
        message.edits += 1
        message.pinged |= self._pinged(message, body, self._world.channels[message.channel])
        return message

    def _metadata(self, interaction: Interaction) -> dict[str, Any]:
        """What led to a response: a command, a button, or a modal that a button opened."""
        made: dict[str, Any] = {
            "id": str(interaction.id),
            "type": interaction.type,
            "user": self._world.users[interaction.user].as_json(),
            "authorizing_integration_owners": {},
        }
        pressed = {"interacted_message_id": str(interaction.message)}
        match interaction.type:
            case 3:
                return made | pressed
            case 5:
                return made | {"triggering_interaction_metadata": made | pressed | {"type": 3}}
            case _:
                return made

    def _made(self, channel: Channel, body: Mapping[str, Any], *, author: int, ephemeral: bool) -> Message:
        content = body.get("content") or ""
        message_id = self._world.new_id()
        flags = (body.get("flags") or 0) & ~EPHEMERAL | (EPHEMERAL if ephemeral else 0)
        made: dict[str, Any] = {
            "id": str(message_id),
            "channel_id": str(channel.id),
            "type": 19 if body.get("message_reference") else 0,
            "content": content,
            "author": self._world.users[author].as_json(),
            "timestamp": self._world.clock.now().isoformat(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": self._mentioned(content, body, author),
            "mention_roles": [role for role in self._roles(channel) if f"<@&{role}>" in content],
            "attachments": list(body.get("attachments") or []),
            "embeds": list(body.get("embeds") or []),
            "pinned": False,
            "components": self._numbered(body.get("components") or []),
            "flags": flags,
        }
        if body.get("message_reference"):
            made["message_reference"] = {
                "type": 0,
                "message_id": str(body["message_reference"]["message_id"]),
                "channel_id": str(channel.id),
                **({"guild_id": str(channel.guild)} if channel.guild else {}),
            }
        if body.get("nonce"):
            made["nonce"] = body["nonce"]
        message = Message(
            id=message_id,
            channel=channel.id,
            author=author,
            body=made,
            is_loading=bool(flags & LOADING),
        )
        message.pinged = self._pinged(message, body, channel)
        return message

    def _mentioned(self, content: str, body: Mapping[str, Any], author: int) -> list[dict[str, Any]]:
        named = [
            user
            for user in self._world.users.values()
            if f"<@{user.id}>" in content or f"<@!{user.id}>" in content
        ]
        replied = body.get("message_reference")
        if replied and (body.get("allowed_mentions") or {}).get("replied_user", author != BOT_USER):
            answered = self._world.messages.get(int(replied["message_id"]))
            if answered is not None and all(user.id != answered.author for user in named):
                named.append(self._world.users[answered.author])
        return [user.as_json() for user in named]

    def _roles(self, channel: Channel) -> list[str]:
        return [str(role) for role in self._world.guilds[channel.guild].roles] if channel.guild else []

    def _pinged(self, message: Message, body: Mapping[str, Any], channel: Channel) -> frozenset[str]:
        """Who would be notified, were the message read by Discord with these ``allowed_mentions``."""
        allowed = body.get("allowed_mentions")
        parse = ("users", "roles", "everyone") if allowed is None else tuple(allowed.get("parse") or ())
        listed = {str(one) for key in ("users", "roles") for one in (allowed or {}).get(key) or []}
        text = shown_text(message)
        pinged = set()
        for user in self._world.users.values():
            if f"<@{user.id}>" in text and ("users" in parse or str(user.id) in listed):
                pinged.add(str(user.id))
        for role in self._roles(channel):
            if f"<@&{role}>" in text and ("roles" in parse or role in listed):
                pinged.add(role)
        if "everyone" in parse and ("@everyone" in text or "@here" in text):
            pinged.add("everyone")
        replied = body.get("message_reference")
        if replied and (allowed is None or allowed.get("replied_user")):
            pinged.add("author of the message")
        return frozenset(pinged)

    def _numbered(self, components: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The server gives every component an id."""
        counter = iter(range(1, 1000))

        def numbered(component: dict[str, Any]) -> dict[str, Any]:
            made = {"id": component.get("id") or next(counter), **component}
            if "emoji" in made:
                made["emoji"] = {key: value for key, value in made["emoji"].items() if value is not None}
            for key in ("components",):
                if key in made:
                    made[key] = [numbered(one) for one in made[key]]
            for key in ("accessory", "component"):
                if key in made:
                    made[key] = numbered(made[key])
            return made

        return [numbered(component) for component in components]


def can_see(world: World, user: int, channel: Channel) -> bool:
    """Whether somebody sees a channel."""
    return bool(world.may(user, channel) & VIEW_CHANNEL)
