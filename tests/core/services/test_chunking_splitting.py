"""Sentences, code and tables: where what is too long is divided."""

from typing import Any

import pytest

from core.domain.documents import Block, BlockKind
from core.services.splitting import cut_point, sentences
from tests.core.services.chunking_builders import bodies, chunks_of, heading, item, own_text, text


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("Version 1.2 is out. Use e.g. pip.", ["Version 1.2 is out.", "Use e.g. pip."]),
        ("See Dr. Smith at 3 p.m. on Monday. Bring it.", ["See Dr. Smith at 3 p.m. on Monday.", "Bring it."]),
        (
            "Das kostet z. B. 3,50 Euro. Am 3. Oktober ist frei.",
            ["Das kostet z. B. 3,50 Euro.", "Am 3. Oktober ist frei."],
        ),
        ("Siehe Abs. 2 Nr. 4. Danach bzw. davor.", ["Siehe Abs. 2 Nr. 4.", "Danach bzw. davor."]),
        ("Он пришёл, т. е. приехал. А потом ушёл!", ["Он пришёл, т. е. приехал.", "А потом ушёл!"]),
        (
            "Open https://a.example/x.html?y=1. Then wait.",
            ["Open https://a.example/x.html?y=1.", "Then wait."],
        ),
        ("这是第一句。这是第二句！真的吗？", ["这是第一句。", "这是第二句！", "真的吗？"]),
        ("これは文です。次の文。", ["これは文です。", "次の文。"]),
        ("यह पहला वाक्य है। यह दूसरा है।", ["यह पहला वाक्य है।", "यह दूसरा है।"]),
        ("هل هذا سؤال؟ نعم.", ["هل هذا سؤال؟", "نعم."]),
        ("no end", ["no end"]),
    ],
)
def test_k22_sentences_end_where_a_reader_ends_them(prose: str, expected: list[str]) -> None:
    """Not inside versions, abbreviations, dates or links, in any language."""
    assert [sentence for sentence, _ in sentences(prose)] == expected


def test_k22_chunks_are_cut_between_sentences() -> None:
    """Neither "1.2" nor "e.g." is divided."""
    chunks = chunks_of(text("Version 1.2 is out. Use e.g. pip."), size=25, overlap=0)

    assert bodies(chunks) == ["Version 1.2 is out.", "Use e.g. pip."]


def test_sentences_put_together_are_the_text() -> None:
    """Also where a text is longer than what is looked at together, with an end in every window."""
    prose = ("Ein Satz mit z. B. einer Abkürzung. 还有一句。And\n\nmore!  " * 400).strip()

    assert "".join(sentence + blanks for sentence, blanks in sentences(prose)) == prose
    assert len(sentences(prose)) > 800


def test_f38_text_without_blanks_is_cut_at_sentence_ends() -> None:
    """20,000 Chinese characters: within the limit, cut at full-width stops, nothing lost."""
    prose = "".join(f"这是第{number:04}个句子，它没有空格。" for number in range(1250))

    chunks = chunks_of(text(prose, "b1"), max_input_tokens=512)

    assert "".join(map(own_text, chunks)) == prose
    assert all(chunk.body.endswith("。") for chunk in chunks)
    assert all(chunk.body.startswith("这是第") or chunk.body.startswith("它没有") for chunk in chunks)
    assert max(len(chunk.body) for chunk in chunks) <= 510


def test_f39_a_paragraph_of_100000_characters_is_covered_to_its_end() -> None:
    """The marker behind 16,667 words is in the last chunk."""
    chunks = chunks_of(text("lorem " * 16_667 + "marker"))

    assert max(len(chunk.body) for chunk in chunks) <= 600
    assert chunks[-1].body.endswith("lorem marker")
    assert sum(own_text(chunk).count("lorem") for chunk in chunks) == 16_667


def test_words_are_cut_at_blanks_and_lines_at_their_ends() -> None:
    """A line break is the better place, then a blank."""
    assert cut_point("one two\nthree four five", 15) == len("one two\n")
    assert cut_point("one two three four", 15) == len("one two three ")
    assert cut_point("onetwothreefour", 7) == 7
    assert cut_point("short", 40) == 5
    assert cut_point("\U0001f469\u200d\U0001f469\u200d\U0001f467x", 1) == 1


def code(language: str, *lines: str) -> Block:
    return Block(BlockKind.CODE, "\n".join([f"```{language}", *lines, "```"]))


def test_u18_indentation_in_code_is_kept() -> None:
    """Line by line as the page has it."""
    (chunk,) = chunks_of(code("python", "def a():", "    if x:", "        return 1", "", "    return 2"))

    assert chunk.body == "```python\ndef a():\n    if x:\n        return 1\n\n    return 2\n```"


