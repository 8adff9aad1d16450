"""Text in pictures and scans, recognised by the program ``tesseract`` where it is installed."""

import asyncio
import json
import shutil
from base64 import b64decode
from collections.abc import Collection
from dataclasses import asdict

from adapters.extractors.children import ENVIRONMENT, run_child, time_for_one_file
from adapters.extractors.limited import arguments
from adapters.extractors.limits import FileLimits
from core.domain.files import FileContent
from core.errors import ConfigurationError, UnreadableError

PROGRAM = "tesseract"
VERSION = "1"
"""Raised with every change that reads the same picture differently."""

_PDF = b"%PDF-"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"RIFF")
# One thread for each picture: the machine has other things to do.
_ENVIRONMENT = {**ENVIRONMENT, "OMP_THREAD_LIMIT": "1"}


class TesseractOcr:
    """An `Ocr`: pictures as they are, PDFs by the pictures on their pages.

    ``languages`` are tesseract's names, such as ``eng+deu``. Every picture is read by a process of its own,
    with limits of memory and time, and without our environment.
    """

    def __init__(self, languages: str, limits: FileLimits | None = None) -> None:
        self._languages = languages
        self._limits = limits or FileLimits()
        self._slot = asyncio.Semaphore(1)

    @property
    def version(self) -> str:
        """As `Ocr.version`."""
        return f"{PROGRAM}-{VERSION}/{self._languages}"

    async def read(self, content: FileContent, *, name: str, but: Collection[int] = ()) -> tuple[str, ...]:
        """As `Ocr.read`.

        Raises:
            ConfigurationError: tesseract, one of the languages, or a library is not installed.
        """
        del name
        if len(content.data) > self._limits.size:
            raise UnreadableError(f"is larger than {self._limits.size} bytes")
        async with self._slot, time_for_one_file(self._limits.seconds):
            if content.data.startswith(_PDF):
                pages = await self._pages(content.data, but)
                return tuple([await self._page(pictures) for pictures in pages])
            if not content.data.startswith(_PICTURES):
                raise UnreadableError("is no picture that can be read")
            return (await self._recognise(content.data),)

    async def languages_installed(self) -> frozenset[str]:
        """What ``NOTION_OCR`` may name on this machine.

        Raises:
            ConfigurationError: tesseract is not installed.
            UnavailableError: it cannot be started.
        """
        async with time_for_one_file(self._limits.seconds):
            _, output, _ = await _run(self._limits, _program(), "--list-langs")
        return frozenset(line.strip() for line in output.decode("utf-8", "replace").splitlines()[1:])

    async def _page(self, pictures: list[str]) -> str:
        return "\n\n".join([await self._recognise(b64decode(one)) for one in pictures]).strip()

    async def _recognise(self, picture: bytes) -> str:
        code, output, said = await _run(
            self._limits, _program(), "stdin", "stdout", "-l", self._languages, data=picture
        )
        if code == 0:
            return output.decode("utf-8", "replace").replace("\f", "").strip()
        reason = said.decode("utf-8", "replace")
        if "loading language" in reason or "opening data file" in reason:
            raise ConfigurationError(
                f"NOTION_OCR: tesseract lacks a language of {self._languages!r}; "
                f"{PROGRAM} --list-langs shows what is installed"
            )
        raise UnreadableError("is a picture that tesseract cannot read")

    async def _pages(self, data: bytes, but: Collection[int]) -> list[list[str]]:
        command = ("-P", "-m", "adapters.extractors.scans", json.dumps(asdict(self._limits)))
        _, output, _ = await _start(*command, json.dumps(sorted(but)), data=data)
        try:
            answer = json.loads(output)
            if "missing" in answer:
                raise ConfigurationError(
                    f"reading scans needs {answer['missing']}: pip install 'footnote-bot[attachments]'"
                )
            if "error" in answer:
                raise UnreadableError(str(answer["error"]))
            return [[str(one) for one in page] for page in answer["pages"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableError("broke the process that read it") from error


def _program() -> str:
    found = shutil.which(PROGRAM)
    if found is None:
        raise ConfigurationError(
            "NOTION_OCR is set, and the program tesseract is not installed: "
            "apt-get install tesseract-ocr, or brew install tesseract"
        )
    return found


async def _run(limits: FileLimits, program: str, *rest: str, data: bytes = b"") -> tuple[int, bytes, bytes]:
    return await _start(*arguments(limits.memory, limits.seconds, program, *rest), data=data)


async def _start(*command: str, data: bytes) -> tuple[int, bytes, bytes]:
    return await run_child(*command, data=data, stderr=asyncio.subprocess.PIPE, environment=_ENVIRONMENT)
