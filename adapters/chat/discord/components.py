"""Messages as the library's components, and our own components read back from messages."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import discord

from adapters.chat.discord.custom_ids import Button, Pressed, button_id, read_button_id
from adapters.chat.discord.escaping import INVISIBLE, plain
from adapters.chat.discord.render import ButtonSpec, Layout, Message, Plain
from adapters.chat.discord.texts import Text, say

NO_MENTIONS = discord.AllowedMentions.none()

REASON_LENGTH = 1_000
QUESTION_LENGTH = 2_000

_HEADER = re.compile(r"^-# \*\*(?:[^*\\\n]|\\.)+\*\* [^:\n]{1,40}: (.+)$", re.MULTILINE)
_ESCAPE = re.compile(r"\\(.)")


def view_of(message: Message) -> discord.ui.LayoutView | discord.ui.View | None:
    """The components of a message; null where it has none.

    The view is finished from the start: presses are recognised by their custom ids, after a restart too.
    """
    match message:
        case Layout():
            view: discord.ui.LayoutView | discord.ui.View = _layout(message)
        case Plain(buttons=()):
            return None
        case Plain():
            view = discord.ui.View(timeout=None)
            for spec in message.buttons:
                view.add_item(_button(spec))
    view.stop()
    return view


def _layout(message: Layout) -> discord.ui.LayoutView:
    view = discord.ui.LayoutView(timeout=None)
    for text in message.texts:
        view.add_item(discord.ui.TextDisplay(text))
    if message.sections or message.more_sources:
        view.add_item(discord.ui.Separator())
    if message.sources_title:
        view.add_item(discord.ui.TextDisplay(message.sources_title))
    for source in message.sections:
        opening: discord.ui.Button[discord.ui.LayoutView] = discord.ui.Button(
            style=discord.ButtonStyle.link, label=message.open_label, url=source.url
        )
        view.add_item(discord.ui.Section(source.line, accessory=opening))
    if message.more_sources:
        view.add_item(discord.ui.TextDisplay(message.more_sources))
    if message.buttons:
        view.add_item(discord.ui.ActionRow(*(_button(spec) for spec in message.buttons)))
    return view


def _button(spec: ButtonSpec) -> discord.ui.Button[Any]:
    return discord.ui.Button(
        style=discord.ButtonStyle.secondary,
        label=plain(spec.label, limit=80) or None,
        emoji=spec.emoji or None,
        custom_id=spec.custom_id,
    )


def expert_offer(pressed: Pressed, *, answer: int) -> discord.ui.View:
    """The button that calls an expert for an answer that somebody found bad."""
    custom_id = button_id(
        Button.EXPERT, pressed.question, pressed.language, about=pressed.about, answer=str(answer)
    )
    label = say(Text.ASK_EXPERT, pressed.language)
    view = discord.ui.View(timeout=None)
    view.add_item(_button(ButtonSpec(label=label, custom_id=custom_id, emoji="🙋")))
    view.stop()
    return view


def without_button(message: discord.Message, which: Button) -> discord.ui.LayoutView | discord.ui.View:
    """The components of a message of ours with one kind of button switched off."""
    view: discord.ui.LayoutView | discord.ui.View = (
        discord.ui.LayoutView.from_message(message, timeout=None)
        if message.flags.components_v2
        else discord.ui.View.from_message(message, timeout=None)
    )
    for item in view.walk_children():
        if isinstance(item, discord.ui.Button):
            pressed = read_button_id(item.custom_id or "")
            item.disabled = item.disabled or (pressed is not None and pressed.button is which)
    view.stop()
    return view


def reason_modal(custom_id: str, language: str) -> discord.ui.Modal:
    """Asks what was wrong with an answer."""
    return _modal(custom_id, "Footnote", say(Text.WHY_BAD, language), length=REASON_LENGTH, required=False)


def question_modal(custom_id: str, language: str) -> discord.ui.Modal:
    """Asks for the next question: the way to go on where messages cannot be read."""
    label = say(Text.YOUR_QUESTION, language)
    return _modal(custom_id, "Footnote", label, length=QUESTION_LENGTH, required=True)


def _modal(custom_id: str, title: str, label: str, *, length: int, required: bool) -> discord.ui.Modal:
    modal = discord.ui.Modal(title=title, custom_id=custom_id)
    entry: discord.ui.TextInput[discord.ui.Modal] = discord.ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id="text", max_length=length, required=required
    )
    modal.add_item(discord.ui.Label(text=plain(label, limit=45), component=entry))
    modal.stop()
    return modal


def submitted_text(data: Any) -> str:
    """What was written into a modal's one field."""
    return next((str(found.get("value") or "") for found in _walk_raw(data.get("components") or [])), "")


def _walk_raw(components: Iterable[Any]) -> Iterator[Any]:
    for component in components:
        if component.get("custom_id") == "text":
            yield component
        nested = component.get("component")
        yield from _walk_raw([nested] if nested else component.get("components") or [])


def question_of(message: discord.Message) -> str:
    """The id of the question that a message of ours answers; empty if it is no finished answer."""
    pressed = _first_button(message)
    return pressed.question if pressed is not None else ""


def asker_of(message: discord.Message) -> str:
    """The id of whoever asked what a message of ours answers; empty where it does not tell."""
    pressed = _first_button(message, Button.CONTINUE)
    return pressed.about if pressed is not None else ""


def custom_ids(message: discord.Message) -> tuple[str, ...]:
    """The custom ids of everything below a message."""
    return tuple(
        custom_id
        for component in _walk(message.components)
        if (custom_id := getattr(component, "custom_id", None))
    )


def _first_button(message: discord.Message, wanted: Button | None = None) -> Pressed | None:
    for component in _walk(message.components):
        pressed = read_button_id(getattr(component, "custom_id", None) or "")
        if pressed is not None and wanted in (None, pressed.button):
            return pressed
    return None


def asked_in(message: discord.Message) -> str:
    """What was asked, read from the header of a message of ours; empty where it has none."""
    texts = [message.content or ""]
    texts += [
        component.content
        for component in _walk(message.components)
        if isinstance(component, discord.components.TextDisplay)
    ]
    for text in texts:
        if match := _HEADER.search(text):
            return _ESCAPE.sub(r"\1", match[1]).replace(INVISIBLE, "").strip()
    return ""


def _walk(components: Iterable[Any]) -> Iterator[Any]:
    for component in components:
        yield component
        yield from _walk(getattr(component, "children", None) or ())
