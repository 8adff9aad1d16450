"""What each Web API method does."""

import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from tests.fakes.slack.blockkit import check_blocks, check_view, texts_of
from tests.fakes.slack.limits import Limits
from tests.fakes.slack.refusals import SlackRefusedError
from tests.fakes.slack.workspace import APP_ID, BOT_ID, BOT_USER, TEAM, Workspace

MAX_TEXT, CUT_TEXT = 40_000, 16_000
MAX_UPDATE_BYTES = 3_800
MAX_STREAM_TEXT = 12_000

Arguments = Mapping[str, Any]
Result = dict[str, Any]


class Methods:
    """The Web API over a workspace.

    ``stream_seconds``: a stream without news for so long is ended. ``unseen_seconds``: how long a message is
    missing in what ``conversations.replies`` tells.
    """

    def __init__(self, workspace: Workspace, limits: Limits) -> None:
        self.workspace = workspace
        self.limits = limits
        self.stream_seconds = 30.0
        self.unseen_seconds = 0.0
        self.has_streaming = True
        self.base_url = ""
        self.triggers: set[str] = set()
        self.posted: Callable[[dict[str, Any]], None] = lambda _: None
        self._streams: dict[tuple[str, str], float] = {}
        self._pending_uploads: set[str] = set()

    def handle(self, method: str, arguments: Arguments) -> Result:
        """Carry a checked call out.

        Raises:
            SlackRefusedError: as Slack refuses.
        """
        if method.endswith("Stream") and not self.has_streaming:
            raise SlackRefusedError("unknown_method", req_method=method)
        handler: Callable[[Arguments], Result] = getattr(self, "_" + method.replace(".", "_"))
        return handler(arguments)

    # --- chat ---

    def _chat_postMessage(self, given: Arguments) -> Result:  # noqa: N802 - Slack's own name
        channel = self._place(given["channel"])
        body = self._body(given)
        self._check_thread(channel, given.get("thread_ts"))
        self.limits.post(channel)
        message = self._store(channel, body | _thread(given) | _metadata(given))
        message["unfurls"] = given.get("unfurl_links") is not False or given.get("unfurl_media") is not False
        message["parses"] = bool(given.get("link_names")) or given.get("parse") == "full"
        return {"channel": channel, "ts": message["ts"], "message": _public(message)}

    def _chat_postEphemeral(self, given: Arguments) -> Result:  # noqa: N802
        channel = self._place(given["channel"])
        if given["user"] not in self.workspace.users:
            raise SlackRefusedError("user_not_in_channel")
        ts = self.workspace.new_ts()
        self.workspace.ephemerals.append(
            {"channel": channel, "user": given["user"], "ts": ts} | self._body(given) | _thread(given)
        )
        return {"message_ts": ts}

    def _chat_update(self, given: Arguments) -> Result:
        message = self._own(given)
        if self._is_streaming(message):
            raise SlackRefusedError("streaming_state_conflict")
        body = self._body(given)
        sizes = (body.get("text", ""), "".join(texts_of(_shown(body.get("blocks") or []))))
        if any(len(text.encode()) > MAX_UPDATE_BYTES for text in sizes):
            raise SlackRefusedError("msg_too_long")
        message.update(body | _metadata(given))
        message["edits"] = message.get("edits", 0) + 1
        return {"channel": given["channel"], "ts": given["ts"], "text": body.get("text", "")}

    def _chat_delete(self, given: Arguments) -> Result:
        self.workspace.messages.remove(self._own(given))
        return {"channel": given["channel"], "ts": given["ts"]}

    # --- streams ---

    def _chat_startStream(self, given: Arguments) -> Result:  # noqa: N802
        channel = self._place(given["channel"])
        if self.workspace.channels[channel].kind != "im":
            for name in ("recipient_team_id", "recipient_user_id"):
                if not given.get(name):
                    raise SlackRefusedError(f"missing_{name}")
        self._check_thread(channel, given["thread_ts"])
        text = self._chunks(given)
        self.limits.post(channel)
        message = self._store(channel, {"text": text, "blocks": [], "streamed": [text]} | _thread(given))
        self._streams[channel, message["ts"]] = time.monotonic()
        return {"channel": channel, "ts": message["ts"]}

    def _chat_appendStream(self, given: Arguments) -> Result:  # noqa: N802
        message = self._streaming(given)
        if not (text := self._chunks(given)):
            raise SlackRefusedError("no_text")
        self._grow(message, text)
        return {"channel": given["channel"], "ts": given["ts"]}

    def _chat_stopStream(self, given: Arguments) -> Result:  # noqa: N802
        message = self._streaming(given)
        blocks = check_blocks(given.get("blocks") or [])
        if text := self._chunks(given):
            self._grow(message, text)
        message.update(_metadata(given))
        message["blocks"] = blocks
        del self._streams[given["channel"], given["ts"]]
        return {"channel": given["channel"], "ts": given["ts"], "message": _public(message)}

    def _streaming(self, given: Arguments) -> dict[str, Any]:
        message = self._own(given)
        if not self._is_streaming(message):
            raise SlackRefusedError("message_not_in_streaming_state")
        return message

    def _is_streaming(self, message: Mapping[str, Any]) -> bool:
        key = (message["channel"], message["ts"])
        begun = self._streams.get(key)
        if begun is None:
            return False
        if time.monotonic() - begun > self.stream_seconds:
            del self._streams[key]
            return False
        return True

    def open_streams(self) -> list[dict[str, Any]]:
        """Messages that are still being streamed."""
        return [message for message in self.workspace.messages if self._is_streaming(message)]

    def _grow(self, message: dict[str, Any], text: str) -> None:
        if len(message["text"]) + len(text) > MAX_STREAM_TEXT:
            raise SlackRefusedError("msg_too_long")
        message["text"] += text
        message["streamed"].append(text)
        self._streams[message["channel"], message["ts"]] = time.monotonic()

    def _chunks(self, given: Arguments) -> str:
        if given.get("markdown_text") is not None and given.get("chunks") is not None:
            raise SlackRefusedError("invalid_arguments")
        if (text := given.get("markdown_text")) is not None:
            parts = [str(text)]
        else:
            parts = []
            for chunk in given.get("chunks") or []:
                if chunk.get("type") != "markdown_text" or set(chunk) != {"type", "text"}:
                    raise SlackRefusedError("invalid_chunks")
                parts.append(str(chunk["text"]))
        if any(len(part) > MAX_STREAM_TEXT for part in parts):
            raise SlackRefusedError("msg_too_long")
        return "".join(parts)

    # --- the assistant, people, conversations ---

    def _assistant_threads_setStatus(self, given: Arguments) -> Result:  # noqa: N802
        channel = self._place(given["channel_id"])
        if not given.get("thread_ts"):
            raise SlackRefusedError("invalid_thread_ts")
        thread, status = str(given["thread_ts"]), str(given["status"])
        self.workspace.statuses.append((channel, thread, status))
        self.workspace.thinking.discard((channel, thread))
        if status:
            self.workspace.thinking.add((channel, thread))
        return {}

    def _assistant_threads_setSuggestedPrompts(self, given: Arguments) -> Result:  # noqa: N802
        prompts = given["prompts"]
        if not 1 <= len(prompts) <= 4 or any(set(prompt) != {"title", "message"} for prompt in prompts):
            raise SlackRefusedError("invalid_arguments")
        self.workspace.prompts.append(dict(given))
        return {}

    def _auth_test(self, _: Arguments) -> Result:
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": "footnote",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT_ID,
            "is_enterprise_install": False,
        }

    def _users_info(self, given: Arguments) -> Result:
        user = self.workspace.users.get(str(given["user"]))
        if user is None:
            raise SlackRefusedError("user_not_found")
        shown = dict(user)
        if str(given.get("include_locale")).lower() not in ("true", "1"):
            shown.pop("locale")
        return {"user": shown}

    def _users_lookupByEmail(self, given: Arguments) -> Result:  # noqa: N802
        for user in self.workspace.users.values():
            if user["profile"].get("email") == given["email"]:
                return {"user": user}
        raise SlackRefusedError("users_not_found")

    def _usergroups_list(self, _: Arguments) -> Result:
        return {
            "usergroups": [
                {"id": group, "team_id": TEAM, "users": users}
                for group, users in self.workspace.groups.items()
            ]
        }

    def _conversations_info(self, given: Arguments) -> Result:
        channel = self.workspace.channel(str(given["channel"]), reading=True)
        return {
            "channel": {
                "id": channel.id,
                "name": channel.name,
                "is_channel": channel.kind == "channel",
                "is_group": channel.kind == "group",
                "is_im": channel.kind == "im",
                "is_mpim": channel.kind == "mpim",
                "is_private": channel.kind in ("group", "mpim"),
                "is_ext_shared": channel.is_ext_shared,
            }
        }

    def _conversations_open(self, given: Arguments) -> Result:
        users = str(given.get("users") or "").split(",")
        if len(users) != 1 or users[0] not in self.workspace.users:
            raise SlackRefusedError("user_not_found")
        return {"channel": {"id": self.workspace.direct(users[0])}}

    def _conversations_replies(self, given: Arguments) -> Result:
        channel = self.workspace.channel(str(given["channel"]), reading=True)
        found = self.workspace.thread(channel.id, str(given["ts"]))
        if not found:
            raise SlackRefusedError("thread_not_found")
        oldest = str(given.get("oldest") or "")
        seen = time.monotonic() - self.unseen_seconds
        kept = [
            message
            for message in found
            if (not oldest or message["ts"] >= oldest) and message.get("at", 0.0) <= seen
        ]
        limit = int(given.get("limit") or 1000)
        begin = int(given.get("cursor") or 0)
        with_metadata = str(given.get("include_all_metadata")).lower() in ("true", "1")
        shown = [_public(message, with_metadata=with_metadata) for message in kept[begin : begin + limit]]
        has_more = len(kept) > begin + limit
        after = {"response_metadata": {"next_cursor": str(begin + limit)}} if has_more else {}
        return {"messages": shown, "has_more": has_more} | after

    def _conversations_history(self, given: Arguments) -> Result:
        channel = self.workspace.channel(str(given["channel"]), reading=True)
        found = [message for message in self.workspace.messages if message["channel"] == channel.id]
        roots = [message for message in found if message.get("thread_ts") in (None, message["ts"])]
        return {"messages": [_public(message) for message in reversed(roots)], "has_more": False}

    # --- views and files ---

    def _views_open(self, given: Arguments) -> Result:
        if given["trigger_id"] not in self.triggers:
            raise SlackRefusedError("invalid_trigger")
        self.triggers.discard(str(given["trigger_id"]))
        view = check_view(given["view"]) | {"id": f"V{uuid4().hex[:8]}"}
        self.workspace.modals.append(view)
        return {"view": view}

    def _views_update(self, given: Arguments) -> Result:
        return {"view": check_view(given["view"])}

    def _views_publish(self, given: Arguments) -> Result:
        if given["user_id"] not in self.workspace.users:
            raise SlackRefusedError("user_not_found")
        view = check_view(given["view"])
        if view["type"] != "home":
            raise SlackRefusedError("invalid_arguments")
        for block in view["blocks"]:
            file = block.get("slack_file", {}).get("id")
            if file is not None and file not in self.workspace.uploads:
                raise SlackRefusedError("invalid_blocks", errors=["slack_file not found"])
        self.workspace.homes[str(given["user_id"])] = view
        return {"view": view}

    def _files_getUploadURLExternal(self, given: Arguments) -> Result:  # noqa: N802
        if int(given["length"]) <= 0:
            raise SlackRefusedError("invalid_arguments")
        file = f"F{uuid4().hex[:8]}"
        self._pending_uploads.add(file)
        return {"upload_url": f"{self.base_url}/upload/{file}", "file_id": file}

    def _files_completeUploadExternal(self, given: Arguments) -> Result:  # noqa: N802
        files = given["files"]
        if any(file["id"] not in self.workspace.uploads for file in files):
            raise SlackRefusedError("file_not_found")
        return {"files": [{"id": file["id"], "title": file.get("title")} for file in files]}

    def upload(self, file: str, data: bytes) -> bool:
        """Take the bytes of a file that was announced."""
        if file not in self._pending_uploads:
            return False
        self.workspace.uploads[file] = data
        return True

    # --- shared ---

    def _place(self, channel: object) -> str:
        named = str(channel)
        if named in self.workspace.users:
            named = self.workspace.direct(named)
        return self.workspace.channel(named).id

    def _own(self, given: Arguments) -> dict[str, Any]:
        message = self.workspace.message(self._place(given["channel"]), str(given["ts"]))
        if message.get("user") != BOT_USER:
            raise SlackRefusedError("cant_update_message")
        return message

    def _check_thread(self, channel: str, thread: object) -> None:
        if thread is not None and not self.workspace.thread(channel, str(thread)):
            raise SlackRefusedError("thread_not_found")

    def _body(self, given: Arguments) -> dict[str, Any]:
        if given.get("markdown_text") is not None:
            if given.get("text") is not None or given.get("blocks") is not None:
                raise SlackRefusedError("markdown_text_conflict")
            if len(given["markdown_text"]) > MAX_STREAM_TEXT:
                raise SlackRefusedError("msg_too_long")
            return {"text": given["markdown_text"], "blocks": []}
        blocks = check_blocks(given["blocks"]) if given.get("blocks") is not None else []
        text = given.get("text") or ""
        if not text and not blocks:
            raise SlackRefusedError("no_text")
        if len(text) > MAX_TEXT:
            raise SlackRefusedError("msg_too_long")
        cut = {"was_cut": True} if len(text) > CUT_TEXT else {}
        return {"text": text[:CUT_TEXT], "blocks": blocks} | cut

    def _store(self, channel: str, body: dict[str, Any]) -> dict[str, Any]:
        message = {
            "type": "message",
            "channel": channel,
            "user": BOT_USER,
            "bot_id": BOT_ID,
            "app_id": APP_ID,
            "ts": self.workspace.new_ts(),
            "at": time.monotonic(),
        } | body
        self.workspace.messages.append(message)
        self.workspace.thinking.discard((channel, message.get("thread_ts", "")))
        self.posted(message)
        return message


def _shown(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in blocks if block["type"] in ("markdown", "section", "context", "header")]


def _thread(given: Arguments) -> dict[str, Any]:
    return {"thread_ts": str(given["thread_ts"])} if given.get("thread_ts") else {}


def _metadata(given: Arguments) -> dict[str, Any]:
    metadata = given.get("metadata")
    if metadata is None:
        return {}
    if set(metadata) != {"event_type", "event_payload"} or not isinstance(metadata["event_payload"], dict):
        raise SlackRefusedError("invalid_metadata_format")
    return {"metadata": metadata}


def _public(message: Mapping[str, Any], *, with_metadata: bool = False) -> dict[str, Any]:
    hidden = {"channel", "streamed", "at", "unfurls", "parses", "edits", "was_cut"}
    if not with_metadata:
        hidden = hidden | {"metadata"}
    return {name: value for name, value in message.items() if name not in hidden}
