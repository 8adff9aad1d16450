"""Long texts in pieces that each stand alone."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.chat.discord.splitting import characters, split
from tests.adapters.chat.discord.markdown_checks import cut_links, open_fence, units

WORDS = st.text(
    alphabet=st.characters(
        exclude_characters="`*_|~\\[]()<>\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]
    ),
    min_size=1,
    max_size=60,
).filter(str.strip)


@st.composite
def a_link(draw: st.DrawFn) -> str:
    """A whole link."""
    label = draw(st.text(alphabet="abc déЖ", min_size=1, max_size=30)).strip() or "x"
    path = draw(st.text(alphabet="abc123-/#", min_size=1, max_size=80)).replace(" ", "")
    return f"[{label}](<https://www.notion.so/{path}>)"


@st.composite
def a_block(draw: st.DrawFn) -> str:
    """A paragraph, list, quote or code block of some length."""
    kind = draw(st.sampled_from(["prose", "list", "numbers", "code", "quote", "spoiler"]))
    pieces = draw(st.lists(st.one_of(WORDS, a_link()), min_size=1, max_size=25))
    match kind:
        case "list":
            return "\n".join(f"- {piece}" for piece in pieces)
        case "numbers":
            return "\n".join(f"{number}. {piece}" for number, piece in enumerate(pieces, 1))
        case "code":
            language = draw(st.sampled_from(["", "python", "c++"]))
            return f"```{language}\n" + "\n".join(pieces) + "\n```"
        case "quote":
            return f"> {' '.join(pieces)}"
        case "spoiler":
            return f"see ||{' '.join(draw(st.lists(WORDS, min_size=1, max_size=9)))}|| there"
        case _:
            return " ".join(pieces)


DOCUMENTS = st.lists(a_block(), min_size=1, max_size=12).map("\n\n".join)


@given(text=DOCUMENTS, limit=st.integers(min_value=250, max_value=2000))
@example(text="a " * 5000, limit=2000)
@example(text="😀" * 3000, limit=1999)
def test_dsc3_every_piece_keeps_the_limit_however_characters_are_counted(text: str, limit: int) -> None:
    """Code points, UTF-16 units: no way of counting finds a piece too long."""
    pieces = split(text, limit=limit)

    assert all(units(piece) <= limit and len(piece) <= limit for piece in pieces)
    assert all(characters(piece) == units(piece) for piece in pieces)


@given(text=DOCUMENTS, limit=st.integers(min_value=250, max_value=2000))
def test_f61_no_link_is_cut_and_no_fence_is_left_open(text: str, limit: int) -> None:
    """Each piece is drawn as it would be alone."""
    pieces = split(text, limit=limit)

    assert [cut_links(piece) for piece in pieces] == [[] for _ in pieces]
    assert not any(open_fence(piece) for piece in pieces)


@given(text=DOCUMENTS, limit=st.integers(min_value=250, max_value=2000))
def test_f61_nothing_is_lost_and_nothing_changes_its_order(text: str, limit: int) -> None:
    """All that is not white space or a mark of code or of a spoiler comes out as it went in."""
    pieces = split(text, limit=limit)

    assert _letters("\n".join(pieces)) == _letters(text)


@given(text=DOCUMENTS, limit=st.integers(min_value=250, max_value=2000))
def test_f61_a_text_that_fits_is_one_piece(text: str, limit: int) -> None:
    """Nothing is split without need."""
    pieces = split(text, limit=limit)

    if units(text) <= limit:
        assert len(pieces) <= 1


def test_f62_a_code_block_behind_long_prose_stays_whole_with_its_language() -> None:
    """1,900 characters, a block of 600, a list: the block moves to the second piece as it is."""
    prose = ("word " * 380).strip()
    code = "```python\n" + "\n".join(f"step_{number} = {number}" for number in range(40)) + "\n```"
    listed = "\n".join(f"- item {number}" for number in range(5))

    pieces = split(f"{prose}\n\n{code}\n\n{listed}", limit=2000)

    assert pieces == (prose, f"{code}\n\n{listed}")


def test_f62_a_code_block_longer_than_a_message_is_opened_again_with_its_language() -> None:
    """Every piece is a code block of its own, and the lines are all there."""
    lines = [f"line_{number:04d} = '{'x' * 30}'" for number in range(150)]

    pieces = split("```python\n" + "\n".join(lines) + "\n```", limit=2000)

    assert len(pieces) == 4
    assert all(piece.startswith("```python\n") and piece.endswith("\n```") for piece in pieces)
    assert [line for piece in pieces for line in piece.split("\n")[1:-1]] == lines


def test_f62_a_code_block_without_an_end_gets_one() -> None:
    """A writer that was cut off must not turn the rest of the message into code."""
    pieces = split("text\n\n```\ncode", limit=2000)

    assert pieces == ("text\n\n```\ncode\n```",)


def test_f62_a_list_moves_whole_to_the_next_message() -> None:
    """A list that fits into a message is not cut between its items."""
    prose = "p" * 1900
    listed = "\n".join(f"- item {number} of the list" for number in range(10))

    assert split(f"{prose}\n\n{listed}", limit=2000) == (prose, listed)


def test_f62_a_list_longer_than_a_message_is_cut_between_its_items() -> None:
    """An item keeps its lines together."""
    items = [f"- item {number}\n  more of it {'y' * 80}" for number in range(40)]

    pieces = split("\n".join(items), limit=2000)

    assert [item for piece in pieces for item in re.split(r"\n(?=- )", piece)] == items


def test_f61_a_spoiler_is_not_cut() -> None:
    """It moves to the next piece; one longer than a piece is hidden in both."""
    hidden = f"||{'secret ' * 30}||".replace(" ||", "||")

    pieces = split(f"{'word ' * 380}{hidden}", limit=2000)
    long = split(f"||{'hidden ' * 500}end||", limit=2000)

    assert any(hidden in piece for piece in pieces)
    assert len(long) == 2
    assert all(piece.startswith("||") and piece.endswith("||") for piece in long)


def test_f61_no_emoji_is_cut_in_two() -> None:
    """Emoji made of several characters stay together."""
    family = "👨\u200d👩\u200d👧"

    pieces = split(family * 400, limit=1000)

    assert "".join(pieces) == family * 400
    assert all(piece.startswith("👨") and piece.endswith("👧") for piece in pieces)


def _letters(text: str) -> str:
    """Without white space and without the marks that are repeated at a cut."""
    without_fences = re.sub(r"^```[\w+#.-]*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s|\|\||^> ?", "", re.sub(r"^> ", "", without_fences, flags=re.MULTILINE))
