"""What ``footnote check`` tells of Slack: whether the tokens work, and which scopes are missing by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.chat.reaching import remedy
from adapters.chat.slack.settings import SlackSettings
from adapters.chat.slack.web import SlackWeb, call, open_web, respond
from core.errors import FootnoteError
from core.ports.chat import StatusCheck

REQUIRED_SCOPES: Mapping[str, str] = {
    "app_mentions:read": "hear mentions",
    "chat:write": "answer",
    "commands": "offer /ask, /footnote and /resync",
    "im:history": "hear direct messages",
    "users:read": "tell members from guests and administrators",
    "channels:read": "tell public channels from shared ones",
    "groups:read": "tell private channels from shared ones",
}
"""Without these Footnote does not work, or shows less than it might."""

OPTIONAL_SCOPES: Mapping[str, str] = {
    "assistant:write": "show what it is doing, suggest prompts, stream",
    "channels:history": "understand follow-ups in threads of public channels",
    "groups:history": "understand follow-ups in threads of private channels",
    "mpim:history": "understand follow-ups in group messages",
    "mpim:read": "tell group messages from shared channels",
    "im:write": "send the progress of a sync to an administrator",
    "files:write": "show charts in its home",
    "usergroups:read": "let user groups decide who sees what",
    "users:read.email": "call a page's last editor",
}
"""Without one of these one thing is missing."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Who we are there, from ``auth.test``."""

    team: str
    team_name: str
    enterprise: str
    bot_user: str
    scopes: frozenset[str]


async def check(settings: SlackSettings) -> Sequence[StatusCheck]:
    """The checks of one Slack app: token, scopes, and how events come in. Never raises."""
    async with open_web(token=settings.bot_token, base_url=settings.base_url) as web:
        try:
            workspace = await identify(web)
        except FootnoteError as error:
            return (
                StatusCheck(
                    name="Slack bot token",
                    ok=False,
                    detail=str(error),
                    remedy=remedy(
                        error, if_refused="copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions"
                    ),
                ),
            )
        named = StatusCheck(
            name="Slack bot token", ok=True, detail=f"{workspace.team_name} as {workspace.bot_user}"
        )
        return (named, *scope_checks(workspace.scopes), await _check_delivery(web, settings))


async def identify(web: SlackWeb) -> Workspace:
    """Who the token belongs to.

    Raises:
        RefusedError: the token is not accepted.
        UnavailableError: Slack cannot be reached.
    """
    response = await respond(web.patient, "auth.test")
    headers = {name.lower(): value for name, value in response.headers.items()}
    granted = str(headers.get("x-oauth-scopes") or "")
    return Workspace(
        team=str(response.get("team_id") or ""),
        team_name=str(response.get("team") or ""),
        enterprise=str(response.get("enterprise_id") or ""),
        bot_user=str(response.get("user_id") or ""),
        scopes=frozenset(scope.strip() for scope in granted.split(",") if scope.strip()),
    )


def scope_checks(granted: frozenset[str]) -> tuple[StatusCheck, ...]:
    """One check that names every missing scope that is needed, one for each that is merely useful."""
    missing = [scope for scope in REQUIRED_SCOPES if scope not in granted]
    detail = "; ".join(f"{scope} ({REQUIRED_SCOPES[scope]})" for scope in missing)
    needed = StatusCheck(
        name="Slack scopes",
        ok=not missing,
        detail=f"missing: {detail}" if missing else "all that are needed",
        remedy="add them under OAuth & Permissions and install the app again" if missing else "",
    )
    useful = tuple(
        StatusCheck(name="Slack scope", ok=True, detail=f"without {scope} it cannot {purpose}")
        for scope, purpose in OPTIONAL_SCOPES.items()
        if scope not in granted
    )
    return (needed, *useful)


async def _check_delivery(web: SlackWeb, settings: SlackSettings) -> StatusCheck:
    if not settings.uses_sockets:
        ok = bool(settings.signing_secret)
        found = f"over HTTP at {settings.http_path}" if ok else "neither an app token nor a signing secret"
        return StatusCheck(
            name="Slack events",
            ok=ok,
            detail=found,
            remedy="" if ok else "set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode)",
        )
    try:
        await call(web.patient, "apps.connections.open", app_token=settings.app_token)
    except FootnoteError as error:
        return StatusCheck(
            name="Slack events",
            ok=False,
            detail=str(error),
            remedy="make an app-level token (xapp-…) with connections:write and switch Socket Mode on",
        )
    return StatusCheck(name="Slack events", ok=True, detail="over Socket Mode")
