"""Drafts held against their sources: what is kept, moved, dropped or marked."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.domain.models import ModelProfile, Vector
from core.errors import UnavailableError
from core.services.draft_markup import Piece
from core.services.grounding import MOST_EMBEDDED, Grounder, Unsupported
from core.services.support import Fault
from tests.bench.support import judge, read_cases
from tests.core.services.found import a_passage

VACATION = "You have 28 days of vacation a year. Five unused days are carried over and lapse after 31 March."
TRIAL = "The trial runs 45 days and needs no credit card."
PLANS = "| Plan | Price |\n| --- | --- |\n| Stream | 14 euros |\n| River | 22 euros |"
URLAUB = "Du hast 28 Urlaubstage im Jahr. Kein Antrag ist nötig."


class Meanings:
    """An embedder for which texts of one topic are near, whatever their language; counts its texts."""

    profile = ModelProfile(name="test:e5", dimensions=3, threshold=0.1)

    def __init__(self, *topics: Sequence[str], error: Exception | None = None) -> None:
        self.topics = topics
        self.error = error
        self.embedded: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        """Not asked for."""
        raise NotImplementedError

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """One axis for each topic; a text of none lies between."""
        self.embedded.extend(texts)
        if self.error is not None:
            raise self.error
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = np.full(3, 0.6, dtype=np.float32)
        for axis, words in enumerate(self.topics):
            if any(word in text.lower() for word in words):
                vector = np.zeros(3, dtype=np.float32)
                vector[axis] = 1.0
        return vector / np.float32(np.linalg.norm(vector))


def shown(pieces: Sequence[Piece]) -> str:
    """The text with the numbers of its sources."""
    return "".join(piece.text + "".join(f" [{one + 1}]" for one in piece.sources) for piece in pieces)


async def checked(
    draft: Sequence[Piece], *bodies: str, grounder: Grounder | None = None, language: str = "en"
) -> str:
    """What is left of a draft over passages of different pages."""
    sources = [a_passage(place, body) for place, body in enumerate(bodies, start=1)]
    return shown((await (grounder or Grounder()).check(draft, sources, language)).pieces)


@pytest.mark.parametrize(
    ("sentence", "body", "fault"),
    [
        ("You have 29 days of vacation a year.", VACATION, Fault.FIGURE),
        ("Unused days lapse after 30 March.", VACATION, Fault.FIGURE),
        ("The trial needs a credit card.", TRIAL, Fault.NEGATION),
        ("The trial does not run 45 days.", TRIAL, Fault.NEGATION),
        ("The River plan costs 14 euros.", PLANS, Fault.NAME),
        ("The trial in Paris runs 45 days.", TRIAL, Fault.NAME),
        ("Pets are welcome in every office.", VACATION, Fault.UNRELATED),
        ("The trial runs 45 days.", TRIAL, None),
        ("The River plan costs 22 euros.", PLANS, None),
        ("Up to 5 unused vacation days are carried over.", VACATION, None),
    ],
)  # fmt: skip  # a table
async def test_what_is_wrong_with_a_sentence(sentence: str, body: str, fault: Fault | None) -> None:
    """Figures, names, negations and the topic are told apart, and true sentences left alone."""
    assert await Grounder().fault(sentence, "en", [a_passage(1, body)]) == fault


async def test_a_supported_draft_is_left_as_it_is() -> None:
    """Pieces, blanks and markers do not change."""
    draft = [Piece("The trial runs 45 days", (0,)), Piece(". It needs no credit card", (0,)), Piece(".")]
    assert (await Grounder().check(draft, [a_passage(1, TRIAL)], "en")).pieces == tuple(draft)


async def test_an_unsupported_sentence_is_dropped_or_marked() -> None:
    """As it is set; the others stay."""
    draft = [
        Piece("The trial runs 45 days", (0,)),
        Piece(". Pets are welcome in every office", (0,)),
        Piece("."),
    ]
    assert await checked(draft, TRIAL) == "The trial runs 45 days [1]."
    marking = Grounder(unsupported=Unsupported.MARK)
    marked = "The trial runs 45 days [1]. Pets are welcome in every office. (no source found for this)"
    assert await checked(draft, TRIAL, grounder=marking) == marked


async def test_a_sentence_moves_to_the_passage_that_supports_it() -> None:
    """A true sentence with the wrong number, or with none, gets the right one."""
    draft = [Piece("The trial runs 45 days", (0,)), Piece(". You have 28 days of vacation a year.")]
    assert (
        await checked(draft, VACATION, TRIAL)
        == "The trial runs 45 days. [2] You have 28 days of vacation a year. [1]"
    )


async def test_counts_tell_what_was_found() -> None:
    """For the metrics: supported, moved, and each fault."""
    draft = [Piece("The trial runs 45 days. It runs 46 days. Pets are welcome everywhere here", (0,))]
    result = await Grounder().check(draft, [a_passage(1, TRIAL)], "en")
    assert result.counts == {"supported": 1, "figure": 1, "unrelated": 1}


async def test_sentences_that_claim_nothing_are_kept() -> None:
    """Lead-ins and a bare yes need no source."""
    draft = [Piece("Yes.\n\nHere is how:\n- The trial runs 45 days", (0,))]
    assert await checked(draft, TRIAL) == "Yes.\n\nHere is how:\n- The trial runs 45 days [1]"


async def test_code_needs_its_source() -> None:
    """A block whose lines stand in a source is shown, an invented command is not."""
    body = "Run this:\n```\nshipit scale 10\nshipit status\n```"
    good = [Piece("```\nshipit scale 10\nshipit status\n```", (0,))]
    bad = [Piece("The trial runs 45 days [1].\n\n```\nrm -rf /\n```", (1,))]
    assert await checked(good, body) == "```\nshipit scale 10\nshipit status\n``` [1]"
    assert "rm" not in await checked(bad, body, TRIAL)


async def test_across_languages_meaning_decides() -> None:
    """Where no words are shared, a sentence must be near one of the source's and deny what it denies."""
    topics = (("urlaub", "vacation"), ("antrag", "application"), ("pets", "haustier"))
    source = a_passage(1, URLAUB, language="de")
    grounder = Grounder(Meanings(*topics))
    assert await grounder.fault("You have 28 vacation days.", "en", [source]) is None
    assert await grounder.fault("No application is needed.", "en", [source]) is None
    assert await grounder.fault("An application is needed.", "en", [source]) is Fault.NEGATION
    assert await grounder.fault("Pets are welcome in all rooms.", "en", [source]) is Fault.UNRELATED
    assert await grounder.fault("You have 29 vacation days.", "en", [source]) is Fault.FIGURE


