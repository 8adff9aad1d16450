"""Which arguments each method takes, which it needs, and which scope: an unknown one is refused."""

from dataclasses import dataclass

from tests.fakes.slack.refusals import SlackRefusedError

_MESSAGE = (
    "text blocks attachments thread_ts reply_broadcast unfurl_links unfurl_media icon_emoji icon_url mrkdwn "
    "link_names username parse metadata markdown_text as_user"
)
_STREAM = "channel ts markdown_text chunks"


@dataclass(frozen=True, slots=True)
class Method:
    """One method: arguments by name, the scope that it needs, and how often it may be called a minute."""

    needed: frozenset[str]
    allowed: frozenset[str]
    scope: str = ""
    per_minute: int = 0


def _method(needed: str, optional: str = "", *, scope: str = "", per_minute: int = 0) -> Method:
    wanted = frozenset(needed.split())
    return Method(
        needed=wanted,
        allowed=wanted | frozenset(optional.split()),
        scope=scope,
        per_minute=per_minute,
    )


ANYWHERE = frozenset({"team_id"})
"""Added by the SDK to every call of a client that knows its team."""

TIER_2, TIER_3, TIER_4 = 20, 50, 100

METHODS = {
    "auth.test": _method(""),
    "apps.connections.open": _method(""),
    "chat.postMessage": _method("channel", _MESSAGE, scope="chat:write"),
    "chat.postEphemeral": _method("channel user", _MESSAGE, scope="chat:write", per_minute=TIER_4),
    "chat.update": _method(
        "channel ts",
        "text blocks attachments as_user file_ids link_names parse reply_broadcast metadata markdown_text",
        scope="chat:write",
        per_minute=TIER_3,
    ),
    "chat.delete": _method("channel ts", "as_user", scope="chat:write", per_minute=TIER_3),
    "chat.startStream": _method(
        "channel thread_ts",
        "markdown_text chunks recipient_team_id recipient_user_id task_display_mode icon_emoji icon_url "
        "username",
        scope="chat:write",
        per_minute=TIER_2,
    ),
    "chat.appendStream": _method("channel ts", _STREAM, scope="chat:write", per_minute=TIER_4),
    "chat.stopStream": _method(
        "channel ts", f"{_STREAM} blocks metadata session_status", scope="chat:write", per_minute=TIER_2
    ),
    "assistant.threads.setStatus": _method(
        "channel_id status",
        "thread_ts loading_messages icon_emoji icon_url username",
        scope="assistant:write",
        per_minute=600,
    ),
    "assistant.threads.setSuggestedPrompts": _method(
        "channel_id prompts", "thread_ts title", scope="assistant:write", per_minute=TIER_3
    ),
    "users.info": _method("user", "include_locale", scope="users:read", per_minute=TIER_4),
    "users.lookupByEmail": _method("email", scope="users:read.email", per_minute=TIER_3),
    "usergroups.list": _method(
        "", "include_users include_count include_disabled", scope="usergroups:read", per_minute=TIER_2
    ),
    "conversations.info": _method(
        "channel", "include_locale include_num_members", scope="channels:read", per_minute=TIER_3
    ),
    "conversations.open": _method(
        "", "users channel return_im prevent_creation", scope="im:write", per_minute=TIER_3
    ),
    "conversations.replies": _method(
        "channel ts",
        "cursor inclusive include_all_metadata latest limit oldest",
        scope="channels:history",
        per_minute=TIER_3,
    ),
    "conversations.history": _method(
        "channel",
        "cursor inclusive include_all_metadata latest limit oldest",
        scope="channels:history",
        per_minute=TIER_3,
    ),
    "views.open": _method("trigger_id view", "interactivity_pointer", per_minute=TIER_4),
    "views.update": _method("view", "view_id external_id hash", per_minute=TIER_4),
    "views.publish": _method("user_id view", "hash", per_minute=TIER_4),
    "files.getUploadURLExternal": _method(
        "filename length", "alt_txt snippet_type", scope="files:write", per_minute=TIER_4
    ),
    "files.completeUploadExternal": _method(
        "files", "channel_id channels initial_comment thread_ts", scope="files:write", per_minute=TIER_4
    ),
}


def check_arguments(method: str, given: frozenset[str]) -> Method:
    """The method, if it exists and is called with what it takes.

    Raises:
        SlackRefusedError: unknown method, unknown argument, or one is missing.
    """
    known = METHODS.get(method)
    if known is None:
        raise SlackRefusedError("unknown_method", req_method=method)
    problems = [f"[ERROR] unknown argument: {name}" for name in sorted(given - known.allowed - ANYWHERE)]
    problems += [f"[ERROR] missing required field: {name}" for name in sorted(known.needed - given)]
    if problems:
        raise SlackRefusedError("invalid_arguments", response_metadata={"messages": problems})
    return known
