"""Values survive being packed exactly; anything else is no value."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.answers import Answer, Candidate, Citation, Draft, Passage, Retrieval, Span
from core.domain.audiences import Audience, Scope
from core.domain.documents import Heading
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.questions import Conversation, Question, Turn
from core.services.packing import ANSWERS, DRAFTS, Codec
from tests.core.services.answered import an_answer

TEXT = st.text(max_size=12)
ANY_TEXT = st.text(alphabet=st.characters() | st.sampled_from("\ud800\udfff"), max_size=20)
NUMBER = st.floats(allow_nan=False)
PAGE = TEXT.map(PageId)
WHEN = st.datetimes(timezones=st.just(UTC))
MAYBE_RANK = st.none() | st.integers(min_value=1)

CANDIDATES = st.builds(
    Candidate,
    chunk_id=st.none() | st.integers().map(ChunkId),
    page_id=PAGE,
    title=TEXT,
    breadcrumb=TEXT,
    page_url=TEXT,
    body=TEXT,
    path=st.lists(PAGE, max_size=3).map(tuple),
    block_id=st.none() | TEXT.map(BlockId),
    heading_path=st.lists(st.builds(Heading, st.integers(1, 3), TEXT), max_size=2).map(tuple),
    level=st.integers(0, 1),
    index=st.integers(0),
    language=TEXT,
    last_edited=st.none() | WHEN,
    semantic_rank=MAYBE_RANK,
    lexical_rank=MAYBE_RANK,
    cosine=st.none() | NUMBER,
    lexical=st.none() | NUMBER,
)
PASSAGES = st.builds(Passage, candidate=CANDIDATES, rrf=NUMBER, score=NUMBER)
SCOPES = st.builds(
    Scope,
    name=TEXT,
    include=st.none() | st.frozensets(PAGE, max_size=2),
    exclude=st.frozensets(PAGE, max_size=2),
)
AUDIENCES = st.builds(
    Audience, name=TEXT, groups=st.lists(st.lists(SCOPES, max_size=2).map(tuple), max_size=2).map(tuple)
)
QUESTIONS = st.builds(
    Question,
    id=TEXT,
    text=TEXT,
    asker=TEXT,
    conversation=st.builds(Conversation, TEXT, TEXT, TEXT, TEXT),
    audience=AUDIENCES,
    asked_at=WHEN,
    turns=st.lists(st.builds(Turn, TEXT), max_size=2).map(tuple),
)
RETRIEVED = st.builds(
    Retrieval,
    question=QUESTIONS,
    query=TEXT,
    language=TEXT,
    passages=st.lists(PASSAGES, max_size=3).map(tuple),
    degraded=st.booleans(),
    generation=st.integers(),
    timings=st.dictionaries(TEXT, NUMBER, max_size=3),
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Answers whose citations are retrieved passages and whose spans cite them."""
    retrieval = draw(RETRIEVED)
    citations = tuple(
        Citation(number=number, passage=passage, quote=draw(TEXT))
        for number, passage in enumerate(retrieval.passages, 1)
    )
    cites = st.lists(st.sampled_from(citations), max_size=3) if citations else st.just([])
    span = st.builds(lambda text, cited: Span(text, tuple(one.number for one in cited)), TEXT, cites)
    return Answer(
        spans=tuple(draw(st.lists(span, max_size=3))),
        citations=citations,
        retrieval=retrieval,
        language=draw(TEXT),
        degraded=draw(st.booleans()),
        cached=draw(st.booleans()),
    )


@given(answers())
def test_every_field_of_an_answer_survives(answer: Answer) -> None:
    """Equality of dataclasses compares every field, down to the last scope of the audience."""
    assert ANSWERS.unpack(ANSWERS.pack(answer)) == answer


@given(RETRIEVED)
def test_every_field_of_a_retrieval_survives(retrieval: Retrieval) -> None:
    """Also where ranks are null and the same text appears twice."""
    codec = Codec(Retrieval)

    assert codec.unpack(codec.pack(retrieval)) == retrieval


@given(
    st.builds(Draft, text=st.text(alphabet=st.characters(), max_size=20), model=TEXT, degraded=st.booleans())
)
def test_every_field_of_a_draft_survives(draft: Draft) -> None:
    """Whatever the model wrote, half surrogate pairs included."""
    assert DRAFTS.unpack(DRAFTS.pack(draft)) == draft


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_damaged_value_is_a_miss_or_the_value(position: int, noise: bytes) -> None:
    """No damage raises; what still parses has the right types throughout."""
    packed = ANSWERS.pack(an_answer())
    position %= len(packed)
    damaged = packed[:position] + noise + packed[position + len(noise) :]

    unpacked = ANSWERS.unpack(damaged)

    assert unpacked is None or ANSWERS.unpack(ANSWERS.pack(unpacked)) == unpacked


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[1,2,3]", b"[" * 100_000])
def test_something_else_is_a_miss(data: bytes) -> None:
    """Empty, foreign, broken and absurdly deep bytes are null."""
    assert ANSWERS.unpack(data) is None


def repacked(change: str) -> bytes:
    """A packed draft with one thing changed."""
    version, value = json.loads(DRAFTS.pack(Draft(text="text", model="model")))
    changed: dict[str, Any] = {
        "another version": ["0.000000000000", value],
        "a number for a text": [version, [5, *value[1:]]],
        "a field missing": [version, value[:-1]],
        "a field too many": [version, [*value, 1]],
        "one for true": [version, [*value[:-1], 1]],
    }
    return json.dumps(changed[change]).encode()


@pytest.mark.parametrize(
    "change",
    ["another version", "a number for a text", "a field missing", "a field too many", "one for true"],
)
def test_another_version_or_shape_is_a_miss(change: str) -> None:
    """A value written by an older or newer Footnote is asked for again."""
    assert DRAFTS.unpack(repacked(change)) is None


def test_an_answer_that_breaks_its_own_rules_is_a_miss() -> None:
    """A citation that is no retrieved passage cannot come out of a cache."""
    packed = ANSWERS.pack(an_answer(body="original")).decode()

    assert ANSWERS.unpack(packed.replace("original", "tampered", 1).encode()) is None


def test_a_new_field_changes_the_version() -> None:
    """Nobody has to remember to raise a number when the domain grows."""

    @dataclass(frozen=True, slots=True)
    class Old:
        text: str

    @dataclass(frozen=True, slots=True)
    class New:
        text: str
        language: str | None

    assert Codec(New).unpack(Codec(Old).pack(Old("text"))) is None


def test_a_type_that_cannot_be_packed_is_refused_at_once() -> None:
    """When the codec is made, not when the first value is lost."""

    @dataclass(frozen=True, slots=True)
    class Unfit:
        pair: tuple[int, str]

    with pytest.raises(TypeError, match="tuples of one type"):
        Codec(Unfit)


def test_dates_keep_their_instant() -> None:
    """The edit date of a page is compared, not only shown."""
    when = datetime(2026, 5, 3, 10, 0, tzinfo=UTC)
    answer = an_answer(last_edited=when)

    unpacked = ANSWERS.unpack(ANSWERS.pack(answer))

    assert unpacked is not None
    assert unpacked.citations[0].last_edited == when
