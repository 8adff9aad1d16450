"""What the stand-in tells of servers, channels, members and interactions, as Discord's API shapes it."""

from typing import Any

from tests.fakes.discord.world import (
    APPLICATION,
    BOT_USER,
    DIRECT,
    FORUM,
    GATEWAY_MESSAGE_CONTENT_LIMITED,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    VOICE,
    Channel,
    Guild,
    Interaction,
    Message,
    World,
)

JOINED = "2026-01-01T00:00:00.000000+00:00"


def application(world: World) -> dict[str, Any]:
    """The bot's application."""
    return {
        "id": str(APPLICATION),
        "name": "footnote",
        "description": "",
        "icon": None,
        "bot_public": world.is_bot_public,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": GATEWAY_MESSAGE_CONTENT_LIMITED if world.grants_message_content else 0,
        "owner": world.users[BOT_USER].as_json(),
        "team": None,
        "type": None,
        "flags_new": "0",
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "approximate_guild_count": len(world.guilds),
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "eligible_oauth2_scopes": [],
    }


def member(world: World, guild: Guild, user: int) -> dict[str, Any]:
    """A member, without what only the library's own copy would know."""
    return {
        "user": world.users[user].as_json(),
        "roles": [str(role) for role in sorted(guild.members[user])],
        "nick": None,
        "joined_at": JOINED,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": user in guild.pending,
        "avatar": None,
        "banner": None,
        "communication_disabled_until": None,
    }


def channel(world: World, of: Channel) -> dict[str, Any]:
    """A channel, thread or direct message."""
    if of.type == DIRECT:
        recipient = world.users[of.recipient].as_json()
        return {
            "id": str(of.id),
            "type": DIRECT,
            "recipients": [recipient],
            "last_message_id": None,
            "flags": 0,
        }
    made: dict[str, Any] = {"id": str(of.id), "type": of.type, "name": of.name, "guild_id": str(of.guild)}
    if of.type in (PUBLIC_THREAD, PRIVATE_THREAD):
        return made | {
            "parent_id": str(of.parent),
            "owner_id": str(BOT_USER),
            "message_count": 0,
            "member_count": 1,
            "total_message_sent": 0,
            "rate_limit_per_user": 0,
            "thread_metadata": {
                "archived": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": JOINED,
                "locked": of.is_locked,
            },
            "flags": 0,
        }
    if of.type == VOICE:
        made |= {"bitrate": 64_000, "user_limit": 0, "rtc_region": None}
    if of.type == FORUM:
        made |= {"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None}
    return made | {
        "position": 0,
        "parent_id": None,
        "topic": None,
        "nsfw": False,
        "rate_limit_per_user": 0,
        "last_message_id": None,
        "flags": 0,
        "permission_overwrites": [
            {
                "id": str(target),
                "type": 0 if target == of.guild or target in world.guilds[of.guild].roles else 1,
                "allow": str(overwrite.allow),
                "deny": str(overwrite.deny),
            }
            for target, overwrite in of.overwrites.items()
        ],
    }


def guild_itself(world: World, of: Guild) -> dict[str, Any]:
    """A server as REST tells it: without channels, members and what else comes over the gateway only."""
    shown = guild(world, of)
    gateway = {"joined_at", "large", "unavailable", "member_count", "members", "channels", "threads"}
    gateway |= {"voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds"}
    nothing = (
        "description", "home_header", "discovery_splash", "banner", "application_id", "widget_channel_id",
        "max_presences", "vanity_url_code", "rules_channel_id", "safety_alerts_channel_id",
        "public_updates_channel_id", "incidents_data",
    )  # fmt: skip
    plain = {
        "widget_enabled": False,
        "max_members": 500_000,
        "max_stage_video_channel_users": 50,
        "max_video_channel_users": 25,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "nsfw": False,
    }
    drawn = {"icon": None, "unicode_emoji": None}
    colours = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    roles = [{"colors": colours, **drawn, **role} for role in shown["roles"]]
    kept = {key: value for key, value in shown.items() if key not in gateway}
    return {**kept, **dict.fromkeys(nothing), **plain, "roles": roles}


def guild(world: World, of: Guild) -> dict[str, Any]:
    """A server as GUILD_CREATE tells it: of the members only the bot, without the members' intent."""
    inside = [one for one in world.channels.values() if one.guild == of.id]
    everyone = {
        "id": str(of.id),
        "name": "@everyone",
        "permissions": str(of.everyone),
        "position": 0,
        "color": 0,
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    return {
        "id": str(of.id),
        "name": of.name,
        "owner_id": str(of.owner),
        "icon": None,
        "splash": None,
        "region": "",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 1,
        "explicit_content_filter": 0,
        "roles": [everyone, *(role.as_json() for role in of.roles.values())],
        "emojis": [],
        "stickers": [],
        "features": [],
        "mfa_level": 0,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "premium_tier": 0,
        "preferred_locale": of.locale,
        "nsfw_level": 0,
        "joined_at": JOINED,
        "large": False,
        "unavailable": False,
        "member_count": len(of.members),
        "members": [member(world, of, BOT_USER)],
        "channels": [channel(world, one) for one in inside if not one.parent],
        "threads": [channel(world, one) for one in inside if one.parent],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def ready(world: World, *, shard: tuple[int, int], session: str, resume_url: str) -> dict[str, Any]:
    """READY of one shard: its servers, not available yet."""
    mine = [one for one in world.guilds.values() if world.shard_of(one.id) == shard[0]]
    return {
        "v": 10,
        "user": world.users[BOT_USER].as_json() | {"verified": True, "mfa_enabled": False, "email": None},
        "guilds": [{"id": str(one.id), "unavailable": True} for one in mine],
        "session_id": session,
        "resume_gateway_url": resume_url,
        "shard": list(shard),
        "application": {
            "id": str(APPLICATION),
            "flags": application(world)["flags"],
        },
        "_trace": [],
    }


def message(world: World, of: Message, *, refers: bool = True) -> dict[str, Any]:
    """A message, with the one it refers to."""
    body = dict(of.body)
    reference = body.get("message_reference")
    if refers and reference and "message_id" in reference:
        known = world.messages.get(int(reference["message_id"]))
        body["referenced_message"] = message(world, known, refers=False) if known else None
    return body


def interaction(world: World, of: Interaction, data: dict[str, Any]) -> dict[str, Any]:
    """An interaction as INTERACTION_CREATE tells it."""
    place = world.channels[of.channel]
    made: dict[str, Any] = {
        "id": str(of.id),
        "application_id": str(APPLICATION),
        "type": of.type,
        "token": of.token,
        "version": 1,
        "data": data,
        "channel_id": str(of.channel),
        "channel": channel(world, place) | {"permissions": str(world.may(of.user, place))},
        "app_permissions": str(world.may(BOT_USER, place)),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": {"0": str(of.guild or 0)},
        "context": 0 if of.guild else 1,
        "attachment_size_limit": 10 * 2**20,
    }
    if of.guild:
        home = world.guilds[of.guild]
        made |= {
            "guild_id": str(of.guild),
            "guild": {"id": str(of.guild), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": member(world, home, of.user) | {"permissions": str(world.may(of.user, place))},
        }
    else:
        made["user"] = world.users[of.user].as_json()
    if of.message:
        made["message"] = message(world, world.messages[of.message])
    return made
