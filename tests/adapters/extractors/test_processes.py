"""Files to text, each in a process of its own."""

import asyncio
from pathlib import Path

import pytest

from adapters.extractors import processes
from adapters.extractors.limits import FileLimits
from adapters.extractors.processes import FileExtractor
from core.domain.attachments import Extracted
from core.domain.documents import BlockKind, walk
from core.domain.files import FileContent
from core.errors import UnreadableError
from tests.adapters.extractors import files


async def read(data: bytes, name: str, limits: FileLimits | None = None) -> Extracted:
    """What the extractor makes of a file."""
    return await FileExtractor(limits).extract(FileContent(data), name=name)


def texts(extracted: Extracted) -> dict[str, list[str]]:
    """The texts of each part by its label."""
    return {
        part.label: [block.text for block, _ in walk(part.blocks) if block.text] for part in extracted.parts
    }


async def test_a_pdf_is_read_page_by_page_without_what_every_page_repeats() -> None:
    """Header, footer and page number are gone, wrapped lines joined, the rest stands under its page."""
    pages = [
        [
            "ACME Handbook - internal",
            f"No. {number}, {name}",
            f"Chapter {name} explains in a long line how the holi-",
            "days are counted for everybody who works here.",
            f"This is all of {name}.",
            f"Page {number} of 4",
        ]
        for number, name in enumerate(("one", "two", "three", "four"), start=1)
    ]

    found = texts(await read(files.pdf(pages), "handbook.pdf"))

    assert list(found) == ["page 1", "page 2", "page 3", "page 4"]
    assert found["page 3"] == [
        "No. 3, three\n"
        "Chapter three explains in a long line how the holidays are counted for everybody who works here. "
        "This is all of three."
    ]


async def test_a_word_file_keeps_headings_lists_and_tables() -> None:
    """Structure becomes blocks."""
    extracted = await read(files.docx(), "policy.docx")

    [part] = extracted.parts
    kinds = [(block.kind, block.level) for block in part.blocks if block.kind is BlockKind.HEADING]
    assert kinds == [(BlockKind.HEADING, 1), (BlockKind.HEADING, 2)]
    found = texts(extracted)[""]
    assert found[:4] == [
        "Travel policy",
        "Book trains before planes.",
        "Hotels",
        "- Up to 120 euros a night.",
    ]
    assert "| Oslo | 180 |" in found[4].splitlines()


async def test_slides_are_read_one_by_one_with_their_notes() -> None:
    """Titles, items, notes and tables."""
    assert texts(await read(files.pptx(), "plan.pptx")) == {
        "slide 1": ["Roadmap", "Ship the widget", "Mention the delay."],
        "slide 2": ["Budget", "| Rent | 4200 |\n| --- | --- |"],
    }


async def test_sheets_are_tables_and_hidden_ones_stay_hidden() -> None:
    """Values as people read them; a bar in a cell does not end it."""
    assert texts(await read(files.xlsx(), "costs.xlsx")) == {
        "sheet Costs": ["| Item | Price |\n| --- | --- |\n| Desk \\| oak | 250 |"],
        "sheet People": ["| Name | yes |\n| --- | --- |"],
    }


async def test_html_gives_its_own_text_without_what_frames_it() -> None:
    """Scripts, navigation and footers are not the document."""
    html = (
        "<html><head><style>p{}</style><script>alert(1)</script></head><body><nav>Home</nav>"
        "<h1>Rules</h1><p>Close the <b>window</b>.</p><ul><li>Lock the door</li></ul>"
        "<footer>Imprint</footer></body></html>"
    )
    assert texts(await read(html.encode(), "rules.html")) == {
        "": ["Rules", "Close the **window**.", "- Lock the door"]
    }


async def test_texts_are_read_in_whatever_encoding_they_come() -> None:
    """UTF-8 with mark, UTF-16, and what older programs write."""
    german = "Der Schlüssel für die Tür hängt über dem Kühlschrank, gleich neben der Küche."
    russian = "Ключ от двери висит над холодильником, рядом с кухней, спросите Анну."
    japanese = "ドアの鍵は冷蔵庫の上に掛かっています。台所のすぐ隣です。"
    for text, encodings in {
        german: ("utf-8-sig", "utf-16", "cp1252"),
        russian: ("utf-8", "cp1251", "koi8-r"),
        japanese: ("shift_jis", "euc_jp"),
    }.items():
        for encoding in encodings:
            assert texts(await read(text.encode(encoding), "n.txt")) == {"": [text]}, encoding


async def test_markdown_loses_its_settings_and_csv_becomes_a_table() -> None:
    """Front matter is no text; semicolons set columns apart as well."""
    assert texts(await read(b"---\ntags: x\n---\n# Title\n\nText.", "n.md")) == {"": ["Title", "Text."]}
    assert texts(await read(b"Name;Desk\nAda;7\nBob;9\n", "n.csv")) == {
        "": ["| Name | Desk |\n| --- | --- |\n| Ada | 7 |\n| Bob | 9 |"]
    }


