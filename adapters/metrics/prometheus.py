"""Figures for Prometheus, in a registry of their own, so that several apps of one process stay apart."""

from collections.abc import Mapping
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from core.ports.watching import Standing

CONTENT_TYPE = CONTENT_TYPE_LATEST

STAGE_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80)
SCORE_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 1.0)


class PrometheusWatch:
    """The `Watch` that ``/metrics`` shows."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._questions = Counter("footnote_questions", "Questions asked.", ["platform"], registry=registry)
        self._answers = Counter(
            "footnote_answers", "What became of questions.", ["platform", "outcome"], registry=registry
        )
        self._degraded = Counter(
            "footnote_degraded_answers", "Answers made with less than usual.", registry=registry
        )
        self._stages = Histogram(
            "footnote_stage_seconds",
            "How long a stage of an answer took.",
            ["stage"],
            buckets=STAGE_BUCKETS,
            registry=registry,
        )
        self._scores = Histogram(
            "footnote_retrieval_score",
            "Cosine of the passage nearest to a question.",
            buckets=SCORE_BUCKETS,
            registry=registry,
        )
        self._cache = Counter(
            "footnote_cache_lookups", "Looks into the cache.", ["level", "result"], registry=registry
        )
        self._feedback = Counter("footnote_feedback", "Judgements.", ["verdict"], registry=registry)
        self._sentences = Counter(
            "footnote_checked_sentences",
            "What checking drafts against sources found.",
            ["finding"],
            registry=registry,
        )
        self._tokens = Counter(
            "footnote_generation_tokens", "Tokens of the chat model.", ["direction"], registry=registry
        )
        self._generation = Gauge(
            "footnote_index_generation", "Rises with every change of the index.", registry=registry
        )
        self._look = Gauge(
            "footnote_sync_last_look_timestamp_seconds",
            "When the newest sync that reached its end began; 0 before the first one.",
            registry=registry,
        )
        self._lag = Gauge(
            "footnote_sync_lag_seconds",
            "How old the newest look at the wiki is; the age of the process before the first one.",
            registry=registry,
        )
        self._interval = Gauge(
            "footnote_sync_interval_seconds", "Between two syncs; 0 if none is scheduled.", registry=registry
        )
        self._pages = Gauge("footnote_pages", "Objects of the wiki by fate.", ["state"], registry=registry)
        self._refused = Gauge(
            "footnote_rules_refused",
            "1 while footnote.toml is wrong.",
            registry=registry,
        )
        self._begin()

    def _begin(self) -> None:
        """Series that alerts divide by exist from the start: a rise from nothing is not seen otherwise."""
        for verdict in ("good", "bad"):
            self._feedback.labels(verdict)
        for direction in ("read", "written"):
            self._tokens.labels(direction)
        for level in ("vector", "answer", "draft"):
            for result in ("hit", "miss"):
                self._cache.labels(level, result)
        for stage in ("embed", "search", "rank", "generate", "total"):
            self._stages.labels(stage)

    def asked(self, platform: str) -> None:
        """As `Watch.asked`."""
        self._questions.labels(platform).inc()

    def answered(self, platform: str, outcome: str, *, degraded: bool = False) -> None:
        """As `Watch.answered`."""
        self._answers.labels(platform, outcome).inc()
        if degraded:
            self._degraded.inc()

    def took(self, stage: str, seconds: float) -> None:
        """As `Watch.took`."""
        self._stages.labels(stage).observe(seconds)

    def retrieved(self, score: float) -> None:
        """As `Watch.retrieved`."""
        self._scores.observe(score)

    def looked_up(self, level: str, *, hit: bool) -> None:
        """As `Watch.looked_up`."""
        self._cache.labels(level, "hit" if hit else "miss").inc()

    def judged(self, verdict: str) -> None:
        """As `Watch.judged`."""
        self._feedback.labels(verdict).inc()

    def checked(self, findings: Mapping[str, int]) -> None:
        """As `Watch.checked`."""
        for finding, count in findings.items():
            self._sentences.labels(finding).inc(count)

    def generated(self, read: int, written: int) -> None:
        """As `Watch.generated`."""
        self._tokens.labels("read").inc(read)
        self._tokens.labels("written").inc(written)

    def stands(self, standing: Standing, *, started: datetime, now: datetime | None = None) -> None:
        """Take in how things stand; ``started`` is when the process began."""
        moment = now or datetime.now(UTC)
        self._generation.set(standing.generation)
        self._look.set(standing.last_look.timestamp() if standing.last_look else 0)
        self._lag.set(max(0.0, (moment - (standing.last_look or started)).total_seconds()))
        self._interval.set(standing.interval)
        for state, count in standing.pages.items():
            self._pages.labels(state).set(count)
        self._refused.set(standing.rules_refused)

    def exposition(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self._registry)
