"""Drafts as sentences, and drafts with sentences left out or moved."""

import pytest

from core.services.draft_markup import Piece
from core.services.statements import Ruling, Sentence, rule, split


def claims(pieces: list[Piece]) -> list[tuple[str, tuple[int, ...]]]:
    """What is to be checked, with the sources named for it."""
    return [(one.text, one.sources) for one in split(pieces) if not one.is_frame]


def place_of(sentences: tuple[Sentence, ...], start: str) -> int:
    """Where the sentence is that begins so."""
    return next(place for place, one in enumerate(sentences) if one.text.startswith(start))


def text_of(pieces: tuple[Piece, ...]) -> str:
    """With the sources' numbers behind their pieces."""
    return "".join(piece.text + "".join(f"[{one}]" for one in piece.sources) for piece in pieces)


def test_sentences_before_a_marker_share_it() -> None:
    """A marker stands for all that was said since the one before."""
    pieces = [Piece("You have 28 days. They lapse", (0,)), Piece(". More"), Piece(".")]
    assert claims(pieces) == [("You have 28 days.", (0,)), ("They lapse.", (0,)), ("More.", ())]


def test_lists_tables_and_code_are_taken_apart() -> None:
    """Each item and row is a statement; marks, headings, lead-ins and table heads are none."""
    draft = (
        "## Plans\nThere are:\n- one `a. b`\n- two\n\n"
        "| Plan | Price |\n| --- | --- |\n| River | 22 |\n\n```\nls\n```"
    )
    assert [text for text, _sources in claims([Piece(draft)])] == [
        "one `a. b`",
        "two",
        "River 22",
        "```\nls\n```",
    ]


@pytest.mark.parametrize(
    "draft", ["A. B.\n\n- c\n- d\n\n```sh\nx\n```\nend", "", "\n\n", "| a |\n|---|\n| b |"]
)
def test_sentences_are_the_whole_text(draft: str) -> None:
    """Nothing is lost, and without rulings nothing changes."""
    pieces = [Piece(draft[:5], (0,)), Piece(draft[5:])]
    sentences = split(pieces)
    assert "".join(draft[one.start : one.end] for one in sentences) == draft
    assert rule(pieces, sentences, {}) == tuple(pieces)


def test_a_dropped_sentence_leaves_no_trace() -> None:
    """The blank goes with it, the others keep their sources."""
    pieces = [
        Piece("You have 28 days", (0,)),
        Piece(". Pets are paid for too"),
        Piece(". Ask Ada", (1,)),
        Piece("."),
    ]
    sentences = split(pieces)
    left = rule(pieces, sentences, {place_of(sentences, "Pets"): Ruling(is_dropped=True)})
    assert text_of(left) == "You have 28 days[0]. Ask Ada[1]."


def test_a_dropped_item_takes_its_mark_along() -> None:
    """No empty bullet, and no lead-in without anything behind it."""
    pieces = [Piece("There is:\n- coffee", (0,)), Piece("\n- a gym\n- tea", (0,))]
    sentences = split(pieces)
    gym, coffee, tea = (place_of(sentences, word) for word in ("a gym", "coffee", "tea"))
    dropped = Ruling(is_dropped=True)
    assert text_of(rule(pieces, sentences, {gym: dropped})) == "There is:\n- coffee[0]\n- tea[0]"
    assert text_of(rule(pieces, sentences, {gym: dropped, coffee: dropped, tea: dropped})) == ""


def test_a_moved_sentence_has_its_new_source_alone() -> None:
    """Its neighbours in the same piece keep theirs."""
    pieces = [Piece("You have 28 days. Coffee is free. Ask Ada", (0,)), Piece(".")]
    sentences = split(pieces)
    moved = rule(pieces, sentences, {place_of(sentences, "Coffee"): Ruling(sources=(1,))})
    assert text_of(moved) == "You have 28 days. [0]Coffee is free.[1] Ask Ada[0]."


def test_a_marked_sentence_cites_nothing() -> None:
    """Its note stands behind it."""
    pieces = [Piece("It is free", (0,)), Piece(".")]
    sentences = split(pieces)
    assert (
        text_of(rule(pieces, sentences, {0: Ruling(sources=(), note=" (unsure)")})) == "It is free. (unsure)"
    )
