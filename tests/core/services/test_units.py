"""What a passage says one by one, and the best part of a long text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.excerpts import best_excerpt, cut, paragraphs_of
from core.services.markdown_text import has_links, inert, plain, segments
from core.services.units import units_of


def texts(body: str) -> list[str]:
    """The Markdown of each unit."""
    return [unit.text for unit in units_of(body)]


def test_prose_is_sentences() -> None:
    """Each line is a paragraph, each paragraph its sentences; abbreviations end none."""
    body = "Version 1.2 is out. Use e.g. pip.\nEin neuer Absatz: z. B. dieser."

    assert texts(body) == ["Version 1.2 is out.", "Use e.g. pip.", "Ein neuer Absatz: z. B. dieser."]


def test_list_items_are_sentences_with_their_introduction() -> None:
    """Markers go; the line that introduces the list goes with each of them."""
    units = units_of("You need:\n- [ ] a badge\n- [x] a laptop\n  with charger")

    assert [unit.text for unit in units] == ["You need: a badge", "You need: a laptop with charger"]
    assert units[0].plain == "You need: a badge"


def test_short_numbered_lists_stay_whole() -> None:
    """Steps are of no use one by one; a long list is taken apart."""
    steps = "1. Stop it.\n2. Start it."
    many = "\n".join(f"{number}. {'word ' * 20}" for number in range(1, 9))

    assert texts(f"To restart:\n{steps}") == [f"To restart:\n\n{steps}"]
    assert len(texts(many)) == 8


def test_table_rows_are_pairs_of_header_and_value() -> None:
    """A row says what its columns are called."""
    body = "| Plan | Price |\n| --- | --- |\n| River | 9 € |\n| Ocean \\| Sea | |"

    assert texts(body) == ["Plan: River; Price: 9 €", "Plan: Ocean | Sea"]


def test_rows_without_their_header_are_values() -> None:
    """A table that was cut in two still says something."""
    assert texts("| River | 9 € |\n| Ocean | 19 € |") == ["River; 9 €", "Ocean; 19 €"]


def test_code_is_quoted_whole_with_its_introduction() -> None:
    """A command is useless without the sentence that says what it does, and never cut."""
    code = "```bash\n# not a heading\nmake up\n\n- not a list\n| not | a table |\n```"
    units = units_of(f"Start everything:\n{code}\nThen wait.")

    assert [unit.text for unit in units] == [
        f"Start everything:\n\n{code}",
        "Then wait.",
    ]
    assert units[0].is_block
    assert units[0].plain == "Start everything: # not a heading make up - not a list | not | a table |"


def test_longer_fences_hold_shorter_ones() -> None:
    """A block of four backticks ends at four backticks."""
    body = "````\n```\ninner\n```\n````\nafter"

    assert texts(body) == ["````\n```\ninner\n```\n````", "after"]


def test_quotes_lose_their_marks() -> None:
    """A callout is a sentence."""
    assert texts("> ⚠️ Do not do that.\n> Ask first.") == ["⚠️ Do not do that.", "Ask first."]


def test_headings_are_no_statements_unless_alone() -> None:
    """A heading is quoted only where the passage has nothing else."""
    assert texts("# Opening hours\nEight to six.") == ["Eight to six."]
    assert texts("# Opening hours") == ["Opening hours"]


def test_a_link_alone_is_no_statement() -> None:
    """A list of child pages leads on; it says nothing, unless there is nothing else."""
    link = r"- 📄 [Remote \[v2\] work](page:0b4d7f5e)"

    assert texts(f"{link}\nSee [this](https://x.example/a) too.") == ["See [this](https://x.example/a) too."]
    assert texts(link) == [r"📄 [Remote \[v2\] work](page:0b4d7f5e)"]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**bold** and `user_id` and *it*", "bold and user_id and it"),
        ("- [ ] open task", "open task"),
        ("2. second", "second"),
        ("[the guide](https://x.example/a)", "the guide"),
        (r"see [Guide \[v2\]](page:0b4d) \# one", "see Guide [v2] # one"),
        ("| a | b |", "a b"),
        ("# Heading\ntext", "Heading text"),
    ],
)
def test_plain_text_has_no_marks(markdown: str, expected: str) -> None:
    """What is embedded and shown as a quote is words; underscores inside names stay."""
    assert plain(markdown) == expected


@given(st.text(alphabet="ab .:|`~-1\n#>[]", max_size=120))
def test_no_word_of_a_passage_is_lost(body: str) -> None:
    """Whatever the lines are, each word of prose or code is in some unit."""
    said = " ".join(unit.text for unit in units_of(body))

    if not any(line.lstrip().startswith(("#", "```", "~~~")) for line in body.splitlines()):
        assert sum(map(said.count, "ab")) >= sum(map(body.count, "ab"))


def test_the_best_paragraph_is_found_and_grown() -> None:
    """The paragraph with most terms, with what fits around it."""
    text = "\n\n".join(["first " * 60, "vacation days are 28", "after", "far " * 150])

    excerpt = best_excerpt(text, ["vacation", "days"], length=300)

    assert excerpt == "vacation days are 28\n\nafter"


def test_an_excerpt_without_hits_is_the_beginning() -> None:
    """A page found by its title alone starts at the top."""
    assert best_excerpt("one\n\ntwo", ["missing"]) == "one\n\ntwo"
    assert best_excerpt("", ["missing"]) == ""


def test_fenced_code_is_one_paragraph() -> None:
    """Blank lines in code part nothing."""
    code = "```\na\n\nb\n```"

    assert paragraphs_of(f"before\n\n{code}\n\nafter") == ("before", code, "after")


def test_a_single_long_paragraph_is_cut_at_a_word() -> None:
    """Only what cannot be shown whole is shortened."""
    assert cut("word " * 200, 100) == "word " * 18 + "word …"
    assert len(cut("x" * 500, 100)) == 100
    assert cut("short", 100) == "short"


@given(st.text(max_size=300), st.lists(st.text(max_size=5), max_size=3))
def test_excerpts_are_never_too_long(text: str, terms: list[str]) -> None:
    """Whatever the text, the excerpt fits."""
    assert len(best_excerpt(text, terms, length=80)) <= 82


@given(st.text(alphabet="a`~ \n>", max_size=80))
def test_segments_join_to_the_text(text: str) -> None:
    """Telling code from prose loses nothing."""
    assert "".join(segment.text for segment in segments(text)) == text


@given(st.text(alphabet="[]()<>!\\`a:/\n x", max_size=60))
def test_inert_text_has_no_links(text: str) -> None:
    """Escaping is enough for a parser to see no link."""
    assert not has_links(inert(text))
