"""A channel as a person would see it: as text for a terminal, as HTML for a picture."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt

from tests.fakes.discord.world import BOT_USER, Channel, Message, World

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["strikethrough"])
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\(<(https?://[^<>\s]+)>\)")
_ESCAPE = re.compile(r"\\([^a-zA-Z0-9\s])")
_SMALL = re.compile(r"^-# (.*)$", re.MULTILINE)

Component = Mapping[str, Any]


def conversation(world: World, channel: Channel) -> str:
    """A channel with its threads, as text."""
    lines = [f"#{channel.name}", ""]
    for message, depth in _messages(world, channel):
        indent = "    " * depth
        private = "  (only visible to you)" if message.ephemeral_for else ""
        lines.append(f"{indent}{_name(world, message)}{private}")
        lines += [f"{indent}  {line}".rstrip() for line in plain(world, message).split("\n")]
        lines.append("")
    return "\n".join(lines)


def plain(world: World, message: Message) -> str:
    """A message's text with links by their labels, and its buttons as what they are."""
    parts = [message.body["content"], *map(_plain_component, message.body["components"])]
    text = "\n".join(part for part in parts if part)
    text = _LINK.sub(lambda match: f"[{match[1]}]", _named(world, text))
    return _ESCAPE.sub(r"\1", _SMALL.sub(r"\1", text)).replace("**", "").replace("\u200b", "")


def page(world: World, channel: Channel) -> str:
    """The same channel as an HTML page that looks a little like Discord."""
    messages = "".join(_html_message(world, message, depth) for message, depth in _messages(world, channel))
    name = html.escape(channel.name)
    return f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style><h1># {name}</h1>{messages}"


def _messages(world: World, channel: Channel) -> Iterator[tuple[Message, int]]:
    """In order, those of a thread below the message that it hangs on."""
    for message in sorted(world.messages.values(), key=lambda one: one.id):
        if message.channel != channel.id or message.is_loading:
            continue
        yield message, 0
        for below in sorted(world.messages.values(), key=lambda one: one.id):
            if below.channel == message.id and not below.is_loading:
                yield below, 1


def _name(world: World, message: Message) -> str:
    return "Footnote  APP" if message.author == BOT_USER else world.users[message.author].name.title()


def _named(world: World, text: str) -> str:
    for user in world.users.values():
        text = text.replace(f"<@{user.id}>", f"@{user.name.title()}")
    for channel in world.channels.values():
        text = text.replace(f"<#{channel.id}>", f"#{channel.name}")
    return text


def _plain_component(component: Component) -> str:
    match component["type"]:
        case 1:
            return " ".join(f"[{_label(button)}]" for button in component["components"])
        case 9:
            text = "\n".join(map(_plain_component, component["components"]))
            return f"{text}  [{_label(component['accessory'])}]"
        case 10:
            return str(component["content"])
        case _:
            return ""


def _label(button: Component) -> str:
    emoji = (button.get("emoji") or {}).get("name") or ""
    return f"{emoji} {button.get('label') or ''}".strip()


def _html_message(world: World, message: Message, depth: int) -> str:
    is_bot = message.author == BOT_USER
    badge = "<span class=app>APP</span>" if is_bot else ""
    name = html.escape(_name(world, message).removesuffix("  APP"))
    body = _markdown(_named(world, message.body["content"])) if message.body["content"] else ""
    body += "".join(_html_component(component) for component in message.body["components"])
    small = "<div class=small>👁 Only you can see this</div>" if message.ephemeral_for else ""
    face = f"<div class='face {'bot' if is_bot else ''}'>{'¹' if is_bot else name[0]}</div>"
    inside = f"<div class=inside><b>{name}</b>{badge}{body}{small}</div>"
    return f"<div class='message {'thread' if depth else ''}'>{face}{inside}</div>"


def _html_component(component: Component) -> str:
    match component["type"]:
        case 1:
            return "".join(_html_button(button) for button in component["components"])
        case 9:
            text = "".join(map(_html_component, component["components"]))
            return f"<div class=section><div>{text}</div>{_html_button(component['accessory'])}</div>"
        case 10:
            return _markdown(component["content"])
        case 14:
            return "<hr>"
        case _:
            return ""


def _html_button(button: Component) -> str:
    arrow = " ↗" if button.get("url") else ""
    return f"<span class=button>{html.escape(_label(button))}{arrow}</span>"


def _markdown(text: str) -> str:
    small: list[str] = []

    def kept(match: re.Match[str]) -> str:
        small.append(str(_MARKDOWN.renderInline(match[1])))
        return f"\ufffc{len(small) - 1}\ufffc\n"

    drawn = str(_MARKDOWN.render(_SMALL.sub(kept, text)))
    for number, line in enumerate(small):
        drawn = drawn.replace(f"\ufffc{number}\ufffc", f"<span class=small>{line}</span>")
    return drawn


_STYLE = """
body{font:15px/1.4 'gg sans','DejaVu Sans',sans-serif;color:#dbdee1;background:#313338;margin:0;
padding:14px 22px;width:716px}
h1{font-size:17px;border-bottom:1px solid #26272b;padding-bottom:10px;margin:0 0 14px;color:#f2f3f5}
.message{display:flex;gap:12px;margin:0 0 16px}.thread{margin-left:50px}
.face{width:38px;height:38px;border-radius:50%;background:#4a7fb5;color:#fff;flex:none;text-align:center;
line-height:38px;font-weight:700}.bot{background:#5865f2}.inside{flex:1}
b{color:#f2f3f5}.app{font-size:10px;background:#5865f2;border-radius:3px;padding:1px 4px;margin-left:6px;
color:#fff}
p{margin:2px 0 4px}a{color:#00a8fc;text-decoration:none}.small{font-size:12px;color:#949ba4}
div.small{margin-top:5px}
blockquote{border-left:4px solid #4e5058;margin:4px 0;padding-left:12px}
hr{border:0;border-top:1px solid #4e5058;margin:8px 0}
.section{display:flex;justify-content:space-between;align-items:center;gap:10px;margin:3px 0}
.section ol,.section p{margin:0}
.button{display:inline-block;margin:6px 6px 0 0;background:#4e5058;border-radius:6px;padding:4px 11px;
font-size:13px;color:#fff;white-space:nowrap}.section .button{margin:0}
code,pre{background:#2b2d31;border-radius:4px;font-size:12px;padding:1px 4px}
ul,ol{margin:2px 0 4px;padding-left:22px}
"""
