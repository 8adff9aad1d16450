"""The weekly digest: where the wiki failed people, for a channel that may see it."""

from collections.abc import Callable
from datetime import timedelta

from core.domain.places import ChannelKind, Place
from core.ports import Clock
from core.ports.chat import Digest
from core.ports.learning import QuestionLog
from core.services.audiences import AudienceRules
from core.services.gaps import Gaps

GAPS = 5
WEEK = timedelta(days=7)
FIRST_HOUR = 8
"""UTC; on Mondays the digest is due from then on."""


class WeeklyDigests:
    """Makes each digest once a week, over all processes that share the log."""

    def __init__(
        self, *, gaps: Gaps, log: QuestionLog, rules: Callable[[], AudienceRules], clock: Clock
    ) -> None:
        self._gaps = gaps
        self._log = log
        self._rules = rules
        self._clock = clock

    async def due(self, platform: str) -> Digest | None:
        """The digest to post now; null while none is due or another process has it.

        Raises:
            TemporaryError: the log or the index cannot be reached; nothing was claimed then.
        """
        rules = self._rules()
        own = rules.platforms.get(platform)
        now = self._clock.now()
        monday = (now - timedelta(hours=FIRST_HOUR)).date()
        monday -= timedelta(days=monday.weekday())
        if own is None or not own.digest:
            return None
        if await self._log.is_digest_sent(platform=platform, channel=own.digest, week=monday):
            return None
        place = Place(platform, "", own.digest, ChannelKind.PUBLIC, "")
        gaps = await self._gaps.find(viewer=rules.channel_audience(place), since=now - WEEK, limit=GAPS)
        totals = await self._log.totals(since=now - WEEK)
        if not await self._log.claim_digest(platform=platform, channel=own.digest, week=monday):
            return None
        return Digest(
            channel=own.digest,
            week=monday,
            since=now - WEEK,
            questions=totals.questions,
            answered=totals.answered,
            good=totals.good,
            bad=totals.bad,
            gaps=tuple(gap.as_gap() for gap in gaps),
        )

    async def put_back(self, platform: str, digest: Digest) -> None:
        """As `Digests.put_back`."""
        await self._log.unclaim_digest(platform=platform, channel=digest.channel, week=digest.week)
