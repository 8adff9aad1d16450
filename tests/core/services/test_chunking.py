"""Sizes, overlap, prefixes and the order of chunks."""

from dataclasses import replace
from itertools import pairwise

import pytest

from core.domain.documents import Block, BlockKind
from core.services.chunking import (
    ChunkSettings,
    chunk_page,
    chunks_or_title,
    title_chunk,
)
from core.services.measuring import estimate_tokens, tokens_at_most
from tests.core.services.chunking_builders import (
    a_page,
    bodies,
    chunks_of,
    heading,
    item,
    own_text,
    text,
)


def test_k1_paragraphs_that_fill_a_chunk_exactly_share_it() -> None:
    """300 and 299 characters make one chunk of exactly 600, the line break counted."""
    chunks = chunks_of(text("a" * 300), text("b" * 299))

    assert bodies(chunks) == ["a" * 300 + "\n" + "b" * 299]
    assert len(chunks[0].body) == 600


def test_k2_a_chunk_begins_with_the_end_of_the_one_before() -> None:
    """300 and 300 characters make two chunks, the second with 100 repeated."""
    first, second = chunks_of(text("a" * 300), text("b" * 300))

    assert (len(first.body), len(second.body)) == (300, 401)
    assert second.overlap == 100
    assert second.body == "a" * 100 + "\n" + "b" * 300


def test_k3_overlap_never_exceeds_the_limit() -> None:
    """The repetition gives way where the text needs the room."""
    first, second = chunks_of(text("a" * 500), text("b" * 590))

    assert len(first.body) == 500
    assert second.body == "a" * 9 + "\n" + "b" * 590
    assert second.overlap == 9


def test_u13_no_pair_of_paragraphs_makes_a_chunk_too_long() -> None:
    """Whatever lengths meet, every chunk stays within 600 characters."""
    lengths = [1, 99, 100, 101, 499, 500, 501, 590, 598, 599, 600, 601, 1200]

    sizes = [
        len(chunk.body)
        for left in lengths
        for right in lengths
        for chunk in chunks_of(text("a" * left), text("b" * right), text("c" * 30))
    ]

    assert max(sizes) == 600


def test_k4_a_paragraph_without_blanks_is_cut() -> None:
    """1500 characters make 600, 600 and 500 with an overlap of 100."""
    chunks = chunks_of(text("".join(chr(ord("a") + number % 26) for number in range(1500)), "b1"))

    assert [len(chunk.body) for chunk in chunks] == [600, 600, 500]
    assert [chunk.overlap for chunk in chunks] == [0, 100, 100]
    assert [chunk.block_id for chunk in chunks] == ["b1", "b1", "b1"]
    for before, after in pairwise(chunks):
        assert before.body.endswith(after.body[:100])


@pytest.mark.parametrize("apart", [True, False])
def test_k5_the_repetition_begins_with_a_word(apart: bool) -> None:
    """At 50/20 the second chunk starts with at most the last 20 characters of the first, at a word."""
    lines = ["First paragraph here.", "Second paragraph here.", "Third paragraph here."]
    blocks = [text(line) for line in lines] if apart else [text("\n".join(lines))]

    first, second = chunks_of(*blocks, size=50, overlap=20)

    assert first.body == "First paragraph here.\nSecond paragraph here."
    assert second.body == "paragraph here.\nThird paragraph here."
    assert second.overlap == len("paragraph here.")


def test_k6_nothing_crosses_from_one_section_to_the_next() -> None:
    """Each section's chunk has its own prefix and no word of the other."""
    chunks = chunks_of(heading(1, "A"), text("Short section A."), heading(1, "B"), text("Short section B."))

    assert [chunk.text_to_embed for chunk in chunks] == [
        "[Doc > # A] Short section A.",
        "[Doc > # B] Short section B.",
    ]


def test_k7_no_bracket_without_title_and_heading() -> None:
    """A text that nothing stands above is embedded as it is."""
    (chunk,) = chunks_of(text("Just text."), title="")

    assert chunk.text_to_embed == "Just text."


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t \r\n", "\u2003\u00a0"])
def test_k8_blank_text_makes_no_chunks(blank: str) -> None:
    """Whitespace of any kind is nothing to find."""
    assert chunks_of(text(blank), item(blank), Block(BlockKind.QUOTE, blank)) == ()


def test_f10_a_page_with_a_title_and_no_body_is_found_by_its_title() -> None:
    """Its title stands for it, as one chunk that speaks of the whole page."""
    (chunk,) = chunks_or_title(a_page("Emergency numbers"), [])

    assert (chunk.text_to_embed, chunk.level, chunk.index, chunk.block_id) == (
        "Emergency numbers",
        0,
        0,
        None,
    )


def test_f10_a_page_with_text_needs_no_title_chunk() -> None:
    """Where there is text, the title stands before it and makes no chunk of its own."""
    blocks = [text("Call 112.")]

    assert chunks_or_title(a_page("Emergency"), blocks) == chunk_page(a_page("Emergency"), blocks)


