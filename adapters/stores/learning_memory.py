"""The log of questions in dictionaries: for tests and for trials that may be forgotten."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from adapters.stores.learning import SHOWN, hashed_person, most_asked
from core.domain.audiences import Audience
from core.ports import Clock
from core.ports.chat import DailyVerdicts, Usage, Verdict
from core.ports.learning import ANSWERED, Exchange, Totals, WeakQuestion


@dataclass(frozen=True, slots=True)
class _Judgement:
    verdict: Verdict
    reason: str
    at: datetime


class MemoryLearning:
    """`QuestionLog`, `Feedback` and `Insights` in one process."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._exchanges: dict[str, Exchange] = {}
        self._judgements: dict[tuple[str, str], _Judgement] = {}
        self._suggestions: list[tuple[str, str, str, datetime]] = []
        self._digests: set[tuple[str, str, date]] = set()

    async def record(self, exchanges: Sequence[Exchange]) -> None:
        """As `QuestionLog.record`."""
        for one in exchanges:
            self._exchanges.setdefault(one.event, replace(one, person=self._hash(one.person)))

    async def weak(self, *, since: datetime, limit: int) -> Sequence[WeakQuestion]:
        """As `QuestionLog.weak`."""
        found = []
        for one in self._newest_first():
            verdicts = [it.verdict for (event, _), it in self._judgements.items() if event == one.event]
            bad, good = verdicts.count(Verdict.BAD), verdicts.count(Verdict.GOOD)
            if one.asked_at >= since and (one.outcome == "no_relevant_pages" or bad > good):
                found.append(
                    WeakQuestion(
                        event=one.event,
                        text=one.text,
                        language=one.language,
                        asked_at=one.asked_at,
                        audience=replace(one.audience, name=one.audience.key),
                        outcome=one.outcome,
                        bad=bad,
                    )
                )
        return tuple(found[:limit])

    async def totals(self, *, since: datetime) -> Totals:
        """As `QuestionLog.totals`."""
        lately = [one for one in self._exchanges.values() if one.asked_at >= since]
        verdicts = [one.verdict for one in self._judgements.values() if one.at >= since]
        return Totals(
            questions=len(lately),
            answered=sum(one.outcome == ANSWERED for one in lately),
            good=verdicts.count(Verdict.GOOD),
            bad=verdicts.count(Verdict.BAD),
        )

    async def forget(self, person: str) -> int:
        """As `QuestionLog.forget`."""
        hashed = self._hash(person)
        before = len(self._exchanges) + len(self._judgements) + len(self._suggestions)
        self._exchanges = {key: one for key, one in self._exchanges.items() if one.person != hashed}
        self._judgements = {key: one for key, one in self._judgements.items() if key[1] != hashed}
        self._suggestions = [one for one in self._suggestions if one[1] != hashed]
        return before - len(self._exchanges) - len(self._judgements) - len(self._suggestions)

    async def prune(self, *, before: datetime) -> int:
        """As `QuestionLog.prune`."""
        count = len(self._exchanges)
        self._exchanges = {key: one for key, one in self._exchanges.items() if one.asked_at >= before}
        self._judgements = {key: one for key, one in self._judgements.items() if one.at >= before}
        self._suggestions = [one for one in self._suggestions if one[3] >= before]
        return count - len(self._exchanges)

    async def is_digest_sent(self, *, platform: str, channel: str, week: date) -> bool:
        """As `QuestionLog.is_digest_sent`."""
        return (platform, channel, week) in self._digests

    async def claim_digest(self, *, platform: str, channel: str, week: date) -> bool:
        """As `QuestionLog.claim_digest`."""
        key = (platform, channel, week)
        is_first = key not in self._digests
        self._digests.add(key)
        return is_first

    async def unclaim_digest(self, *, platform: str, channel: str, week: date) -> None:
        """As `QuestionLog.unclaim_digest`."""
        self._digests.discard((platform, channel, week))

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """As `Feedback.judge`."""
        key = (question_id, self._hash(person))
        self._judgements[key] = _Judgement(verdict, reason, self._clock.now())

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """As `Feedback.suggest`."""
        self._suggestions.append((question_id, self._hash(person), text, self._clock.now()))

    async def recent_questions(self, *, person: str, limit: int) -> Sequence[str]:
        """As `Insights.recent_questions`."""
        hashed = self._hash(person)
        own = dict.fromkeys(one.text for one in self._newest_first() if one.person == hashed)
        return tuple(own)[:limit]

    async def usage(self, *, days: int, viewer: Audience) -> Usage:
        """As `Insights.usage`."""
        since = self._clock.now() - timedelta(days=days)
        lately = [one for one in self._newest_first() if one.asked_at >= since]
        shown = [one for one in lately if viewer.covers(one.audience)]
        unanswered = dict.fromkeys(one.text for one in shown if one.outcome == "no_relevant_pages")
        judged = [one for one in self._judgements.values() if one.at >= since]
        days_judged = sorted({one.at.astimezone(UTC).date() for one in judged})
        return Usage(
            questions=len(lately),
            top_questions=most_asked([(one.text, 1) for one in shown]),
            unanswered=tuple(unanswered)[:SHOWN],
            verdicts=tuple(
                DailyVerdicts(day, good=verdicts.count(Verdict.GOOD), bad=verdicts.count(Verdict.BAD))
                for day in days_judged
                for verdicts in ([one.verdict for one in judged if one.at.astimezone(UTC).date() == day],)
            ),
        )

    def _newest_first(self) -> list[Exchange]:
        numbered = enumerate(self._exchanges.values())
        newest = sorted(numbered, key=lambda pair: (pair[1].asked_at, pair[0]), reverse=True)
        return [one for _, one in newest]

    def _hash(self, person: str) -> str:
        return hashed_person(person, self._key)