@pytest.mark.parametrize("embedder", [None, Meanings(error=UnavailableError("away"))])
async def test_without_a_model_words_and_figures_decide(embedder: Meanings | None) -> None:
    """A missing model costs no answer: what cannot be compared is believed if its figures are right."""
    source = a_passage(1, URLAUB, language="de")
    grounder = Grounder(embedder)
    assert await grounder.fault("You have 28 vacation days.", "en", [source]) is None
    assert await grounder.fault("You have 29 vacation days.", "en", [source]) is Fault.FIGURE


async def test_few_sentences_are_embedded() -> None:
    """None where words are shared; and never more than the limit, however long the draft."""
    embedder = Meanings(("days",))
    await checked(
        [Piece("The trial runs 45 days. It needs no credit card", (0,))], TRIAL, grounder=Grounder(embedder)
    )
    assert embedder.embedded == []
    long = [Piece(" ".join(f"Nummer {at} hat niemand je gesehen im Haus." for at in range(200)), (0,))]
    await checked(
        long,
        " ".join(f"House number {at} is green." for at in range(200)),
        grounder=Grounder(embedder),
        language="de",
    )
    assert len(embedder.embedded) <= MOST_EMBEDDED


async def test_golden_sentences_by_words_alone() -> None:
    """Of 50 unsupported sentences 45 are caught, of each kind 7, with at most 4 false alarms among 200.

    No embedding model is used here; ``python -m tests.bench.support`` says what it adds.
    """
    cases = await read_cases()
    objects = await judge(Grounder(), cases)
    caught = {
        kind: sum(objects[one.id] for one in cases if one.kind == kind)
        for kind in {one.kind for one in cases}
    }
    false_alarms = caught.pop("")
    assert (len(cases), len(caught)) == (250, 5)
    assert sum(caught.values()) >= 45
    assert min(caught.values()) >= 7
    assert false_alarms <= 4