def test_each_piece_of_a_long_code_block_has_its_own_fences() -> None:
    """Same language, whole lines, every line once and in order."""
    lines = [f"    value_{number} = compute({number})  # step" for number in range(60)]

    chunks = chunks_of(text("Before."), code("python", *lines), text("Behind."))

    pieces = (
        "\n".join(bodies(chunks)).removeprefix("Before.\n").removesuffix("\nBehind.").split("```python\n")[1:]
    )
    assert len(pieces) > 3
    assert all(piece.rstrip().endswith("```") for piece in pieces)
    assert [line for piece in pieces for line in piece.split("\n") if line.startswith("    ")] == lines
    assert all(chunk.overlap == 0 for chunk in chunks)
    assert max(map(len, bodies(chunks))) <= 600


def test_a_line_of_code_that_no_chunk_can_hold_is_cut_without_loss() -> None:
    """Its parts put together are the line."""
    line = "x" * 1500 + " = " + "y" * 700

    chunks = chunks_of(code("", line))

    assert "".join(body.removeprefix("```\n").removesuffix("\n```") for body in bodies(chunks)) == line
    assert max(map(len, bodies(chunks))) <= 600


def test_code_keeps_a_longer_fence_in_every_piece() -> None:
    """A fence inside the code does not end it."""
    block = Block(
        BlockKind.CODE, "\n".join(["````md", *["```", "text of an inner block", "```"] * 40, "````"])
    )

    for body in bodies(chunks_of(block)):
        assert body.startswith("````md\n")
        assert body.endswith("\n````")
        assert body.count("````") == 2


def test_code_inside_a_list_item_is_indented_as_a_whole() -> None:
    """It stays part of the item."""
    (chunk,) = chunks_of(item("- Run:", code("sh", "make", "", "make test")))

    assert chunk.body == "- Run:\n  ```sh\n  make\n\n  make test\n  ```"


HEADER = "| Name | Phone | Room |\n| --- | --- | --- |"


def table(*rows: str, header: str = HEADER) -> Block:
    return Block(BlockKind.TABLE, "\n".join([header, *rows]))


@pytest.mark.parametrize("settings", [{"size": 500, "unit": "tokens"}, {"size": 600}, {"size": 200}])
def test_f37_every_piece_of_a_table_has_its_header(settings: dict[str, Any]) -> None:
    """No row is cut, each row is in exactly one piece."""
    rows = [f"| Name {number} | +49 30 {number:05} | {number % 40} |" for number in range(400)]

    chunks = chunks_of(table(*rows), **settings)

    assert len(chunks) > 1
    assert all(body.startswith(HEADER + "\n") for body in bodies(chunks))
    assert [line for body in bodies(chunks) for line in body.split("\n")[2:]] == rows


def test_f37_a_row_longer_than_a_chunk_is_cut_under_the_header() -> None:
    """All its words are found, each piece with the column names."""
    words = [f"word{number}" for number in range(200)]

    chunks = chunks_of(table("| a | b | c |", f"| {' '.join(words)} | x | y |"))

    assert all(body.startswith(HEADER + "\n") for body in bodies(chunks))
    found = " ".join(body.removeprefix(HEADER) for body in bodies(chunks)).replace("|", " ").split()
    assert found == ["a", "b", "c", *words, "x", "y"]
    assert max(map(len, bodies(chunks))) <= 600


def test_f37_a_header_longer_than_a_chunk_is_not_repeated() -> None:
    """Then the table is text like any other."""
    header = "| " + " | ".join(f"column{number}" for number in range(100)) + " |\n" + "| --- " * 100 + "|"

    chunks = chunks_of(table(*["| cell " * 100 + "|"] * 3, header=header))

    assert max(map(len, bodies(chunks))) <= 600
    assert sum(own_text(chunk).count("cell") for chunk in chunks) == 300


def test_a_table_without_header_is_cut_between_rows() -> None:
    """Nothing is repeated that is no header."""
    rows = [f"| just | row {number} |" for number in range(100)]

    chunks = chunks_of(Block(BlockKind.TABLE, "\n".join(rows)))

    assert "\n".join(bodies(chunks)).split("\n") == rows


def test_prose_around_a_table_stays_in_order() -> None:
    """Before, table, behind."""
    chunks = chunks_of(heading(1, "T"), text("Before."), table(*["| a | b | c |"] * 60), text("Behind."))

    joined = "\n".join(bodies(chunks))
    assert joined.startswith("Before.\n| Name |") or joined.startswith("Before.\n" + HEADER)
    assert joined.endswith("| a | b | c |\nBehind.")
    assert joined.count("| a | b | c |") == 60


def test_repetition_never_begins_inside_a_character() -> None:
    """The start of a chunk is as whole as its end, in syllables of three parts and families of five."""
    for character in ("\u1112\u1161\u11ab", "👩‍👩‍👧", "नि"):
        chunks = chunks_of(text(("xxxxxx" + character) * 300), size=101, overlap=20)

        assert len(chunks) > 3
        assert all(set(body.replace(character, "")) == {"x"} for body in bodies(chunks))


def test_endless_accents_are_cut_all_the_same() -> None:
    """A letter with 5,000 accents is no character, and every one of them is kept."""
    chunks = chunks_of(text("a" + "\u0301" * 5000))

    assert "".join(map(own_text, chunks)) == "a" + "\u0301" * 5000
    assert max(map(len, bodies(chunks))) <= 600