def test_f10_a_page_with_neither_title_nor_text_gives_nothing() -> None:
    """There is nothing to find it by."""
    assert chunks_or_title(a_page(" "), []) == ()
    assert title_chunk(a_page("—")) is None


def test_k18_document_order_is_kept() -> None:
    """A long paragraph between short ones stays between them."""
    sentence = "This sentence is one of many that make the paragraph long. "
    chunks = chunks_of(text("small one"), text(sentence * 10), text("last"), size=20, unit="tokens")

    whole = "\n".join(map(own_text, chunks))

    assert (
        whole.index("small one") < whole.index("This sentence") < whole.rindex("long.") < whole.index("last")
    )
    assert whole.count("This sentence") == 10
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


def test_k19_text_behind_the_last_full_stop_is_kept() -> None:
    """A last sentence without an end is a sentence too."""
    chunks = chunks_of(text("First sentence. Second sentence without end"), size=5, unit="tokens")

    assert " ".join(map(own_text, chunks)).split() == [
        "First",
        "sentence.",
        "Second",
        "sentence",
        "without",
        "end",
    ]
    assert all(estimate_tokens(chunk.body) <= 5 for chunk in chunks)


def test_k20_an_oversized_first_word_makes_no_empty_chunk() -> None:
    """100 times x at 10 tokens: every chunk has text, none more than 40 characters."""
    chunks = chunks_of(text("x" * 100), size=10, unit="tokens")

    assert all(0 < len(chunk.body) <= 40 for chunk in chunks)
    assert "".join(map(own_text, chunks)) == "x" * 100


def test_k21_the_token_estimate_ignores_the_separator() -> None:
    """2000 characters are 500 tokens; 1000 and 1000 merge, 1000 and 1001 do not."""
    assert bodies(chunks_of(text("x" * 2000), size=500, unit="tokens")) == ["x" * 2000]
    assert len(chunks_of(text("x" * 1000), text("y" * 1000), size=500, unit="tokens")) == 1
    assert len(chunks_of(text("x" * 1000), text("y" * 1001), size=500, unit="tokens")) == 2


def test_x3_size_is_measured_by_a_counter_that_can_be_passed_in() -> None:
    """A model's own tokenizer can take the place of the estimate."""
    chunks = chunks_of(
        text("one two three four five six seven"),
        size=3,
        overlap=0,
        unit="tokens",
        counter=lambda t: len(t.split()),
    )

    assert bodies(chunks) == ["one two three", "four five six", "seven"]


@pytest.mark.parametrize("unit", ["chars", "tokens"])
@pytest.mark.parametrize(
    "word", ["lorem ", "Übergrößenträger ", "слово ", "字", "한국어", "😀", "f3a9", "+-*/", "a\u0301 "]
)
def test_x3_no_chunk_is_above_600_tokens_or_the_models_limit(word: str, unit: str) -> None:
    """Whatever the settings and the script, prefix and all fit the model."""
    blocks = [heading(2, "Heading " + word * 5), text(word * 4000)]
    settings = ChunkSettings(size=2000, unit=unit, max_input_tokens=512, passage_prefix="search_document: ")  # type: ignore[arg-type] # parametrised

    chunks = chunk_page(a_page("Title", "Wiki"), blocks, settings)

    for chunk in chunks:
        assert estimate_tokens(chunk.text_to_embed) <= 600
        assert tokens_at_most(settings.passage_prefix + chunk.text_to_embed) <= 512


def test_x3_an_endless_title_and_heading_leave_room_for_the_text() -> None:
    """They are shortened in the prefix; the heading's words are in a body all the same."""
    words = [f"word{number}" for number in range(300)]
    settings = ChunkSettings(max_input_tokens=256)
    page = a_page("Title " * 400, "Parent " * 400)

    chunks = chunk_page(page, [heading(1, " ".join(words)), text("The text itself.")], settings)

    assert all(tokens_at_most(chunk.text_to_embed) <= 256 for chunk in chunks)
    assert " ".join(map(own_text, chunks)).split() == ["#", *words, "The", "text", "itself."]


@pytest.mark.parametrize(
    ("size", "overlap", "expected"),
    [
        (600, None, 100),
        (600, 100, 100),
        (600, 180, 180),
        (1000, 0.15, 150),
        (1000, 0.3, 300),
        (600, 0, 0),
        (50, 20, 20),
    ],
)
def test_x4_overlap_is_absolute_or_a_ratio(size: int, overlap: float | None, expected: int) -> None:
    """100 of 600 by default."""
    assert ChunkSettings(size=size, overlap=overlap).overlap == expected


@pytest.mark.parametrize(
    ("size", "overlap"),
    [(600, 181), (600, 600), (1000, 0.31), (600, 1.0), (600, -1), (600, float("nan")), (30, 20)],
)
def test_x4_overlap_above_30_percent_is_refused(size: int, overlap: float) -> None:
    """The message says what would be accepted."""
    with pytest.raises(ValueError, match="overlap"):
        ChunkSettings(size=size, overlap=overlap)


