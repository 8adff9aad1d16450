"""K23: whatever the page, nothing is lost, nothing too long, and the result is always the same."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Block, BlockKind, Chunk
from core.services.boilerplate import is_boilerplate
from core.services.chunking import ChunkSettings, chunk_page
from core.services.junk import tally
from core.services.measuring import estimate_tokens, tokens_at_most
from core.services.page_text import page_text
from tests.core.services.chunking_builders import a_page, chunks_of, own_text, text

SOME_TEXT = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="abc .\n。，é\u0301😀-|`", max_size=900),
    st.lists(
        st.sampled_from(["word", "z. B.", "1.2", "句子。", "слово!", "👩‍👩‍👧", "---", "\u200b"]), max_size=200
    ).map(" ".join),
)

LEAVES = st.builds(
    Block, st.sampled_from([BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST_ITEM]), SOME_TEXT
)
HEADINGS = st.builds(
    lambda words, level: Block(BlockKind.HEADING, words, level=level), st.text(max_size=40), st.integers(1, 3)
)
TREES = st.recursive(
    st.one_of(LEAVES, HEADINGS),
    lambda children: st.builds(
        lambda kind, words, below: Block(kind, words, level=2, children=tuple(below)),
        st.sampled_from([BlockKind.LIST_ITEM, BlockKind.CONTAINER, BlockKind.HEADING, BlockKind.QUOTE]),
        st.text(max_size=40),
        st.lists(children, max_size=4),
    ).map(
        lambda block: (
            Block(block.kind, "", children=block.children) if block.kind is BlockKind.CONTAINER else block
        )
    ),
    max_leaves=12,
)
SETTINGS = st.builds(
    ChunkSettings,
    size=st.integers(40, 700),
    overlap=st.floats(0, 0.3),
    unit=st.sampled_from(["chars", "tokens"]),
    max_input_tokens=st.sampled_from([None, 128, 512]),
)


def visible(words: str) -> str:
    return "".join(words.split())


def in_order(needle: str, haystack: str) -> bool:
    rest = iter(haystack)
    return all(character in rest for character in needle)


def check_limits(chunks: Sequence[Chunk], chosen: ChunkSettings) -> None:
    for chunk in chunks:
        size = len(chunk.body) if chosen.unit == "chars" else estimate_tokens(visible(chunk.body))
        assert size <= chosen.size
        assert estimate_tokens(chunk.text_to_embed) <= 600
        assert tokens_at_most(chunk.text_to_embed) <= (chosen.max_input_tokens or 10**9)


@given(SOME_TEXT, SETTINGS)
@settings(deadline=None, max_examples=150)
def test_k23_the_bodies_without_overlap_are_the_text(words: str, chosen: ChunkSettings) -> None:
    """Every visible character, in order, unless its chunk was junk, or all of it boilerplate."""
    framed = f"Start of it. {words} End of it."

    chunks = chunk_page(a_page(), [text(framed)], chosen)

    joined = visible("".join(map(own_text, chunks)))
    assert in_order(joined, visible(framed))
    if not (is_boilerplate(framed, BlockKind.PARAGRAPH) or any(tally(one).is_junk for one in framed.split())):
        assert joined == visible(framed)
    check_limits(chunks, chosen)


@given(
    st.lists(
        SOME_TEXT.map(lambda words: "".join(c if c.isalnum() or c.isspace() else "x" for c in words)),
        max_size=8,
    ),
    SETTINGS,
)
@settings(deadline=None, max_examples=150)
def test_k23_text_that_is_no_junk_comes_back_in_full(paragraphs: list[str], chosen: ChunkSettings) -> None:
    """Paragraphs of letters and digits: what comes out is exactly what went in."""
    paragraphs = [words for words in paragraphs if not is_boilerplate(words, BlockKind.PARAGRAPH)]

    chunks = chunk_page(a_page(), list(map(text, paragraphs)), chosen)

    assert visible("".join(map(own_text, chunks))) == visible("".join(paragraphs))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    check_limits(chunks, chosen)


@given(st.lists(TREES, max_size=6), SETTINGS)
@settings(deadline=None, max_examples=150)
def test_k23_any_block_tree_is_chunked_in_order_and_always_the_same(
    blocks: list[Block], chosen: ChunkSettings
) -> None:
    """Indices without gaps, equal results, exact overlaps, no limit broken, no body blank."""
    chunks = chunk_page(a_page(), blocks, chosen)

    assert chunk_page(a_page(), blocks, chosen) == chunks
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    check_limits(chunks, chosen)
    for before, after in pairwise(chunks):
        assert after.overlap == 0 or before.body.endswith(after.body[: after.overlap])
        assert after.overlap == 0 or before.heading_path == after.heading_path
    assert all(own_text(chunk).strip() for chunk in chunks)


@given(st.lists(TREES, max_size=6))
@settings(deadline=None, max_examples=100)
def test_k23_every_letter_of_any_tree_is_in_a_body_or_a_heading(blocks: list[Block]) -> None:
    """Compared with the page's text, as sets of words, where nothing can be junk."""
    cleaned = [_only_letters(block) for block in blocks]

    chunks = chunks_of(*cleaned)

    found = {word for chunk in chunks for word in chunk.body.split()}
    found |= {word for chunk in chunks for one in chunk.heading_path for word in one.text.split()}
    wanted = {word for word in page_text(a_page().ref, cleaned).split() if word.isalnum() and len(word) < 60}
    assert wanted <= found


def _only_letters(block: Block) -> Block:
    words = "".join(c if c.isalnum() or c.isspace() else "x" for c in block.text)
    if is_boilerplate(words, block.kind):
        words = f"something else {words}"
    return Block(block.kind, words, level=block.level, children=tuple(map(_only_letters, block.children)))
