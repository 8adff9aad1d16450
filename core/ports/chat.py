"""What chat platforms ask of the core beside answers: claims, audiences, judgements, administration."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from core.domain.audiences import Audience
from core.domain.ids import PageId
from core.domain.places import Place

# --- Answering every question once ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimKey:
    """Names one question. Two deliveries of it share the event or, as mention and message, the place.

    ``event`` is the platform's event or interaction id; ``place`` is channel and message (``C1:1700.01``),
    empty where the platform has no such second name.
    """

    platform: str
    event: str
    place: str = ""


class ClaimState(StrEnum):
    """What became of an attempt to claim."""

    TAKEN = "taken"
    """Ours: answer it."""
    HELD = "held"
    """Somebody else is at it."""
    DONE = "done"
    """It was answered."""


@dataclass(frozen=True, slots=True)
class AbandonedClaim:
    """A claim whose lease ended unanswered; ``payload`` is what its first holder stored to begin again.

    ``attempts`` counts its holders, this one included. ``reply`` is the message in which an earlier holder
    had begun to answer, empty if it had not come so far.
    """

    key: ClaimKey
    payload: Mapping[str, str]
    attempts: int
    reply: str = ""


class Claims(Protocol):
    """One row per question in PostgreSQL, written before the platform is told that we have it."""

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """Claim a question, or learn that it is claimed. Exactly one caller is told ``TAKEN``.

        ``thread`` is any name of the conversation the question belongs to, for `was_answered`.
        """

    async def extend(self, key: ClaimKey, *, lease_seconds: float, reply: str = "") -> bool:
        """Keep a claim that takes longer; false if it was lost.

        ``reply`` names the message in which the answer is being written, so that whoever takes over goes on
        there. A lease of zero seconds hands the claim over at once.
        """

    async def done(self, key: ClaimKey, *, reply: str) -> None:
        """The question is answered by the message ``reply``; the payload is forgotten."""

    async def take_over(self, platform: str, *, lease_seconds: float, limit: int) -> Sequence[AbandonedClaim]:
        """Take claims whose lease ended, each by one caller only."""

    async def was_answered(self, platform: str, thread: str) -> bool:
        """Whether a question claimed with this ``thread`` was answered."""


# --- Private answers that may be shared -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A private answer as its platform shows it (``body``), with all pages that it may rest on."""

    platform: str
    event: str
    person: str
    pages: tuple[PageId, ...]
    body: str


class KeptAnswers(Protocol):
    """Keeps private answers for their button; outlives the process."""

    async def keep(self, answer: KeptAnswer, *, seconds: float) -> None:
        """Remember an answer for so long; ``person`` is hashed before it is stored."""

    async def take(self, platform: str, event: str, *, person: str) -> KeptAnswer | None:
        """The answer if it is this person's own and young enough; it is handed out once."""


# --- Who may see what ----------------------------------------------------------------------------------


class Audiences(Protocol):
    """Decides whose eyes a reply is for. Unknown places get what the file says, or nothing."""

    def audience_for(self, place: Place) -> Audience:
        """What a reply in this place may rest on: what the channel may see and the asker may see."""

    def channel_audience(self, place: Place) -> Audience:
        """What everybody who can read the channel may see; decides whether a private reply may be shared."""

    def may_ask(self, place: Place) -> bool:
        """Whether the asker may ask at all."""

    def is_admin(self, place: Place) -> bool:
        """Whether the file names the asker, or one of the asker's groups, as an administrator."""

    def explain(self, place: Place) -> str:
        """One sentence for people: which scopes the place sees, and why."""


class Suggestions(Protocol):
    """Offers questions while somebody types."""

    async def suggest(self, typed: str, *, audience: Audience, limit: int) -> Sequence[str]:
        """Titles of pages and earlier answered questions that begin or go on so, all within the audience."""


# --- Learning from use ---------------------------------------------------------------------------------