@pytest.mark.parametrize("wrong", [{"size": 0}, {"unit": "words"}, {"max_input_tokens": 10}])
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    """Each is named in the message."""
    with pytest.raises(ValueError, match=r"size|unit|limit"):
        ChunkSettings(**wrong)  # type: ignore[arg-type] # wrong on purpose


def test_sy24_the_chunkers_version_changes_with_its_settings() -> None:
    """Chunks cut in two ways are never mixed in one index."""
    settings = ChunkSettings()

    others = [
        replace(settings, size=512),
        replace(settings, overlap=50),
        replace(settings, unit="tokens"),
        replace(settings, max_input_tokens=512),
    ]

    assert len({settings.version, *(other.version for other in others)}) == 5


def test_overlap_comes_from_the_same_section_only() -> None:
    """The first chunk under a heading repeats nothing."""
    chunks = chunks_of(heading(1, "A"), text("a" * 500), text("a" * 500), heading(1, "B"), text("b" * 500))

    assert [chunk.overlap for chunk in chunks] == [0, 99, 0]


def test_a_chunk_knows_the_block_of_its_first_new_text() -> None:
    """The block it repeats the end of does not count."""
    chunks = chunks_of(
        text("a" * 400, "b1"), text("b" * 300, "b2"), text("c" * 100, "b3"), text("d" * 300, "b4")
    )

    assert [(chunk.block_id, chunk.overlap > 0) for chunk in chunks] == [
        ("b1", False),
        ("b2", True),
        ("b4", True),
    ]


def test_row_properties_stand_first_as_lines() -> None:
    """``Name: value``, without those that are empty, and the page's link as their citation."""
    page = a_page("Printer", properties=(("Floor", "3"), ("Owner", " "), ("Model", "LX\n200")))

    (chunk,) = chunk_page(page, [text("Paper is in the cupboard.", "b1")])

    assert chunk.body == "Floor: 3\nModel: LX 200\nPaper is in the cupboard."
    assert chunk.block_id is None


def test_row_properties_alone_are_enough() -> None:
    """A row without a body is found by its properties."""
    (chunk,) = chunk_page(a_page("Printer", properties=(("Floor", "3"),)), [heading(1, "Notes")])[:1]

    assert chunk.text_to_embed == "[Printer] Floor: 3"


def test_a_dropped_chunk_is_not_repeated_in_the_next() -> None:
    """What was thrown away as a drawing does not come back as overlap."""
    (chunk,) = chunks_of(text("─" * 600), text("Words behind the drawing."))

    assert (chunk.body, chunk.overlap, chunk.index) == ("Words behind the drawing.", 0, 0)


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    """No database takes half a character."""
    (chunk,) = chunks_of(text("half \ud83d here, whole \ud83d\ude00 there"))

    assert chunk.body == "half \ufffd here, whole 😀 there"


def test_cuts_never_part_what_is_seen_as_one_character() -> None:
    """Accents, vowel signs, families and flags stay whole."""
    for grapheme in ("e\u0301", "नि", "👩‍👩‍👧", "🇩🇪", "👍🏽"):
        chunks = chunks_of(text(("x" * 7 + grapheme) * 200), size=100)

        assert len(chunks) > 1
        assert all(set(chunk.body.replace(grapheme, "")) == {"x"} for chunk in chunks)


def test_x5_an_oversized_paragraph_is_cut_by_sentences_words_and_signs() -> None:
    """1,500 characters in one paragraph make several chunks: whole sentences, then words, then a hard cut."""
    sentences = " ".join(f"Sentence number {number} is here." for number in range(60))
    words = "word " * 300
    signs = "x" * 1500

    by_sentence, by_word, by_sign = (
        chunks_of(text(one), size=600, overlap=0) for one in (sentences, words, signs)
    )

    for chunks in (by_sentence, by_word, by_sign):
        assert len(chunks) >= 3
        assert max(len(body) for body in bodies(chunks)) <= 600
    assert len(sentences) > 1500
    assert all(body.endswith("here.") and body.startswith("Sentence") for body in bodies(by_sentence))
    assert {word for body in bodies(by_word) for word in body.split()} == {"word"}
    assert "".join(bodies(by_sign)) == signs


def test_x5_sections_come_before_paragraphs() -> None:
    """Two short sections are two chunks though one would hold them."""
    assert bodies(chunks_of(heading(1, "A"), text("one"), heading(1, "B"), text("two"), size=600)) == [
        "one",
        "two",
    ]


def test_x6_body_breadcrumb_and_headings_are_kept_apart() -> None:
    """The bracket is put together for the model alone; a text that looks like one is never taken apart."""
    (chunk,) = chunk_page(
        a_page("Setup", "Wiki"), [heading(2, "Steps [1] > two"), text("[Wiki > Other > # Trap] Real text")]
    )

    assert chunk.body == "[Wiki > Other > # Trap] Real text"
    assert chunk.breadcrumb == "Wiki > Setup"
    assert [(one.level, one.text) for one in chunk.heading_path] == [(2, "Steps [1] > two")]
    assert chunk.text_to_embed == f"[Wiki > Setup > ## Steps [1] > two] {chunk.body}"
