"""What the Slack adapter must be told."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds between calls, chosen so that Slack's limits are seldom met.

    ``post``: between two posts of this process to one channel; Slack allows about one a second. ``quick``: an
    answer complete so soon is posted whole. ``stream`` and ``edit``: between two pieces of a growing answer.
    """

    post: float = 1.05
    quick: float = 0.4
    stream: float = 0.8
    edit: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """Tokens, addresses and choices. Secrets stay out of the repr.

    With ``app_token`` events come over Socket Mode, otherwise over HTTP and checked with ``signing_secret``.
    ``admins`` are Slack user ids that administer Footnote beside the workspace's own admins and owners.
    ``expert`` is the Slack user or user-group id that "ask an expert" calls. ``follow_ups``: whether the
    asker of an answered question is understood in its thread without a mention.
    ``lease_seconds``: how long a question may be nobody's after a crash. ``answer_seconds``: longest that an
    answer may take. ``drain_seconds``: how long running answers may take at shutdown.
    """

    bot_token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    base_url: str = "https://slack.com/api/"
    http_host: str = "127.0.0.1"
    http_port: int = 3000
    http_path: str = "/slack/events"
    admins: frozenset[str] = frozenset()
    expert: str = ""
    follow_ups: bool = True
    lease_seconds: float = 60.0
    answer_seconds: float = 120.0
    drain_seconds: float = 20.0
    pace: Pace = field(default_factory=Pace)

    @property
    def uses_sockets(self) -> bool:
        """Whether events come over Socket Mode."""
        return bool(self.app_token)
