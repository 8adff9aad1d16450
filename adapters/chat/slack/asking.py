"""What somebody asked, out of the many shapes in which Slack delivers it. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from adapters.chat.slack.escaping import unescaped
from core.domain.smalltalk import asks_nothing
from core.ports.chat import ClaimKey

PLATFORM = "slack"

_ASKING_SUBTYPES = (None, "thread_broadcast", "file_share")
"""A reply "also sent to channel" and a message with a file are asked by people; other subtypes are not."""

_REFERENCE = re.compile(r"<([@#!])([^>|]*)(?:\|([^>]*))?>")
_EMOJI = re.compile(r":[\w+-]+(?:::skin-tone-\d)?:")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^>|]*)(?:\|([^>]*))?>")
_SPACES = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as it was delivered; strings only, so that it survives in a claim.

    ``thread`` is where the reply goes. ``kind`` is Slack's channel type, empty where the delivery does not
    tell. ``response_url`` is set for a private question (``/ask``), which has no message.
    ``wordless``: ``"yes"`` where there is nothing but names. ``is_shared``: ``"yes"`` in a Slack Connect
    channel. ``again`` is the ts of a reply that the new answer takes the place of, and behind commas those of
    its further parts.
    """

    event: str
    team: str
    channel: str
    user: str
    text: str
    wordless: str = ""
    message: str = ""
    thread: str = ""
    kind: str = ""
    is_shared: str = ""
    response_url: str = ""
    again: str = ""

    @property
    def key(self) -> ClaimKey:
        """Event, and channel with message: a mention can arrive as two events."""
        place = f"{self.channel}:{self.message}" if self.message and not self.again else ""
        return ClaimKey(platform=PLATFORM, event=self.event, place=place)

    @property
    def is_private(self) -> bool:
        """Whether only the asker sees the reply in a channel."""
        return bool(self.response_url)

    @property
    def replaces(self) -> tuple[str, ...]:
        """The messages of the reply that the new answer takes the place of, the first one first."""
        return tuple(filter(None, self.again.split(",")))

    @property
    def is_direct(self) -> bool:
        """Whether it is a conversation of the asker and the bot."""
        return self.kind == "im" or self.channel.startswith("D")

    @property
    def conversation(self) -> str:
        """Names the asker's thread, for follow-ups."""
        return f"{self.channel}:{self.thread}:{self.user}" if self.thread else ""

    def as_payload(self) -> dict[str, str]:
        """For a claim."""
        return {name: text for name, text in asdict(self).items() if text}


def from_payload(payload: Mapping[str, str]) -> Asked:
    """What `Asked.as_payload` made; unknown fields of a newer version are left out.

    Raises:
        TypeError: fields are missing.
    """
    return Asked(**{name: text for name, text in payload.items() if name in Asked.__slots__})


def is_from_person(event: Mapping[str, Any], *, bot_user: str) -> bool:
    """Whether a message event is something a person newly said: no bot, no edit, no deletion, not us."""
    return (
        event.get("subtype") in _ASKING_SUBTYPES
        and not event.get("bot_id")
        and not event.get("bot_profile")
        and not event.get("edited")
        and not event.get("hidden")
        and bool(event.get("user"))
        and event.get("user") != bot_user
        and bool(event.get("channel"))
        and bool(event.get("ts"))
    )


def mentions(event: Mapping[str, Any], *, bot_user: str) -> bool:
    """Whether a message names the bot."""
    return event.get("type") == "app_mention" or _named(bot_user).search(event.get("text") or "") is not None


def may_follow_up(event: Mapping[str, Any]) -> bool:
    """Whether a reply without our mention can be meant for us: it says something, and to nobody else."""
    text = str(event.get("text") or "")
    return says_something(text) and not any(match[1] == "@" for match in _REFERENCE.finditer(text))


def says_something(text: str) -> bool:
    """Whether there are words beside the names of people, groups and channels, and beside hello and thanks.

    >>> says_something("<@U2> <!here> ?"), says_something("thanks, <@U2>!"), says_something("why, <@U2>?")
    (False, False, True)
    """
    bare = _EMOJI.sub(" ", _REFERENCE.sub(" ", text))
    return not asks_nothing(bare)


