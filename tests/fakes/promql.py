"""A strict evaluator of the PromQL that our alert rules use, over recorded scrapes.

The grammar is that of promql-parser; what is evaluated follows Prometheus 2.42, extrapolation of rates
included (tests/peers/prometheus holds it against promtool). Anything else is refused.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import promql_parser as promql
import yaml
from prometheus_client.parser import text_string_to_metric_families

LOOKBACK = 300.0
"""Seconds; a sample older than this is stale."""

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
NAME = "__name__"


@dataclass(slots=True)
class Recording:
    """Samples by series, as scraped: (seconds, value) in order of time."""

    series: dict[Labels, list[tuple[float, float]]] = field(default_factory=dict)

    def scrape(self, exposition: bytes, at: float) -> None:
        """Take in what ``/metrics`` gave at a moment."""
        for family in text_string_to_metric_families(exposition.decode()):
            for sample in family.samples:
                if sample.name.endswith("_created"):
                    continue
                labels = frozenset({*sample.labels.items(), (NAME, sample.name)})
                self.series.setdefault(labels, []).append((at, float(sample.value)))


@dataclass(frozen=True, slots=True)
class Rule:
    """One alert rule."""

    name: str
    expr: str
    held: float
    """Seconds that it must be true before it fires."""


def read_rules(path: Path) -> dict[str, Rule]:
    """The alert rules of a file by name."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        rule["alert"]: Rule(
            rule["alert"], rule["expr"], promql.parse_duration(rule.get("for", "0s")).total_seconds()
        )
        for group in document["groups"]
        for rule in group["rules"]
    }


class Alerts:
    """Which rules fire, looked at again and again as time goes on."""

    def __init__(self, rules: Mapping[str, Rule], recording: Recording) -> None:
        self._rules = rules
        self._recording = recording
        self._true_since: dict[str, float] = {}

    def firing(self, at: float) -> frozenset[str]:
        """The rules that have been true for as long as they must be."""
        firing = set()
        for name, rule in self._rules.items():
            if not evaluate(rule.expr, self._recording, at):
                self._true_since.pop(name, None)
            elif at - self._true_since.setdefault(name, at) >= rule.held:
                firing.add(name)
        return frozenset(firing)


def evaluate(expr: str, recording: Recording, at: float) -> Vector:
    """The instant vector of an expression.

    Raises:
        NotImplementedError: the expression uses what this evaluator does not know.
    """
    value = _Evaluation(recording, at).value(promql.parse(expr))
    if isinstance(value, float):
        raise NotImplementedError("a rule is a vector, this is a number")
    return value


_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "*": operator.mul,
    "+": operator.add,
    "-": operator.sub,
    "/": lambda a, b: a / b if b else (math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)),
}
_COMPARISON: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
}


_AGGREGATIONS: Mapping[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "max": max,
    "min": min,
}


