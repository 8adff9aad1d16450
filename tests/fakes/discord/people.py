"""People in the stand-in: they can do what a person could in Discord's own client, and nothing else."""

import asyncio
import secrets
from typing import Any

from tests.fakes.discord import payloads
from tests.fakes.discord import permissions as bits
from tests.fakes.discord.forms import units
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.posting import Posting
from tests.fakes.discord.world import (
    DIRECT,
    PUBLIC_THREAD,
    Channel,
    Interaction,
    Message,
    User,
    World,
    walk,
)

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
_OPTION_TYPES = {str: 3, int: 4, bool: 5}


class ImpossibleError(AssertionError):
    """The test asks a person for something that Discord's client would not let them do."""


class People:
    """Acts for users."""

    def __init__(self, world: World, posting: Posting, gateway: Gateway) -> None:
        self._world = world
        self._posting = posting
        self._gateway = gateway

    # --- messages ---

    def say(
        self, user: User, channel: Channel, text: str, *, reply_to: Message | None = None, pings: bool = True
    ) -> Message:
        """A message, or a reply to one; ``pings`` is the client's switch for the author replied to."""
        needed = bits.SEND_IN_THREADS if channel.type == PUBLIC_THREAD else bits.SEND_MESSAGES
        self._require(user, channel, needed)
        if units(text) > 2000:
            raise ImpossibleError("the client sends 2,000 characters at most")
        body: dict[str, Any] = {"content": text}
        if reply_to is not None:
            body["message_reference"] = {"message_id": reply_to.id}
            body["allowed_mentions"] = {"parse": ["users", "roles", "everyone"], "replied_user": pings}
        return self._posting.post(channel, body, author=user.id)

    def say_again(self, message: Message) -> None:
        """The gateway delivers a message a second time."""
        channel = self._world.channels[message.channel]
        self._gateway.dispatch("MESSAGE_CREATE", payloads.message(self._world, message), channel.guild)

    # --- commands and menus ---

    def commands(self, user: User, channel: Channel) -> tuple[str, ...]:
        """The slash commands that somebody is offered."""
        return tuple(
            str(command["name"])
            for command in self._registered(channel)
            if command["type"] == 1 and self._is_offered(command, user, channel)
        )

    def slash(self, user: User, channel: Channel, name: str, **options: Any) -> Interaction:
        """Run a slash command."""
        command = self._command(user, channel, name, kind=1)
        return self._interact(COMMAND, user, channel, self._invocation(command, options))

    def complete(
        self, user: User, channel: Channel, name: str, option: str, typed: str, **others: Any
    ) -> Interaction:
        """Type into an option; ``result`` will hold the choices."""
        data = self._invocation(self._command(user, channel, name, kind=1), {**others, option: typed})
        for given in data["options"]:
            if given["name"] == option:
                given["focused"] = True
        return self._interact(AUTOCOMPLETE, user, channel, data)

    def menu(self, user: User, message: Message, name: str) -> Interaction:
        """Choose something in a message's menu."""
        channel = self._world.channels[message.channel]
        command = self._command(user, channel, name, kind=3)
        resolved = {"messages": {str(message.id): payloads.message(self._world, message)}}
        data = _named(command) | {"target_id": str(message.id), "resolved": resolved}
        return self._interact(COMMAND, user, channel, data)

    # --- components ---

    def press(self, user: User, message: Message, custom_id: str) -> Interaction:
        """Press a button of a message."""
        channel = self._world.channels[message.channel]
        if message.ephemeral_for not in (0, user.id):
            raise ImpossibleError("nobody else sees that message")
        present = [one for one in walk(message.body["components"]) if one.get("custom_id") == custom_id]
        if not present or present[0].get("disabled"):
            raise ImpossibleError(f"there is no button {custom_id}")
        data = {"custom_id": custom_id, "component_type": 2}
        return self._interact(COMPONENT, user, channel, data, message=message.id)

    def submit(self, opened: Interaction, text: str) -> Interaction:
        """Fill the one field of the modal that an interaction opened, and send it."""
        modal = opened.result
        if not isinstance(modal, dict):
            raise ImpossibleError("no modal was opened")
        field = next(one for one in walk(modal["components"]) if one["type"] == 4)
        if units(text) > field.get("max_length", 4000) or (field.get("required", True) and not text):
            raise ImpossibleError("the client does not send that")
        label = next(one for one in modal["components"])
        entry = {"type": 4, "id": 2, "custom_id": field["custom_id"], "value": text}
        data = {
            "custom_id": modal["custom_id"],
            "components": [
                {"type": 18, "id": 1, "component": entry}
                if label["type"] == 18
                else {"type": 1, "id": 1, "components": [entry]}
            ],
            "resolved": {},
        }
        channel = self._world.channels[opened.channel]
        user = self._world.users[opened.user]
        return self._interact(MODAL_SUBMIT, user, channel, data, message=opened.message)

    # --- waiting ---

    async def acknowledged(self, interaction: Interaction, *, seconds: float = 15.0) -> Interaction:
        """Wait until the bot responded in some way."""
        async with asyncio.timeout(seconds):
            while interaction.acknowledged is None:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)
        return interaction

    async def finished(self, interaction: Interaction, *, seconds: float = 15.0) -> Message:
        """Wait until the reply is there and has its buttons or is a private notice."""
        async with asyncio.timeout(seconds):
            while True:
                message = self._world.messages.get(interaction.original)
                if message is not None and not message.is_loading:
                    return message
                await asyncio.sleep(0.01)

    # --- inside ---

    def _registered(self, channel: Channel) -> list[dict[str, Any]]:
        inside = self._world.commands.get(channel.guild, []) if channel.guild else []
        return [*inside, *self._world.commands.get(0, [])]

    def _command(self, user: User, channel: Channel, name: str, *, kind: int) -> dict[str, Any]:
        for command in self._registered(channel):
            if command["name"] == name and command["type"] == kind:
                if not self._is_offered(command, user, channel):
                    raise ImpossibleError(f"{user.name} is not offered {name}")
                return command
        raise ImpossibleError(f"{name} was never registered")

    def _is_offered(self, command: dict[str, Any], user: User, channel: Channel) -> bool:
        contexts = command.get("contexts")
        here = 1 if channel.type == DIRECT else 0
        if contexts is not None and here not in contexts:
            return False
        if channel.type == DIRECT:
            return True
        guild = self._world.guilds[channel.guild]
        needed = command.get("default_member_permissions")
        may = self._world.may_in_guild(user.id, guild)
        overridden = guild.command_overrides.get(command["name"], set())
        if overridden & {user.id, *guild.members.get(user.id, set())}:
            return True
        return needed is None or bool(may & bits.ADMINISTRATOR) or (may & int(needed)) == int(needed) != 0

    def _invocation(self, command: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        known = {option["name"]: option for option in command["options"]}
        if set(options) - set(known):
            raise ImpossibleError(f"no such options: {sorted(set(options) - set(known))}")
        if missing := [name for name, one in known.items() if one.get("required") and name not in options]:
            raise ImpossibleError(f"options are missing: {missing}")
        given = [
            {"name": name, "type": _OPTION_TYPES[type(value)], "value": value}
            for name, value in options.items()
        ]
        return _named(command) | {"options": given}

    def _require(self, user: User, channel: Channel, needed: int) -> None:
        if not self._world.may(user.id, channel) & needed:
            raise ImpossibleError(f"{user.name} may not do that in {channel.name}")

    def _interact(
        self, kind: int, user: User, channel: Channel, data: dict[str, Any], *, message: int = 0
    ) -> Interaction:
        self._require(user, channel, bits.VIEW_CHANNEL)
        interaction = Interaction(
            id=self._world.new_id(),
            token=secrets.token_urlsafe(24),
            type=kind,
            user=user.id,
            channel=channel.id,
            guild=channel.guild,
            made=self._world.clock.now(),
            data=data,
            message=message,
        )
        self._world.interactions[interaction.token] = interaction
        told = payloads.interaction(self._world, interaction, data)
        self._gateway.dispatch("INTERACTION_CREATE", told, channel.guild)
        return interaction


def _named(command: dict[str, Any]) -> dict[str, Any]:
    """How an interaction names its command; one of a server alone names the server."""
    named = {"id": command["id"], "name": command["name"], "type": command["type"]}
    return named | ({"guild_id": command["guild_id"]} if "guild_id" in command else {})
