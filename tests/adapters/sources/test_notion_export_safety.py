"""Exports that must not be read are refused with one clear sentence."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.sources import export_files
from adapters.sources.notion_export import NotionExport
from core.errors import InvalidInputError
from tests.adapters.sources.export_builders import hex_id, open_files, page, written, zipped

PAGE = f"A {hex_id(1)}.md"


def with_entry(entry: zipfile.ZipInfo, content: bytes = b"# A") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(PAGE, "# A")
        archive.writestr(entry, content)
    return buffer.getvalue()


def a_symlink() -> bytes:
    entry = zipfile.ZipInfo(f"B {hex_id(2)}.md")
    entry.external_attr = 0o120777 << 16
    return with_entry(entry, b"/etc/passwd")


def encrypted() -> bytes:
    content = bytearray(zipped({PAGE: "# A"}))
    central = content.find(b"PK\x01\x02")
    content[6] |= 1
    content[central + 8] |= 1
    return bytes(content)


def a_bomb() -> bytes:
    return zipped({PAGE: b"\0" * (40 * 2**20)})


def a_bomb_inside() -> bytes:
    return zipped({"ExportBlock-1-Part-1.zip": a_bomb()})


def a_bomb_of_a_part() -> bytes:
    return zipped({"ExportBlock-1-Part-1.zip": b"PK" + b"\0" * (40 * 2**20)})


def nested(levels: int) -> bytes:
    content = zipped({PAGE: "# A"})
    for _ in range(levels):
        content = zipped({"Export-1.zip": content})
    return content


def with_a_huge_directory() -> bytes:
    content = bytearray(zipped({PAGE: "# A"}) + b"\0" * 22)
    end = content.rfind(b"PK\x05\x06")
    struct.pack_into("<L", content, end + 12, 0xFFFFFFFF)
    return bytes(content)


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "not a zip": (lambda: b"# just text", "no zip file"),
    "empty": (lambda: b"", "no zip file"),
    "cut off": (lambda: zipped({PAGE: "# A" * 1000})[:-40], "no zip file"),
    "no pages": (lambda: zipped({"photo.png": b"x"}), "no Notion pages"),
    "no ids": (lambda: zipped({"README.md": "# Hello"}), "no Notion pages"),
    "an HTML export": (lambda: zipped({f"A {hex_id(1)}.html": "<h1>A</h1>"}), "Markdown & CSV"),
    "traversal": (lambda: zipped({PAGE: "# A", f"../../B {hex_id(2)}.md": "# B"}), "outside"),
    "traversal in a folder": (lambda: zipped({PAGE: "# A", f"x/../../B {hex_id(2)}.md": "# B"}), "outside"),
    "traversal on Windows": (lambda: zipped({PAGE: "# A", f"..\\B {hex_id(2)}.md": "# B"}), "outside"),
    "an absolute path": (lambda: zipped({PAGE: "# A", f"/srv/B {hex_id(2)}.md": "# B"}), "outside"),
    "a drive": (lambda: zipped({PAGE: "# A", f"C:\\B {hex_id(2)}.md": "# B"}), "outside"),
    "traversal by an attachment": (lambda: zipped({PAGE: "# A", "../x.png": b"x"}), "outside"),
    "a symlink": (a_symlink, "symbolic links"),
    "encrypted": (encrypted, "encrypted"),
    "a bomb": (a_bomb, "absurd size"),
    "a bomb in a part": (a_bomb_inside, "absurd size"),
    "a part that is a bomb": (a_bomb_of_a_part, "absurd size"),
    "nested zips": (lambda: nested(5), "zips inside zips"),
    "nested folders": (lambda: zipped({"/".join("x" * 300) + f"/A {hex_id(1)}.md": "# A"}), "nested"),
    "a broken part": (lambda: zipped({"ExportBlock-1-Part-1.zip": b"PK broken"}), "no zip file"),
    "a huge directory": (with_a_huge_directory, "no zip file|more than"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_export_that_must_not_be_read_is_refused(tmp_path: Path, case: str) -> None:
    """The message names the file, says why and what to do, on one line."""
    build, reason = REFUSED[case]

    with pytest.raises(InvalidInputError, match=reason) as refused:
        NotionExport(written(tmp_path, build()))

    message = str(refused.value)
    assert "export.zip" in message
    assert "Markdown & CSV" in message
    assert "\n" not in message


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(InvalidInputError, match="there is no export at"):
        NotionExport(tmp_path / "nowhere.zip")


def test_a_folder_with_symlinks_is_refused(tmp_path: Path) -> None:
    """Whatever they point at."""
    written(tmp_path, b"# A", PAGE)
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(InvalidInputError, match="symbolic links"):
        NotionExport(tmp_path)


def test_a_folder_with_a_broken_part_is_refused(tmp_path: Path) -> None:
    """The part inside is checked like the download itself."""
    written(tmp_path, b"no zip", "ExportBlock-1-Part-1.zip")

    with pytest.raises(InvalidInputError, match="no zip file"):
        NotionExport(tmp_path)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_ENTRIES", 3, "files"),
        ("MAX_TEXT_BYTES", 100, "MiB"),
        ("MAX_ALL_TEXT_BYTES", 200, "GiB"),
        ("MAX_DIRECTORY_BYTES", 50, "files"),
    ],
)
def test_every_limit_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    """Lowered for the test, since real ones take gigabytes to reach."""
    monkeypatch.setattr(export_files, limit, value)
    content = zipped(
        {f"{number} {hex_id(number)}.md": "x" * 90 for number in range(1, 5)} | {PAGE: "x" * 120}
    )

    with pytest.raises(InvalidInputError, match=reason):
        NotionExport(written(tmp_path, content))


def test_nothing_stays_open_when_an_export_is_refused(tmp_path: Path) -> None:
    """Neither the download nor the copies of its parts."""
    before = open_files()

    with pytest.raises(InvalidInputError):
        NotionExport(written(tmp_path, nested(5)))

    assert open_files() == before


async def test_a_damaged_page_is_refused_when_it_is_read(tmp_path: Path) -> None:
    """With the same clear sentence."""
    content = bytearray(zipped({PAGE: "# A\n\n" + "text " * 200}))
    at = content.find(PAGE.encode()) + len(PAGE) + 10
    content[at] ^= 0xFF

    with (
        NotionExport(written(tmp_path, bytes(content))) as export,
        pytest.raises(InvalidInputError, match="damaged"),
    ):
        await page(export, 1)


@pytest.mark.parametrize(("suffix", "format_name"), [("html", "HTML"), ("pdf", "PDF")])
@pytest.mark.parametrize("is_unpacked", [False, True])
def test_an_export_of_another_format_is_named(
    tmp_path: Path, suffix: str, format_name: str, is_unpacked: bool
) -> None:
    """Whoever chose HTML or PDF in Notion is told to choose Markdown & CSV."""
    name = f"Page {hex_id(1)}.{suffix}"
    path = written(tmp_path, zipped({name: "x"})) if not is_unpacked else tmp_path / "export"
    if is_unpacked:
        path.mkdir()
        (path / name).write_text("x")

    with pytest.raises(InvalidInputError, match=f"was exported as {format_name}: .*Markdown & CSV"):
        NotionExport(path)
