"""What the Discord adapter must be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings:
    """Token, addresses and choices. Secrets stay out of the repr. All ids are Discord's (snowflakes).

    ``guild_ids``: servers that get their commands at once, whose managers administer Footnote, and whose
    roles count in a direct message; empty means commands everywhere, and managers of all its servers.
    ``admins`` and ``admin_roles`` administer Footnote beside those who may manage the server.
    ``expert`` is the user that "ask an expert" calls, or a role with ``&`` before its id; ``people`` are ids
    by e-mail address in lower case, of whoever is called instead for a page that they edited last.
    ``message_content``: ask Discord for the contents of all messages, so that follow-ups in threads need no
    mention; it must be granted in the developer portal. ``layout``: draw answers with components instead of
    plain messages. ``shards`` is null where Discord decides.
    ``lease_seconds``: how long a question may be nobody's after a crash. ``claim_seconds``: how long a claim
    may take before Discord is told that an answer will come. ``answer_seconds``: longest that an answer may
    take. ``token_seconds``: how long a reply may go to an interaction, Discord's 15 minutes less a margin.
    ``drain_seconds``: how long running answers may take at shutdown. ``edit_seconds``: between edits of an
    answer that grows. ``heartbeat_seconds``: a connection that is silent for so long is dead.
    ``guild_seconds``: how long to wait for the next server's data at start.
    """

    token: str = field(repr=False)
    guild_ids: tuple[int, ...] = ()
    base_url: str = "https://discord.com/api/v10"
    gateway_url: str = "wss://gateway.discord.gg/"
    admins: frozenset[int] = frozenset()
    admin_roles: frozenset[int] = frozenset()
    expert: str = ""
    people: Mapping[str, int] = field(default_factory=dict)
    message_content: bool = False
    layout: bool = True
    shards: int | None = None
    lease_seconds: float = 60.0
    claim_seconds: float = 1.0
    answer_seconds: float = 120.0
    token_seconds: float = 14 * 60.0
    drain_seconds: float = 20.0
    edit_seconds: float = 1.5
    heartbeat_seconds: float = 60.0
    guild_seconds: float = 2.0
