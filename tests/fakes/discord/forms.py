"""What Discord takes in a message, a modal or a set of commands, limit by limit; refused with 50035."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.discord.refusals import DiscordRefusedError, invalid_form
from tests.fakes.discord.world import walk

EPHEMERAL, COMPONENTS_V2, LOADING = 1 << 6, 1 << 15, 1 << 7
_FLAGS_TO_SEND = (1 << 2) | (1 << 12) | COMPONENTS_V2
ROW, BUTTON, TEXT_INPUT, SECTION, TEXT, THUMBNAIL = 1, 2, 4, 9, 10, 11
MEDIA, FILE, SEPARATOR, CONTAINER, LABEL = 12, 13, 14, 17, 18
SELECTS = (3, 5, 6, 7, 8)
LINK = 5
_TOP_LEVEL_V2 = (ROW, SECTION, TEXT, MEDIA, FILE, SEPARATOR, CONTAINER)
_COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")
_MESSAGE_FIELDS = frozenset(
    {
        "content", "nonce", "enforce_nonce", "tts", "embeds", "allowed_mentions", "message_reference",
        "components", "sticker_ids", "attachments", "flags", "poll", "username", "avatar_url", "thread_name",
        "applied_tags",
    }
)  # fmt: skip


def units(text: str) -> int:
    """UTF-16 code units: the strictest way in which anything of Discord's counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_message(
    body: Mapping[str, Any], *, may_be_private: bool = False, was_v2: bool = False, is_edit: bool = False
) -> None:
    """Refuse what Discord refuses in a message; ``was_v2``: the edited message has components already."""
    if odd := set(body) - _MESSAGE_FIELDS:
        raise invalid_form(**dict.fromkeys(odd, "unknown field"))
    flags = body.get("flags") or 0
    if flags & ~(_FLAGS_TO_SEND | (EPHEMERAL if may_be_private else 0)):
        raise invalid_form(flags="this flag cannot be set")
    content = body.get("content")
    if content is not None and (not isinstance(content, str) or units(content) > 2000):
        raise invalid_form(content="Must be 2000 or fewer in length.")
    check_mentions(body.get("allowed_mentions"))
    components = body.get("components")
    if flags & COMPONENTS_V2 or was_v2:
        if content or body.get("embeds") or body.get("poll"):
            raise invalid_form(content="cannot be used with IS_COMPONENTS_V2")
        if components is not None:
            check_layout(components)
        elif not is_edit:
            raise invalid_form(components="this field is required")
        return
    if components:
        check_rows(components)
    if not is_edit and not (content or body.get("embeds") or body.get("attachments") or components):
        raise DiscordRefusedError(400, 50006, "Cannot send an empty message")


def check_mentions(allowed: Any) -> None:
    """The shape of ``allowed_mentions``: what is parsed cannot also be listed."""
    if allowed is None:
        return
    if set(allowed) - {"parse", "users", "roles", "replied_user"}:
        raise invalid_form(allowed_mentions="unknown field")
    parse = allowed.get("parse") or []
    if any(one not in ("users", "roles", "everyone") for one in parse):
        raise invalid_form(allowed_mentions="unknown type")
    if any(one in parse and allowed.get(one) for one in ("users", "roles")):
        raise invalid_form(allowed_mentions="parse and a list exclude one another")


def check_layout(components: Sequence[dict[str, Any]]) -> None:
    """Components of version 2: 40 in all, 4,000 characters of text in all."""
    everything = list(walk(list(components)))
    if not 1 <= len(everything) <= 40:
        raise invalid_form(components="Must be between 1 and 40 in length.")
    if any(one["type"] not in _TOP_LEVEL_V2 for one in components):
        raise invalid_form(components="this type cannot stand at the top")
    for component in everything:
        _check_component(component)
    total = sum(units(one["content"]) for one in everything if one["type"] == TEXT)
    if total > 4000:
        raise invalid_form(components="Must be 4000 or fewer displayable characters.")
    _check_unique(everything)


def check_rows(components: Sequence[dict[str, Any]]) -> None:
    """Components without text: at most five rows."""
    if len(components) > 5 or any(one["type"] != ROW for one in components):
        raise invalid_form(components="Must be up to five action rows.")
    everything = list(walk(list(components)))
    for component in everything:
        _check_component(component)
    _check_unique(everything)