async def test_a_cell_of_a_csv_may_hold_lines_and_be_long() -> None:
    """Words of two lines stay two words, odd line ends end no row, and size is no fault."""
    lines = 'name,note\nA,"one\ntwo"\nB,three\u2028four\nC,five\x0csix\n'.encode()
    [cells] = texts(await read(lines, "n.csv"))[""]
    assert cells.splitlines()[2:] == ["| A | one two |", "| B | three four |", "| C | five six |"]
    [cells] = texts(await read(b'name,note\nA,"' + b"word " * 40_000 + b'"\nB,end\n', "n.csv"))[""]
    assert cells.count("word") == 40_000
    assert cells.endswith("| B | end |")


async def test_a_pdf_whose_pages_are_all_alike_keeps_its_text() -> None:
    """Where hardly anything is left without headers and footers, there were none."""
    found = texts(await read(files.pdf([[f"Badge {number} of Ada"] for number in range(1, 9)]), "badges.pdf"))
    assert [*found.values()] == [[f"Badge {number} of Ada"] for number in range(1, 9)]


@pytest.mark.parametrize(
    ("kind", "part"),
    [("docx", "word/document.xml"), ("pptx", "ppt/slides/slide1.xml"), ("xlsx", "xl/worksheets/sheet1.xml")],
)
async def test_entities_of_an_office_file_read_no_other_file_and_grow_without_end(
    kind: str, part: str, tmp_path: Path
) -> None:
    """An external entity gives nothing; one that multiplies itself costs bounded time and memory."""
    secret = tmp_path / "secret.txt"
    secret.write_text("launch code 4711", encoding="utf-8")
    external = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    levels = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    laughs = f'<!DOCTYPE x [<!ENTITY e0 "haha haha ">{levels}]>'
    for declared, entity in ((external, "&e;"), (laughs, "&e9;")):
        data = files.with_entity(getattr(files, kind)(), part, declared, entity)
        try:
            shown = str(texts(await read(data, f"a.{kind}")))
        except UnreadableError as error:
            shown = str(error)
        assert "4711" not in shown
        assert len(shown) < 10_000


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (files.encrypted_pdf("x"), "a.pdf", "password"),
        (files.zip_bomb(400_000_000), "a.docx", "unpacks to more than"),
        (files.pdf([["x"]])[:200], "a.pdf", "is broken"),
        (files.docx()[:2000], "a.docx", "is broken"),
        (b"MZ\x90\x00", "a.pdf", "is not the pdf file"),
        (files.pdf([["x"]]), "a.txt", "is not the text file"),
        (files.docx(), "a.xlsx", "is broken"),
        (b"", "a.md", "is empty"),
        (b"\x00\x01\x02\x03" * 500, "a.txt", "no text"),
        (b"x" * 2_000_000, "a.txt", "is larger than"),
    ],
)
async def test_a_hostile_or_broken_file_fails_alone(data: bytes, name: str, reason: str) -> None:
    """Each gives a reason, and none an exception of another kind."""
    limits = FileLimits(size=1_000_000)
    with pytest.raises(UnreadableError, match=reason):
        await read(data, name, limits)


async def test_a_file_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is ended and nothing of it stays."""
    endless = tmp_path / "endless.py"
    endless.write_text("import time\nwhile True: time.sleep(1)\n")
    monkeypatch.setattr(processes, "arguments", lambda _kind, _limits: (str(endless),))
    with pytest.raises(UnreadableError, match="longer than 1 seconds"):
        await read(b"x", "a.txt", FileLimits(seconds=1))
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert tasks == []


async def test_a_file_that_takes_all_memory_fails_alone() -> None:
    """The process may not grow beyond its limit."""
    limits = FileLimits(memory=150_000_000, unpacked=10**12, size=10_000_000)
    with pytest.raises(UnreadableError, match=r"takes more than|broken|broke the process"):
        await read(files.zip_bomb(1_000_000_000), "a.docx", limits)


async def test_what_is_beyond_the_limits_is_left_out_and_said() -> None:
    """Pages and characters."""
    found = await read(files.pdf([["one"], ["two"], ["three"]]), "a.pdf", FileLimits(pages=2))
    assert (list(texts(found)), found.left_out) == (
        ["page 1", "page 2"],
        "only the first 2 of 3 pages were read",
    )
    found = await read(b"abcdefgh", "a.txt", FileLimits(characters=5))
    assert (texts(found), found.left_out) == ({"": ["abcde"]}, "only the first 5 characters were read")


async def test_markup_nested_without_end_still_gives_its_words() -> None:
    """No recursion limit is hit."""
    data = b"<div>" * 5000 + b"deep words" + b"</div>" * 5000
    assert texts(await read(data, "a.html")) == {"": ["deep words"]}


async def test_text_of_a_file_opens_no_structure() -> None:
    """A line of a PDF that looks like a heading or list is text."""
    assert texts(await read(files.pdf([["# no heading", "| no | table |"]]), "a.pdf")) == {
        "page 1": ["\\# no heading | no | table |"]
    }


async def test_what_stands_between_cells_counts_as_text() -> None:
    """A few cells far to the right are no way around the limit."""
    limits = FileLimits(characters=100_000)

    found = await read(files.xlsx_with_far_cells(rows=40, column=16_000), "far.xlsx", limits)

    assert sum(map(len, texts(found)["sheet Sheet"])) < 4 * limits.characters
    assert found.left_out == "only the first 100000 characters were read"
