"""The workspace as a person would see it: as text for a terminal, as HTML for a picture."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt

from tests.fakes.slack.people import shown_text
from tests.fakes.slack.workspace import BOT_USER, Workspace

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_LINK = re.compile(r"&lt;(https?://[^|&]*(?:&amp;[^|&]*)*)\|(.*?)&gt;")
_MARKDOWN_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\((https?://[^)\s]+)\)")
_BOLD = re.compile(r"(?<!\w)\*([^*\n]+)\*(?!\w)")
_MRKDWN_LINK = re.compile(r"<(https?://[^|>]+)\|([^>]*)>")

Message = Mapping[str, Any]


def conversation(workspace: Workspace, channel: str) -> str:
    """A channel with its threads, as text."""
    lines = [f"#{workspace.channels[channel].name}", ""]
    for root in _roots(workspace, channel):
        for depth, message in enumerate(workspace.thread(channel, root["ts"])):
            indent = "    " if depth else ""
            lines.append(f"{indent}{_name(workspace, message)}")
            lines += [f"{indent}  {line}".rstrip() for line in _plain(message).split("\n")]
            lines.append("")
    return "\n".join(lines)


def private_reply(command: str, bodies: Sequence[Message]) -> str:
    """What a command answered to its user alone."""
    lines = [command, "  (only visible to you)"]
    for body in bodies:
        lines += [f"  {line}".rstrip() for line in _plain(body).split("\n")]
    return "\n".join(lines) + "\n"


def page(workspace: Workspace, channel: str) -> str:
    """The same channel as an HTML page that looks a little like Slack."""
    parts: list[str] = []
    for root in _roots(workspace, channel):
        for depth, message in enumerate(workspace.thread(channel, root["ts"])):
            parts.append(_html_message(workspace, message, is_reply=depth > 0))
    name = html.escape(workspace.channels[channel].name)
    return f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style><h1># {name}</h1>{''.join(parts)}"


def _roots(workspace: Workspace, channel: str) -> Iterator[Message]:
    for message in workspace.messages:
        if message["channel"] == channel and message.get("thread_ts") in (None, message["ts"]):
            yield message


def _name(workspace: Workspace, message: Message) -> str:
    if message["user"] == BOT_USER:
        return "Footnote  APP"
    return str(workspace.users[message["user"]]["profile"]["display_name"])


def _plain(message: Message) -> str:
    """Links by their labels, thumbs and buttons as what they are."""
    parts: list[str] = []
    for block in message.get("blocks") or []:
        match block["type"]:
            case "context_actions":
                parts.append("[👍] [👎]")
            case "actions":
                parts.append(" ".join(f"[{element['text']['text']}]" for element in block["elements"]))
            case _:
                parts.append(shown_text({"blocks": [block]}))
    text = "\n".join(parts) or str(message.get("text") or "")
    text = _MARKDOWN_LINK.sub(lambda match: f"[{match[1]}]", text)
    text = _MRKDWN_LINK.sub(lambda match: match[2], text)
    text = text.replace(f"<@{BOT_USER}>", "@Footnote").replace("**", "").replace("\u200b", "")
    text = re.sub(r"^> ", "│ ", _BOLD.sub(r"\1", text), flags=re.MULTILINE)
    return html.unescape(text)


def _html_message(workspace: Workspace, message: Message, *, is_reply: bool) -> str:
    is_bot = message["user"] == BOT_USER
    name = _name(workspace, message).removesuffix("  APP")
    badge = "<span class=app>APP</span>" if is_bot else ""
    body = "".join(_html_block(block) for block in message.get("blocks") or [])
    if not body:
        mention = "<span class=mention>@Footnote</span>"
        escaped = html.escape(html.unescape(message["text"]))
        body = f"<p>{escaped.replace(f'&lt;@{BOT_USER}&gt;', mention)}</p>"
    picture = (
        f"<div class='face {'bot' if is_bot else ''}'>{'¹' if is_bot else html.escape(name[0].upper())}</div>"
    )
    inside = f"<div><b>{html.escape(name)}</b>{badge}{body}</div>"
    return f"<div class='message {'reply' if is_reply else ''}'>{picture}{inside}</div>"


def _html_block(block: Mapping[str, Any]) -> str:
    match block["type"]:
        case "markdown":
            return str(_MARKDOWN.render(block["text"]))
        case "section":
            return f"<p>{_mrkdwn(block['text']['text'])}</p>"
        case "context":
            texts = "<br>".join(_mrkdwn(element["text"]) for element in block["elements"])
            return f"<div class=context>{texts}</div>"
        case "context_actions":
            labels = (html.escape(_thumb_label(block, side)) for side in ("positive", "negative"))
            return "".join(f"<span class=thumb>{label}</span>" for label in labels)
        case "actions":
            labels = (html.escape(element["text"]["text"]) for element in block["elements"])
            return "".join(f"<span class=button>{label}</span>" for label in labels)
        case _:
            return ""


def _thumb_label(block: Mapping[str, Any], side: str) -> str:
    return str(block["elements"][0][f"{side}_button"]["text"]["text"])


def _mrkdwn(text: str) -> str:
    """Entities are Slack's own; links and bold become what a browser shows."""
    shown = html.escape(html.unescape(text), quote=False)
    shown = _LINK.sub(lambda match: f'<a href="{match[1]}">{match[2]}</a>', shown)
    shown = _BOLD.sub(r"<b>\1</b>", shown)
    return shown.replace("\n", "<br>")


_STYLE = """
body{font:15px/1.45 Lato,'DejaVu Sans',sans-serif;color:#1d1c1d;margin:0;padding:14px 22px;width:716px}
h1{font-size:18px;border-bottom:1px solid #ddd;padding-bottom:10px;margin:0 0 14px}
.message{display:flex;gap:10px;margin:0 0 14px}.reply{margin-left:46px}
.face{width:36px;height:36px;border-radius:6px;background:#4a7fb5;color:#fff;flex:none;text-align:center;
line-height:36px;font-weight:700}.bot{background:#1d1c1d}
.app{font-size:10px;background:#e8e8e8;border-radius:3px;padding:1px 4px;margin-left:6px;color:#616061}
p{margin:2px 0 6px}a{color:#1264a3;text-decoration:none}.context{font-size:13px;color:#616061;margin:6px 0}
.mention{background:#fdf2d0;color:#1264a3;border-radius:3px;padding:0 2px}
code,pre{background:#f6f6f6;border:1px solid #ddd;border-radius:3px;font-size:12px;padding:1px 3px}
.thumb{border:1px solid #ddd;border-radius:12px;padding:1px 9px;margin-right:6px;font-size:12px;color:#616061}
blockquote{border-left:4px solid #ddd;margin:4px 0;padding-left:12px}
.button{display:inline-block;margin:6px 0 0;border:1px solid #bbb;border-radius:4px;padding:3px 10px;
font-size:13px;font-weight:700}
ul,ol{margin:2px 0 6px;padding-left:24px}
"""
