"""Files that hang on pages."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.ids import BlockId


class AttachmentKind(StrEnum):
    """What can be done with a file."""

    DOCUMENT = "document"
    """Holds text, such as a PDF or a table."""
    IMAGE = "image"
    """Holds text only for whoever can recognise it in a picture."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that a block of a page shows or links to; without ``block_id`` one of the page's properties.

    ``key`` stays the same as long as the file does, and holds nothing secret. ``is_external`` files lie
    outside of the source's own storage. ``address`` may be signed: it is for one download, never stored,
    shown or logged (NOT-13, F19).
    """

    block_id: BlockId | None
    name: str
    key: str
    kind: AttachmentKind = AttachmentKind.DOCUMENT
    is_external: bool = False
    address: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was downloaded. What the server calls it is not kept: it may be wrong."""

    data: bytes


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of the files of a page.

    ``read`` were downloaded, ``reused`` were known. ``left_out`` ones will never be read as they are, or not
    in full; ``postponed`` ones are worth another try. Both are sentences that name the file.
    """

    read: int = 0
    reused: int = 0
    left_out: tuple[str, ...] = ()
    postponed: tuple[str, ...] = ()


NO_FILES = FileReport()
