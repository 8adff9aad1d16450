"""What attached files need of the world: somebody who has them, and somebody who can read them."""

from collections.abc import Collection
from typing import Protocol, runtime_checkable

from core.domain.attachments import Extracted
from core.domain.documents import PageRef
from core.domain.files import Attachment, FileContent


@runtime_checkable
class AttachmentSource(Protocol):
    """A source whose pages carry files."""

    async def download(self, attachment: Attachment, ref: PageRef) -> FileContent:
        """The file; an address that expired is asked for anew.

        Raises:
            UnreadableError: too large, not allowed to be fetched, or refused for good.
            TemporaryError: worth another try.
            NotFoundError: the block or the file is gone.
        """


class Extractor(Protocol):
    """Reads files. A hostile or broken one costs bounded time and memory and fails alone."""

    @property
    def version(self) -> str:
        """Changes whenever the same file would be read differently."""

    def can_read(self, name: str) -> bool:
        """Whether a file of this name is worth a download."""

    async def extract(self, content: FileContent, *, name: str) -> Extracted:
        """What can be read of the file.

        Raises:
            UnreadableError: broken, protected, of another kind than its name says, or beyond the limits.
            TemporaryError: no process could be started to read it.
        """


class Ocr(Protocol):
    """Recognises text in pictures and scans."""

    @property
    def version(self) -> str:
        """Changes whenever the same picture would be read differently."""

    async def read(self, content: FileContent, *, name: str, but: Collection[int] = ()) -> tuple[str, ...]:
        """The text of each page of a scan, or of the one picture; empty for the pages ``but``, from 1 on.

        Raises:
            UnreadableError, TemporaryError: as `Extractor.extract`.
        """