class _Evaluation:
    def __init__(self, recording: Recording, at: float) -> None:
        self._recording = recording
        self._at = at

    def value(self, node: Any) -> Vector | float:
        if isinstance(node, promql.ParenExpr):
            return self.value(node.expr)
        if isinstance(node, promql.NumberLiteral):
            return float(node.val)
        if isinstance(node, promql.VectorSelector):
            return self._instant(node)
        if isinstance(node, promql.AggregateExpr):
            return self._aggregate(node)
        if isinstance(node, promql.Call):
            return self._call(node)
        if isinstance(node, promql.BinaryExpr):
            return self._binary(node)
        raise NotImplementedError(f"{type(node).__name__} is not known")

    def _samples(
        self, selector: Any, span: float
    ) -> tuple[float, list[tuple[Labels, list[tuple[float, float]]]]]:
        if selector.at is not None or selector.matchers.or_matchers:
            raise NotImplementedError("@ and or are not known")
        end = self._at - (selector.offset or timedelta()).total_seconds()
        wanted = [(matcher.name, matcher.value, matcher.op) for matcher in selector.matchers.matchers]
        if any(op != promql.MatchOp.Equal for _, _, op in wanted):
            raise NotImplementedError("only = is known")
        pairs = {(name, value) for name, value, _ in wanted} | {(NAME, selector.name)}
        found = [
            (labels, [(t, v) for t, v in samples if end - span <= t <= end])
            for labels, samples in self._recording.series.items()
            if pairs <= labels
        ]
        return end, [(labels, samples) for labels, samples in found if samples]

    def _instant(self, selector: Any) -> Vector:
        _, found = self._samples(selector, LOOKBACK)
        return {labels: samples[-1][1] for labels, samples in found}

    def _aggregate(self, node: Any) -> Vector:
        name = str(node.op)
        if name not in _AGGREGATIONS or node.param is not None:
            raise NotImplementedError(f"{name} is not known")
        kept: Sequence[str] = ()
        if node.modifier is not None:
            if node.modifier.type != promql.AggModifierType.By:
                raise NotImplementedError("without is not known")
            kept = node.modifier.labels
        groups: dict[Labels, list[float]] = {}
        inner = self.value(node.expr)
        if isinstance(inner, float):
            raise NotImplementedError("an aggregation is over a vector")
        for labels, value in inner.items():
            groups.setdefault(frozenset(pair for pair in labels if pair[0] in kept), []).append(value)
        combine = _AGGREGATIONS[name]
        return {labels: combine(values) for labels, values in groups.items()}

    def _call(self, node: Any) -> Vector:
        name = node.func.name
        if name in ("rate", "increase"):
            return self._rates(node.args[0], per_second=name == "rate")
        if name == "histogram_quantile":
            return _quantiles(float(node.args[0].val), self._vector(node.args[1]))
        raise NotImplementedError(f"{name}() is not known")

    def _vector(self, node: Any) -> Vector:
        value = self.value(node)
        if isinstance(value, float):
            raise NotImplementedError("a vector is needed here")
        return value

    def _rates(self, matrix: Any, *, per_second: bool) -> Vector:
        span = matrix.range.total_seconds()
        end, found = self._samples(matrix.vector_selector, span)
        rates: Vector = {}
        for labels, samples in found:
            if len(samples) > 1:
                grown = _extrapolated(samples, start=end - span, end=end)
                rates[frozenset(pair for pair in labels if pair[0] != NAME)] = (
                    grown / span if per_second else grown
                )
        return rates

    def _binary(self, node: Any) -> Vector | float:
        sign = str(node.op)
        left, right = self.value(node.lhs), self.value(node.rhs)
        if node.modifier is not None and (node.modifier.matching is not None or node.modifier.return_bool):
            raise NotImplementedError("on, ignoring and bool are not known")
        if sign == "and" and not isinstance(left, float) and not isinstance(right, float):
            others = {_unnamed(labels) for labels in right}
            return {labels: value for labels, value in left.items() if _unnamed(labels) in others}
        if sign in _ARITHMETIC:
            return _combined(left, right, _ARITHMETIC[sign])
        if sign in _COMPARISON and not isinstance(left, float):
            holds = _combined(left, right, lambda a, b: float(_COMPARISON[sign](a, b)))
            assert not isinstance(holds, float)
            return {labels: value for labels, value in left.items() if holds.get(_unnamed(labels))}
        raise NotImplementedError(f"{sign} is not known here")


def _unnamed(labels: Labels) -> Labels:
    return frozenset(pair for pair in labels if pair[0] != NAME)


def _combined(
    left: Vector | float, right: Vector | float, apply: Callable[[float, float], float]
) -> Vector | float:
    if isinstance(left, float) and isinstance(right, float):
        return apply(left, right)
    if isinstance(left, float):
        assert not isinstance(right, float)
        return {_unnamed(labels): apply(left, value) for labels, value in right.items()}
    if isinstance(right, float):
        return {_unnamed(labels): apply(value, right) for labels, value in left.items()}
    others = {_unnamed(labels): value for labels, value in right.items()}
    return {
        _unnamed(labels): apply(value, others[_unnamed(labels)])
        for labels, value in left.items()
        if _unnamed(labels) in others
    }


def _extrapolated(samples: Sequence[tuple[float, float]], *, start: float, end: float) -> float:
    """What a counter grew by, stretched to the ends of the range as Prometheus does."""
    grown, before = samples[-1][1] - samples[0][1], samples[0][1]
    for _, value in samples[1:]:
        if value < before:
            grown += before
        before = value
    covered = samples[-1][0] - samples[0][0]
    usual = covered / (len(samples) - 1)
    to_start, to_end = samples[0][0] - start, end - samples[-1][0]
    if grown > 0 and samples[0][1] >= 0:
        # A counter cannot have been below zero.
        to_start = min(to_start, covered * samples[0][1] / grown)
    stretched = covered + sum(gap if gap < 1.1 * usual else usual / 2 for gap in (to_start, to_end))
    return grown * stretched / covered


def _quantiles(quantile: float, buckets: Vector) -> Vector:
    groups: dict[Labels, list[tuple[float, float]]] = {}
    for labels, value in buckets.items():
        bound = float(dict(labels)["le"])
        rest = frozenset(pair for pair in labels if pair[0] not in ("le", NAME))
        groups.setdefault(rest, []).append((bound, value))
    return {labels: _quantile(quantile, sorted(bounds)) for labels, bounds in groups.items()}


def _quantile(quantile: float, buckets: Sequence[tuple[float, float]]) -> float:
    total = buckets[-1][1]
    if len(buckets) < 2 or not math.isinf(buckets[-1][0]) or total == 0:
        return math.nan
    rank = quantile * total
    place = next(index for index, (_, count) in enumerate(buckets) if count >= rank)
    if place == len(buckets) - 1:
        return buckets[-2][0]
    lower, below = buckets[place - 1] if place else (0.0, 0.0)
    upper, count = buckets[place]
    return lower + (upper - lower) * (rank - below) / (count - below)
