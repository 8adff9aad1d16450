"""The gate: what was committed may not be lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.baseline import read_baseline, regressions
from core.errors import InvalidInputError


def a_report(**changes: float) -> dict[str, Any]:
    """A report in which every figure is 0.8; ``false`` is a share of answerable questions refused."""
    figures = {"hit@1": 0.8, "hit@5": 0.8, "recall@10": 0.8, "mrr@10": 0.8, "ndcg@10": 0.8}
    refusals = {"right": 0.8, "auc": 0.8, "false": 0.04}
    changed = {name: value for name, value in changes.items() if name in refusals}
    group = {**figures, **{name: value for name, value in changes.items() if name in figures}}
    return {"metrics": {**group, "refusals": refusals | changed}, "by_language": {}}


def test_e3_equal_and_better_figures_pass() -> None:
    """Nothing fell, or by less than the tolerance."""
    assert regressions(a_report(), a_report()) == ()
    assert regressions(a_report(), a_report(**{"ndcg@10": 0.79, "false": 0.05})) == ()
    assert regressions(a_report(), a_report(**{"ndcg@10": 0.95, "false": 0.0, "right": 1.0})) == ()


@pytest.mark.parametrize(
    ("figure", "value", "line"),
    [
        ("ndcg@10", 0.77, "all: ndcg@10 was 0.800, is 0.770"),
        ("right", 0.70, "all: refusals right was 0.800, is 0.700"),
        ("false", 0.07, "all: refusals false was 0.040, is 0.070"),
    ],
)
def test_e3_a_figure_below_the_baseline_fails(figure: str, value: float, line: str) -> None:
    """It is named with both values; more false refusals are worse."""
    assert regressions(a_report(), a_report(**{figure: value})) == (line,)


def test_e3_a_language_that_fell_is_not_hidden_by_the_others() -> None:
    """Each language is looked at by itself, and one that is missing has fallen."""
    before, after = a_report(), a_report()
    before["by_language"]["de"] = a_report()["metrics"]
    after["by_language"]["de"] = a_report(**{"hit@5": 0.5})["metrics"]

    assert regressions(before, after) == ("de: hit@5 was 0.800, is 0.500",)
    assert len(regressions(before, a_report())) == 8


def test_a_baseline_that_is_none_is_refused(tmp_path: Path) -> None:
    """A missing file, text, and JSON of something else each give one clear line."""
    path = tmp_path / "baseline.json"
    for text in (None, "no json", json.dumps([1]), json.dumps({"metrics": 1})):
        if text is not None:
            path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInputError, match=r"baseline\.json"):
            read_baseline(path)


def test_the_committed_baseline_can_be_read() -> None:
    """It has all that is looked at, in three languages."""
    baseline = read_baseline(Path(__file__).parents[2] / "golden" / "baseline.json")

    assert set(baseline["by_language"]) == {"de", "en", "ru"}
    assert regressions(baseline, baseline) == ()
    assert len(regressions(baseline, {"metrics": {}})) == 4 * 8