def from_event(body: Mapping[str, Any], *, bot_user: str) -> Asked | None:
    """The question in an ``event_callback``, or null where no person asks anything."""
    event = body.get("event") or {}
    if not is_from_person(event, bot_user=bot_user):
        return None
    return Asked(
        event=str(body.get("event_id") or f"{event['channel']}:{event['ts']}"),
        team=str(body.get("team_id") or event.get("team") or ""),
        channel=str(event["channel"]),
        user=str(event["user"]),
        text=question_text(event.get("text") or "", bot_user=bot_user),
        wordless=_wordless(event.get("text") or ""),
        message=str(event["ts"]),
        thread=str(event.get("thread_ts") or event["ts"]),
        kind=str(event.get("channel_type") or ""),
        is_shared="yes" if body.get("is_ext_shared_channel") else "",
    )


def from_command(body: Mapping[str, Any], *, bot_user: str) -> Asked:
    """The question behind ``/ask``."""
    return Asked(
        event=str(body["trigger_id"]),
        team=str(body.get("team_id") or ""),
        channel=str(body["channel_id"]),
        user=str(body["user_id"]),
        text=question_text(body.get("text") or "", bot_user=bot_user),
        wordless=_wordless(body.get("text") or ""),
        response_url=str(body["response_url"]),
    )


def from_shortcut(body: Mapping[str, Any], *, bot_user: str) -> Asked:
    """The question in the message on which "Answer this" was chosen; whoever chose it is the asker."""
    message = body.get("message") or {}
    text = text_of(message)
    return Asked(
        event=str(body["trigger_id"]),
        team=str((body.get("team") or {}).get("id") or ""),
        channel=str(body["channel"]["id"]),
        user=str(body["user"]["id"]),
        text=question_text(text, bot_user=bot_user),
        wordless=_wordless(text),
        message=str(message.get("ts") or ""),
        thread=str(message.get("thread_ts") or message.get("ts") or ""),
    )


def question_text(incoming: str, *, bot_user: str) -> str:
    """What the person meant: without the bot's mention, references by name, entities as characters.

    >>> question_text("<@UBOT> is R&amp;D in <#C1|research>?", bot_user="UBOT")
    'is R&D in #research?'
    """
    text = _named(bot_user).sub(" ", incoming)
    text = _LINK.sub(lambda match: match[2] or match[1], text)
    text = _REFERENCE.sub(_by_name, text)
    return _SPACES.sub(" ", unescaped(text)).strip()


def text_of(message: Mapping[str, Any]) -> str:
    """What a message says: its text, or what its blocks and attachments say where apps left the text out."""
    said = str(message.get("text") or "")
    if said.strip():
        return said
    parts = list(_texts(message.get("blocks") or []))
    for attachment in message.get("attachments") or []:
        shown = [str(attachment.get(name) or "") for name in ("pretext", "title", "text")]
        parts += [one for one in shown if one] or [str(attachment.get("fallback") or "")]
        parts += _texts(attachment.get("blocks") or [])
    return "\n".join(part for part in parts if part.strip())


def _texts(value: object) -> Iterator[str]:
    """The texts of blocks, in order; a paragraph of rich text is one."""
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, Mapping):
        if str(value.get("type", "")).startswith("rich_text_") and value.get("type") != "rich_text_list":
            yield "".join(_rich(one) for one in value.get("elements") or [])
        elif isinstance(value.get("text"), str):
            yield value["text"]
        else:
            for name in ("text", "fields", "elements"):
                yield from _texts(value.get(name))


def _rich(element: Mapping[str, Any]) -> str:
    match element.get("type"):
        case "text" | "link":
            return str(element.get("text") or element.get("url") or "")
        case "user":
            return f"<@{element.get('user_id')}>"
        case "channel":
            return f"<#{element.get('channel_id')}>"
        case _:
            return ""


def _wordless(incoming: str) -> str:
    return "" if says_something(incoming) else "yes"


def _named(bot_user: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>")


def _by_name(match: re.Match[str]) -> str:
    sign, name, label = match[1], match[2], match[3]
    if sign == "!":
        return label or ""
    return f"{sign}{label.lstrip('@#')}" if label else f"{sign}{name}"
