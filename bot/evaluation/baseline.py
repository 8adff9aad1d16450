"""The gate: figures may not fall below those that were committed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InvalidInputError

TOLERANCE = 0.02
"""How far a figure may fall: what chunks' cuts and float additions move without any fault."""

GATED = ("hit@1", "hit@5", "recall@10", "mrr@10", "ndcg@10")
REFUSALS = {"right": 1, "auc": 1, "false": -1}
"""Whether more is better or worse."""


def read_baseline(path: Path) -> Mapping[str, Any]:
    """The report that was committed.

    Raises:
        InvalidInputError: it cannot be read, or is no report.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"cannot read the baseline {path}: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("metrics"), dict):
        raise InvalidInputError(f"{path} is no report of `footnote eval --json`")
    return found


def regressions(
    baseline: Mapping[str, Any], measured: Mapping[str, Any], *, tolerance: float = TOLERANCE
) -> tuple[str, ...]:
    """Every figure that fell by more than the tolerance, over all questions and in each language.

    A group of questions or a figure that the baseline has and the measurement lacks counts as fallen (E3).
    """
    fallen = _fallen("all", baseline["metrics"], measured["metrics"], tolerance)
    now = measured.get("by_language", {})
    for name, group in baseline.get("by_language", {}).items():
        fallen += _fallen(name, group, now.get(name, {}), tolerance)
    return tuple(fallen)


def _fallen(name: str, before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float) -> list[str]:
    pairs = [(metric, before.get(metric), after.get(metric), 1) for metric in GATED]
    pairs += [
        (f"refusals {metric}", _refusal(before, metric), _refusal(after, metric), sign)
        for metric, sign in REFUSALS.items()
    ]
    return [
        f"{name}: {metric} was {was:.3f}, is {'missing' if now is None else format(now, '.3f')}"
        for metric, was, now, sign in pairs
        if was is not None and (now is None or sign * (was - now) > tolerance)
    ]


def _refusal(group: Mapping[str, Any], metric: str) -> float | None:
    figures = group.get("refusals") or {}
    value: float | None = figures.get(metric)
    return value
