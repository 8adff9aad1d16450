"""Each shipped alert fires when Footnote is driven into what it warns of, and not before."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.scopes.watching import LiveAudiences
from core.errors import UnavailableError
from core.ports.chat import Verdict
from tests.e2e.alert_rig import RULES, Rig
from tests.fakes.promql import read_rules

TESTED = {
    "FootnoteRetrievalScoreFell",
    "FootnoteSyncIsLate",
    "FootnoteAnswersAreSlow",
    "FootnoteAnswersFail",
    "FootnoteAnswersAreDegraded",
    "FootnoteAnswersAreJudgedBad",
    "FootnoteWikiDoesNotKnow",
    "FootnotePagesFail",
    "FootnoteRulesAreRefused",
}


def test_every_shipped_alert_is_driven_here() -> None:
    """A rule that nobody has seen fire is no rule."""
    assert set(read_rules(RULES)) == TESTED


async def test_nothing_fires_while_all_is_well() -> None:
    """Two hours of questions, syncs and good judgements."""
    rig = Rig()
    for _ in range(20):
        await rig.judge(Verdict.GOOD)

    assert await rig.run(minutes=120) == frozenset()


async def test_a18_a_fallen_retrieval_score_fires() -> None:
    """After hours of cosines of 0.9 an hour of 0.8 is a fall; 0.88 is none."""
    rig = Rig()
    await rig.run(minutes=180, watched=False)
    rig.cosine = 0.88
    assert await rig.run(minutes=60) == frozenset()
    rig.cosine = 0.7

    minutes = await rig.until("FootnoteRetrievalScoreFell", at_most=90)

    assert 10 <= minutes <= 60
    assert rig.firing() == {"FootnoteRetrievalScoreFell"}


async def test_a18_a_late_sync_fires() -> None:
    """Three intervals of half an hour and five minutes after the last look."""
    rig = Rig()
    await rig.run(minutes=60, questions=0, watched=False)
    rig.syncs = False

    minutes = await rig.until("FootnoteSyncIsLate", at_most=120, questions=0)

    assert 90 < minutes <= 97
    rig.standing = replace(rig.standing, interval=0)
    assert await rig.run(minutes=10, questions=0) == frozenset()


async def test_a_wiki_that_was_never_read_is_late_too() -> None:
    """The age of the process stands for the age of the look that never was."""
    rig = Rig()
    rig.syncs = False
    rig.standing = replace(rig.standing, last_look=None)

    assert 90 < await rig.until("FootnoteSyncIsLate", at_most=120, questions=0) <= 97


async def test_a18_risen_latency_fires() -> None:
    """A model that takes half a minute; ten minutes of it."""
    rig = Rig()
    await rig.run(minutes=30, watched=False)
    rig.writing_seconds = 30.0

    assert 10 <= await rig.until("FootnoteAnswersAreSlow", at_most=40) <= 20


async def test_a18_bad_judgements_fire() -> None:
    """Nine bad ones are too few to tell; more than two in five of many are not."""
    rig = Rig()
    await rig.run(minutes=5, questions=0, watched=False)
    for _ in range(9):
        await rig.judge(Verdict.BAD)
    assert await rig.run(minutes=40, questions=0) == frozenset()
    for _ in range(9):
        await rig.judge(Verdict.GOOD)

    assert 30 <= await rig.until("FootnoteAnswersAreJudgedBad", at_most=60, questions=0) <= 32


async def test_failing_answers_fire() -> None:
    """The index is away for some minutes."""
    rig = Rig()
    await rig.run(minutes=10, watched=False)
    rig.index.error = UnavailableError("the database is away")

    await rig.until("FootnoteAnswersFail", at_most=15)


async def test_degraded_answers_fire() -> None:
    """The chat model is away, and answers are quotes."""
    rig = Rig()
    await rig.run(minutes=35, watched=False)
    rig.model_is_away = True

    assert 10 <= await rig.until("FootnoteAnswersAreDegraded", at_most=60) <= 40


async def test_a_wiki_that_does_not_know_fires() -> None:
    """Most questions find nothing near enough."""
    rig = Rig()
    await rig.run(minutes=5, watched=False)
    rig.cosine = 0.0

    await rig.until("FootnoteWikiDoesNotKnow", at_most=90)


async def test_pages_that_fail_for_hours_fire() -> None:
    """Six of them; five are not enough."""
    rig = Rig()
    rig.standing = replace(rig.standing, pages={"failed": 5, "indexed": 90})
    assert await rig.run(minutes=200, questions=0) == frozenset()
    rig.standing = replace(rig.standing, pages={"failed": 6, "indexed": 89})

    assert 180 <= await rig.until("FootnotePagesFail", at_most=200, questions=0) <= 182


async def test_refused_rules_fire_until_they_are_right(tmp_path: Path) -> None:
    """A wrong footnote.toml is seen where nobody reads the log."""
    rig = Rig()
    file = tmp_path / "footnote.toml"
    write(file, "[slack]\n")
    live = LiveAudiences(file)
    write(file, "[slak]\n")
    live.refresh()
    rig.standing = replace(rig.standing, rules_refused=live.is_refused)

    await rig.until("FootnoteRulesAreRefused", at_most=10, questions=0)
    write(file, "[slack]\n")
    live.refresh()
    rig.standing = replace(rig.standing, rules_refused=live.is_refused)

    assert await rig.run(minutes=2, questions=0) == frozenset()


def write(file: Path, text: str) -> None:
    """Replace a file's text."""
    file.write_text(text, encoding="utf-8")


async def test_metrics_hold_no_text_and_no_person() -> None:
    """Whoever may scrape may not read along."""
    rig = Rig()
    await rig.run(minutes=3)

    told = rig.watch.exposition().decode()

    assert 'footnote_questions_total{platform="console"} 3.0' in told
    assert 'footnote_cache_lookups_total{level="answer",result="miss"} 3.0' in told
    assert 'footnote_generation_tokens_total{direction="written"}' in told
    assert "vacation" not in told
    assert "U1" not in told
    with pytest.raises(AssertionError, match="did not fire"):
        await rig.until("FootnotePagesFail", at_most=1)