def check_modal(data: Mapping[str, Any]) -> None:
    """A title, an id and one to five fields."""
    _check_text(data.get("title"), "title", most=45)
    _check_text(data.get("custom_id"), "custom_id", most=100)
    components = data.get("components") or []
    if not 1 <= len(components) <= 5 or any(one["type"] not in (ROW, LABEL, TEXT) for one in components):
        raise invalid_form(components="Must be one to five fields.")
    for component in walk(list(components)):
        if component["type"] == LABEL:
            _check_text(component.get("label"), "label", most=45)
        elif component["type"] == TEXT_INPUT:
            _check_text(component.get("custom_id"), "custom_id", most=100)
            if not 1 <= component.get("max_length", 4000) <= 4000:
                raise invalid_form(max_length="Must be between 1 and 4000.")


def check_choices(choices: Sequence[Mapping[str, Any]]) -> None:
    """At most 25 suggestions of at most 100 characters."""
    if len(choices) > 25:
        raise invalid_form(choices="Must be 25 or fewer in length.")
    for choice in choices:
        _check_text(choice.get("name"), "name", most=100)
        _check_text(choice.get("value"), "value", most=100)


def check_commands(commands: Sequence[Mapping[str, Any]]) -> None:
    """Names, descriptions, and how many of each kind."""
    for kind, most in ((1, 100), (2, 5), (3, 5)):
        if sum(command.get("type", 1) == kind for command in commands) > most:
            raise DiscordRefusedError(400, 30032, "Maximum number of application commands reached")
    for command in commands:
        if command.get("type", 1) != 1:
            _check_text(command.get("name"), "name", most=32)
            if command.get("description"):
                raise invalid_form(description="Menus have no description.")
            continue
        _check_name(command.get("name"))
        _check_text(command.get("description"), "description", most=100)
        for option in command.get("options") or []:
            _check_name(option.get("name"))
            _check_text(option.get("description"), "description", most=100)
    names = [(command.get("type", 1), command["name"]) for command in commands]
    if len(names) != len(set(names)):
        raise invalid_form(name="Names must be unique.")


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not _COMMAND_NAME.match(name) or name != name.lower():
        raise invalid_form(name="String value did not match validation regex.")


def _check_text(text: Any, field: str, *, most: int) -> None:
    if not isinstance(text, str) or not 1 <= units(text) <= most:
        raise invalid_form(**{field: f"Must be between 1 and {most} in length."})


def _check_component(component: Mapping[str, Any]) -> None:
    match component["type"]:
        case 1:
            inside = component.get("components") or []
            are_buttons = all(one["type"] == BUTTON for one in inside) and 1 <= len(inside) <= 5
            if not are_buttons and not (len(inside) == 1 and inside[0]["type"] in SELECTS):
                raise invalid_form(components="A row holds one to five buttons, or one select.")
        case 2:
            _check_button(component)
        case 9:
            inside = component.get("components") or []
            if not 1 <= len(inside) <= 3 or any(one["type"] != TEXT for one in inside):
                raise invalid_form(components="A section holds one to three texts.")
            if component.get("accessory", {}).get("type") not in (BUTTON, THUMBNAIL):
                raise invalid_form(accessory="This field is required.")
        case 10:
            _check_text(component.get("content"), "content", most=4000)
        case _:
            pass


def _check_button(button: Mapping[str, Any]) -> None:
    if not button.get("label") and not button.get("emoji"):
        raise invalid_form(label="A button needs a label or an emoji.")
    if units(button.get("label") or "") > 80:
        raise invalid_form(label="Must be 80 or fewer in length.")
    if button.get("style") == LINK:
        url = button.get("url") or ""
        if "custom_id" in button or not url.startswith(("http://", "https://", "discord://")):
            raise invalid_form(url="Not a well formed URL.")
        if units(url) > 512:
            raise invalid_form(url="Must be 512 or fewer in length.")
    else:
        _check_text(button.get("custom_id"), "custom_id", most=100)


def _check_unique(components: Sequence[Mapping[str, Any]]) -> None:
    ids = [one["custom_id"] for one in components if "custom_id" in one]
    if len(ids) != len(set(ids)):
        raise invalid_form(custom_id="Component custom id cannot be duplicated")
