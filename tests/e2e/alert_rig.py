"""Footnote with its metrics, driven minute by minute, and scraped every minute as Prometheus would."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from adapters.caches.memory import MemoryCache
from adapters.metrics.prometheus import PrometheusWatch
from core.domain.models import Fingerprint
from core.errors import FootnoteError, UnavailableError
from core.ports import Prompt
from core.ports.chat import Verdict
from core.ports.watching import Standing
from core.services.answering import Answering
from core.services.caching import AnswerCache, Making
from core.services.metering import MeteredGenerator
from core.services.recording import NoFeedback
from core.services.retriever import Retriever
from core.services.watching import WatchedAnswerer, WatchedCache, WatchedFeedback
from tests.core.services.found import ScriptedIndex, WordEmbedder, a_hit, a_question
from tests.fakes.promql import Alerts, Recording, read_rules

RULES = Path(__file__).resolve().parents[2] / "deploy" / "alerts.yml"
STARTED = datetime(2026, 5, 4, 6, 0, tzinfo=UTC)


class Writer:
    """A chat model that takes some time, or is away; it moves the clock that Footnote reads."""

    model = "scripted"
    context_tokens = 8192

    def __init__(self, rig: "Rig") -> None:
        self._rig = rig

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """A grounded sentence."""
        assert prompt.user
        self._rig.stopwatch += self._rig.writing_seconds
        if self._rig.model_is_away:
            raise UnavailableError("the chat model is away")
        yield "You have 28 days [1]."


class Rig:
    """The parts of Footnote that measure, real ones, around a scripted index and a scripted model."""

    def __init__(self) -> None:
        self.time = STARTED
        self.stopwatch = 0.0
        self.writing_seconds = 1.0
        self.model_is_away = False
        self.index = ScriptedIndex()
        self.cosine = 0.9
        self.standing = Standing(generation=1, last_look=STARTED, interval=1800)
        self.syncs = True
        self.watch = PrometheusWatch()
        self.recording = Recording()
        self.alerts = Alerts(read_rules(RULES), self.recording)
        self.feedback = WatchedFeedback(NoFeedback(), self.watch)
        cache = WatchedCache(MemoryCache(), self.watch)
        making = Making(model="scripted", prompt="1", index=Fingerprint("f"))
        retriever = Retriever(index=self.index, embedder=WordEmbedder(), clock=lambda: self.stopwatch)
        answering = Answering(
            retriever=retriever,
            generator=MeteredGenerator(Writer(self), observe=self.watch.generated),
            cache=AnswerCache(cache, making),
            clock=lambda: self.stopwatch,
        )
        self.answerer = WatchedAnswerer(answering, self.watch)
        self._numbers = count()

    async def ask(self) -> None:
        """A question that nobody has asked before."""
        self.index.hits = (a_hit(body="You have 28 days of vacation.", cosine=self.cosine),)
        question = a_question(f"How many vacation days do I have in year {next(self._numbers)}?")
        try:
            await self.answerer.answer(replace(question, id=f"E{next(self._numbers)}"))
        except FootnoteError:
            return

    async def judge(self, verdict: Verdict) -> None:
        """A press on a button."""
        await self.feedback.judge(question_id="E", person="U1", verdict=verdict)

    def scrape(self) -> None:
        """A minute passes, and Prometheus comes by."""
        self.time += timedelta(minutes=1)
        if self.syncs and self.time.minute % 30 == 0:
            self.standing = replace(self.standing, last_look=self.time)
        self.watch.stands(self.standing, started=STARTED, now=self.time)
        self.recording.scrape(self.watch.exposition(), self.time.timestamp())

    def firing(self) -> frozenset[str]:
        """The alerts that fire now."""
        return self.alerts.firing(self.time.timestamp())

    async def run(self, *, minutes: int, questions: int = 1, watched: bool = True) -> frozenset[str]:
        """Let time pass; returns every alert that fired meanwhile."""
        fired: set[str] = set()
        for _ in range(minutes):
            for _ in range(questions):
                await self.ask()
            self.scrape()
            if watched:
                fired |= self.firing()
        return frozenset(fired)

    async def until(self, alert: str, *, at_most: int, questions: int = 1) -> int:
        """Minutes until an alert fires; fails if it does not in ``at_most``."""
        for minute in range(1, at_most + 1):
            await self.run(minutes=1, questions=questions, watched=False)
            if alert in self.firing():
                return minute
        raise AssertionError(f"{alert} did not fire within {at_most} minutes")
