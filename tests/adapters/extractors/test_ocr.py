"""Text in pictures and scans, against a stand-in of tesseract that is as strict as the program.

It takes the same arguments, refuses what is no picture and languages that are not installed, and reads what
its pictures hold: letters as the bits of their first line.
"""

import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from adapters.extractors.limits import FileLimits
from adapters.extractors.ocr import TesseractOcr
from core.domain.files import FileContent
from core.errors import ConfigurationError, UnreadableError
from tests.adapters.extractors import files

STAND_IN = f"""#!{sys.executable}
import io, os, sys, time
installed = ["deu", "eng", "osd"]
arguments = sys.argv[1:]
if arguments == ["--list-langs"]:
    print('List of available languages in "/usr/share/tessdata/" (3):', *installed, sep="\\n")
    sys.exit()
if arguments[:3] != ["stdin", "stdout", "-l"] or len(arguments) != 4:
    sys.exit("Usage: tesseract imagename outputbase [-l LANG]")
for language in arguments[3].split("+"):
    if language not in installed:
        sys.stderr.write(f"Error opening data file /usr/share/tessdata/{{language}}.traineddata\\n"
                         f"Failed loading language '{{language}}'\\n")
        sys.exit(1)
if set(os.environ) - {{"PYTHONPATH", "LC_ALL", "LC_CTYPE", "OMP_THREAD_LIMIT"}}:
    sys.exit("told of variables that are none of its business")
from PIL import Image
try:
    image = Image.open(io.BytesIO(sys.stdin.buffer.read())).convert("L")
except Exception:
    sys.stderr.write("Error in pixReadMem: Unknown format: no pix returned\\nError during processing.\\n")
    sys.exit(1)
line = [image.getpixel((x, 0)) > 127 for x in range(image.width)]
letters = bytes(sum(line[8 * n + bit] << bit for bit in range(8)) for n in range(len(line) // 8))
text = letters.split(b"\\0")[0].decode()
if text == "slow":
    time.sleep(60)
print(text + "\\n\\f", end="")
"""


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in is the only tesseract on the path."""
    program = tmp_path / "tesseract"
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NOTION_TOKEN", "secret")
    return program


def picture(text: str) -> Image.Image:
    """A picture that says this to the stand-in."""
    image = Image.new("1", (800, 120), 0)
    for place, letter in enumerate(text.encode()):
        for bit in range(8):
            image.putpixel((8 * place + bit, 0), 255 * (letter >> bit & 1))
    return image


def saved(image: Image.Image, kind: str) -> bytes:
    """The picture as a file."""
    buffer = BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def scan(*pages: str) -> bytes:
    """A PDF of pictures."""
    buffer = BytesIO()
    first, *rest = map(picture, pages)
    first.save(buffer, "PDF", save_all=True, append_images=rest)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF"])
@pytest.mark.usefixtures("tesseract")
async def test_a_picture_is_recognised(kind: str) -> None:
    """Whatever its format; the program is told nothing of our settings."""
    data = saved(picture("Launch in June"), kind)

    assert await TesseractOcr("eng+deu").read(FileContent(data), name="board") == ("Launch in June",)


@pytest.mark.usefixtures("tesseract")
async def test_a_scan_is_recognised_page_by_page() -> None:
    """Pages that were read otherwise are passed over."""
    content = FileContent(scan("First page", "Second page", "Third page"))

    assert await TesseractOcr("eng").read(content, name="scan.pdf") == (
        "First page",
        "Second page",
        "Third page",
    )
    assert await TesseractOcr("eng").read(content, name="scan.pdf", but={2}) == (
        "First page",
        "",
        "Third page",
    )


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize(
    "data",
    [b"<svg></svg>", b"", b"\x89PNG\r\n\x1a\nbroken", b"%PDF-1.7 broken", b"RIFF....WEBP"],
    ids=["svg", "empty", "broken picture", "broken scan", "cut picture"],
)
async def test_what_is_no_picture_fails_alone(data: bytes) -> None:
    """With a sentence, and no trace of the file's content."""
    with pytest.raises(UnreadableError) as caught:
        await TesseractOcr("eng").read(FileContent(data), name="x")

    assert str(caught.value).startswith(("is ", "broke "))


@pytest.mark.usefixtures("tesseract")
async def test_a_picture_that_takes_too_long_or_too_much_is_left_out() -> None:
    """The process is ended, and the next picture is read."""
    quick = TesseractOcr("eng", FileLimits(seconds=3))
    with pytest.raises(UnreadableError, match="longer than 3 seconds"):
        await quick.read(FileContent(saved(picture("slow"), "PNG")), name="x")
    with pytest.raises(UnreadableError, match="larger than 10 bytes"):
        await TesseractOcr("eng", FileLimits(size=10)).read(FileContent(b"x" * 11), name="x")

    patient = TesseractOcr("eng")
    assert await patient.read(FileContent(saved(picture("fine"), "PNG")), name="x") == ("fine",)


@pytest.mark.usefixtures("tesseract")
async def test_a_language_that_is_not_installed_is_named() -> None:
    """That is a matter of the settings, not of the file; `footnote check` asks what there is."""
    with pytest.raises(ConfigurationError, match="lacks a language of 'eng\\+tlh'"):
        await TesseractOcr("eng+tlh").read(FileContent(saved(picture("x"), "PNG")), name="x")

    assert await TesseractOcr("eng").languages_installed() == {"deu", "eng", "osd"}


async def test_without_the_program_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each file, as a reason to try again."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="apt-get install tesseract-ocr"):
        await TesseractOcr("eng").read(FileContent(saved(picture("x"), "PNG")), name="x")


@pytest.mark.usefixtures("tesseract")
async def test_a_pdf_without_pictures_has_pages_without_text() -> None:
    """Nothing is recognised where there is nothing to see."""
    assert await TesseractOcr("eng").read(FileContent(files.pdf([["Words"], []])), name="x.pdf") == ("", "")


def test_other_languages_read_a_picture_anew() -> None:
    """They are part of the key under which a file is known."""
    assert TesseractOcr("eng").version != TesseractOcr("eng+deu").version