class Verdict(StrEnum):
    """What somebody thought of an answer."""

    GOOD = "good"
    BAD = "bad"


class Feedback(Protocol):
    """Keeps judgements of answers."""

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """Store or replace this person's judgement; ``person`` is hashed before it is stored."""

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """Keep a person's answer as a suggestion for the page's owner."""


@dataclass(frozen=True, slots=True)
class DailyVerdicts:
    """How the answers of one day were judged."""

    day: date
    good: int
    bad: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked lately; ``verdicts`` in order of days, the days without any left out.

    Texts are those of questions whose readers could see no more than whoever is shown this.
    """

    questions: int
    top_questions: tuple[tuple[str, int], ...]
    unanswered: tuple[str, ...]
    verdicts: tuple[DailyVerdicts, ...]
    last_syncs: tuple[str, ...] = ()


class Insights(Protocol):
    """What was asked and how it went, for the people who see it in a chat's own pages."""

    async def recent_questions(self, *, person: str, limit: int) -> Sequence[str]:
        """What this person asked lately, newest first."""

    async def usage(self, *, days: int, viewer: Audience) -> Usage:
        """Sums over the last ``days``; counts are of all questions, texts of what ``viewer`` may see."""


# --- Administration ------------------------------------------------------------------------------------


class ResyncKind(StrEnum):
    """How much a resync reads again."""

    CHANGES = "changes"
    FULL = "full"
    REEMBED = "reembed"


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """How far a run is. ``total`` is null until the listing ended; counts never shrink within a run."""

    run_id: int
    kind: ResyncKind
    done: int
    total: int | None
    finished: bool = False
    failed: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class ResyncTicket:
    """The run that a request ended up in. ``joined``: it was running; ``upgraded``: it became a full one."""

    run_id: int
    joined: bool = False
    upgraded: bool = False


@dataclass(frozen=True, slots=True)
class StatusCheck:
    """One of the six checks of an index's health (inventory row 96)."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What ``footnote status`` tells: the checks, the page ledger by state, and the last run."""

    checks: tuple[StatusCheck, ...]
    ledger: Mapping[str, int]
    pages: int
    chunks: int
    pending: int
    generation: int
    last_sync: datetime | None


@dataclass(frozen=True, slots=True)
class Gap:
    """A cluster of questions that went badly, with what to do about it."""

    count: int
    examples: tuple[str, ...]
    nearest_pages: tuple[tuple[str, str], ...]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Digest:
    """What a channel is told once a week, as far as it may see it. ``answered`` counts of ``questions``.

    ``week`` is the Monday by which the digest is known.
    """

    channel: str
    week: date
    since: datetime
    questions: int
    answered: int
    good: int
    bad: int
    gaps: tuple[Gap, ...]


class Digests(Protocol):
    """Hands out each weekly digest once, to whichever process asks first."""

    async def due(self, platform: str) -> Digest | None:
        """The digest to post now; null while none is due, none is wanted, or another process has it."""

    async def put_back(self, platform: str, digest: Digest) -> None:
        """Let the digest be due again: it could not be posted now, and may be later."""


class Administration(Protocol):
    """What administrators may do; the chat adapter has checked that they are, before calling."""

    async def resync(self, kind: ResyncKind, *, asked_by: str) -> ResyncTicket:
        """Start a run, or join the one that is running."""

    def follow(self, run_id: int) -> AsyncIterator[SyncProgress]:
        """The run's progress, at most one a second, until it finished."""

    async def status(self) -> IndexStatus:
        """Health of the index."""

    async def gaps(self, *, viewer: Audience, limit: int) -> Sequence[Gap]:
        """What was asked and not answered well, most frequent first; no more than ``viewer`` may see."""

    async def why(self, link: str) -> str:
        """Explains one page in a few lines: seen when, through which root, state, chunks, scopes.

        Raises:
            InvalidInputError: the text holds no page id.
        """
