"""Prometheus' own tool reads our rules, and sees them fire at the minute at which our evaluator does."""

import math
import os
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from core.errors import UnavailableError
from core.ports.chat import Verdict
from tests.e2e.alert_rig import RULES, STARTED, Rig
from tests.fakes.promql import Recording

PROMTOOL = Path(os.environ.get("FOOTNOTE_PEERS", ".peers")) / "prometheus" / "usr" / "bin" / "promtool"


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool."""
    return subprocess.run(  # noqa: S603 - a tool of ours
        [str(PROMTOOL), *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def test_the_rules_are_rules() -> None:
    """The file is what Prometheus expects."""
    checked = promtool("check", "rules", str(RULES))

    assert checked.returncode == 0, checked.stderr
    assert "9 rules found" in checked.stdout


async def fallen_score(rig: Rig) -> str:
    """Good passages for three hours, then bad ones."""
    await rig.run(minutes=180, watched=False)
    rig.cosine = 0.7
    return "FootnoteRetrievalScoreFell"


async def late_sync(rig: Rig) -> str:
    """Syncs that stop."""
    await rig.run(minutes=60, questions=0, watched=False)
    rig.syncs = False
    return "FootnoteSyncIsLate"


async def slow_model(rig: Rig) -> str:
    """A model that begins to take long."""
    await rig.run(minutes=30, watched=False)
    rig.writing_seconds = 30.0
    return "FootnoteAnswersAreSlow"


async def failing_index(rig: Rig) -> str:
    """An index that goes away."""
    await rig.run(minutes=10, watched=False)
    rig.index.error = UnavailableError("away")
    return "FootnoteAnswersFail"


async def away_model(rig: Rig) -> str:
    """A model that goes away."""
    await rig.run(minutes=35, watched=False)
    rig.model_is_away = True
    return "FootnoteAnswersAreDegraded"


async def bad_judgements(rig: Rig) -> str:
    """More bad than good ones."""
    await rig.run(minutes=5, questions=0, watched=False)
    for _ in range(12):
        await rig.judge(Verdict.BAD)
    await rig.judge(Verdict.GOOD)
    return "FootnoteAnswersAreJudgedBad"


async def unknown_things(rig: Rig) -> str:
    """Questions that find nothing."""
    await rig.run(minutes=5, watched=False)
    rig.cosine = 0.0
    return "FootnoteWikiDoesNotKnow"


async def failing_pages(rig: Rig) -> str:
    """Six pages that fail."""
    rig.standing = replace(rig.standing, pages={"failed": 6})
    return "FootnotePagesFail"


async def refused_rules(rig: Rig) -> str:
    """A wrong footnote.toml."""
    rig.standing = replace(rig.standing, rules_refused=True)
    return "FootnoteRulesAreRefused"


SCENARIOS = (
    fallen_score,
    late_sync,
    slow_model,
    failing_index,
    away_model,
    bad_judgements,
    unknown_things,
    failing_pages,
    refused_rules,
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
async def test_a18_alerts_fire_for_prometheus_at_the_same_minute(
    scenario: Callable[[Rig], Awaitable[str]], tmp_path: Path
) -> None:
    """The minute before it is silent, at that minute it fires, with the same scrapes."""
    rig = Rig()
    rig.scrape()
    alert = await scenario(rig)
    asks = scenario not in (late_sync, bad_judgements, failing_pages, refused_rules)
    await rig.until(alert, at_most=300, questions=int(asks))
    minute = round((rig.time - STARTED).total_seconds() / 60)
    test = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": input_series(rig.recording),
                "promql_expr_test": [],
                "alert_rule_test": [
                    {"eval_time": f"{minute - 1}m", "alertname": alert, "exp_alerts": []},
                    {"eval_time": f"{minute}m", "alertname": alert, "exp_alerts": [expected(alert)]},
                ],
            }
        ],
    }
    file = tmp_path / "test.yml"
    write(file, yaml.safe_dump(test, allow_unicode=True, sort_keys=False))

    judged = promtool("test", "rules", str(file))

    assert judged.returncode == 0, judged.stdout + judged.stderr


def write(file: Path, text: str) -> None:
    """Write a file of the tool's."""
    file.write_text(text, encoding="utf-8")


def expected(alert: str) -> dict[str, object]:
    """The alert with its labels and annotations, as the rules say them."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    rule = next(rule for group in groups for rule in group["rules"] if rule["alert"] == alert)
    return {"exp_labels": rule["labels"], "exp_annotations": rule["annotations"]}


def input_series(recording: Recording) -> list[dict[str, str]]:
    """Every series as the tool writes them: one value a minute, ``_`` where there is none."""
    start = STARTED.timestamp()
    found = []
    for labels, samples in recording.series.items():
        named = dict(labels)
        name = named.pop("__name__")
        inside = ",".join(f'{key}="{value}"' for key, value in sorted(named.items()))
        by_minute = {round((at - start) / 60): value for at, value in samples}
        values = " ".join(
            "_" if minute not in by_minute else number(by_minute[minute])
            for minute in range(max(by_minute) + 1)
        )
        found.append({"series": f"{name}{{{inside}}}", "values": values})
    return found


def number(value: float) -> str:
    """A figure in full: the tool's small language knows no exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if math.isfinite(value) else "NaN"
