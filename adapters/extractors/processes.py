"""An `Extractor` that reads each file in a process of its own: it may crash, hang or grow, and we go on."""

import asyncio
import json
from typing import Any

from adapters.extractors.children import run_child, time_for_one_file
from adapters.extractors.kinds import FileKind, kind_by_name
from adapters.extractors.limits import FileLimits
from adapters.extractors.worker import arguments
from adapters.markup.tree_json import blocks_of
from core.domain.attachments import Extracted, ExtractedPart
from core.domain.files import FileContent
from core.errors import ConfigurationError, UnreadableError

VERSION = "3"
"""Raised with every change that reads the same file differently."""

AT_ONCE = 2
"""Files read side by side."""


class FileExtractor:
    """Reads PDF, Word, PowerPoint, Excel, HTML, Markdown, CSV and plain text.

    The process is given the file and nothing else: no variable of ours, no connection.
    """

    def __init__(self, limits: FileLimits | None = None) -> None:
        self._limits = limits or FileLimits()
        self._slots = asyncio.Semaphore(AT_ONCE)

    @property
    def version(self) -> str:
        """As `Extractor.version`; other limits read a file differently."""
        return f"{VERSION}/{self._limits.pages}/{self._limits.characters}"

    def can_read(self, name: str) -> bool:
        """As `Extractor.can_read`."""
        return kind_by_name(name) is not None

    async def extract(self, content: FileContent, *, name: str) -> Extracted:
        """As `Extractor.extract`.

        Raises:
            ConfigurationError: the libraries for this kind are not installed.
        """
        kind = kind_by_name(name)
        if kind is None:
            raise UnreadableError("is of a kind that cannot be read")
        async with self._slots:
            output = await self._run(content.data, kind)
        answer: dict[str, Any] = _parsed(output)
        if "missing" in answer:
            raise ConfigurationError(
                f"reading {kind} files needs {answer['missing']}: pip install 'footnote-bot[attachments]'"
            )
        if "error" in answer:
            raise UnreadableError(str(answer["error"]))
        parts = tuple(ExtractedPart(label, blocks_of(rows)) for label, rows in answer["parts"])
        return Extracted(parts, str(answer["left_out"]))

    async def _run(self, data: bytes, kind: FileKind) -> bytes:
        async with time_for_one_file(self._limits.seconds):
            _, output, _ = await run_child(*arguments(kind, self._limits), data=data)
        return output


def _parsed(output: bytes) -> dict[str, Any]:
    """The answer of the process; one that died gives none."""
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise UnreadableError("broke the process that read it") from error
    if not isinstance(answer, dict) or not ({"parts", "error", "missing"} & answer.keys()):
        raise UnreadableError("broke the process that read it")
    return answer
