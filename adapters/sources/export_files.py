"""The text files of an export, from a zip (with zips inside) or a folder, without unpacking anything.

An export comes from outside: what could escape the folder, exhaust memory or disk, or hang the reader is
refused as a whole, with one sentence that says why.
"""

import lzma
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

from core.errors import InvalidInputError

MAX_ENTRIES = 500_000
"""Files in one export; the largest workspaces have some hundred thousand."""

MAX_DIRECTORY_BYTES = 128 * 2**20
"""Of a zip's table of contents, which has to be read into memory."""

MAX_TEXT_BYTES = 64 * 2**20
"""Of one page or table; Notion's own limits keep pages far below."""

MAX_ALL_TEXT_BYTES = 8 * 2**30
"""Of all pages and tables together."""

MAX_PART_BYTES = 64 * 2**30
"""Of the zips inside an export; Notion splits large workspaces into parts of a few gigabytes."""

MAX_RATIO = 200
"""Unpacked to packed: text shrinks to a twentieth, tables to a fiftieth; bombs to a thousandth."""

SMALL = 2**20
"""Bytes; below this any ratio is harmless."""

MAX_ZIP_DEPTH = 3
"""Zips inside zips; Notion's exports have one or two levels."""

MAX_FOLDER_DEPTH = 200

TEXT_SUFFIXES = (".md", ".markdown", ".csv")

_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_END_OF_DIRECTORY = b"PK\x05\x06"
_END_SIZE = 22
_LONGEST_COMMENT = 65_535
_DRIVE = re.compile(r"[A-Za-z]:/")
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file of the export; ``path`` is its place in the export, composed Unicode, without drive or dots."""

    path: tuple[str, ...]
    size: int
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path[-1]


_OTHER_FORMATS = {".html": "HTML", ".pdf": "PDF"}


def open_export(path: Path, stack: ExitStack) -> list[ExportFile]:
    """All text files of the export at ``path``, sorted by place; closed with ``stack``.

    Raises:
        InvalidInputError: there is no such file, it is no zip, or it is one that must not be read.
    """
    if not path.exists():
        raise InvalidInputError(f"there is no export at {path}")
    scan = _Scan(stack, path.name)
    if path.is_dir():
        scan.folder(path)
    else:
        scan.zip_file(path)
    if scan.other_format and not scan.files:
        raise InvalidInputError(
            f"{path.name} was exported as {scan.other_format}: in Notion choose Export again, format "
            "Markdown & CSV"
        )
    return sorted(scan.files.values(), key=lambda file: file.path)


class _Scan:
    """Collects the files of an export and counts what they cost."""

    def __init__(self, stack: ExitStack, name: str) -> None:
        self.files: dict[tuple[str, ...], ExportFile] = {}
        self.other_format = ""
        self._stack = stack
        self._name = name
        self._entries = 0
        self._text_bytes = 0
        self._part_bytes = 0

    def folder(self, root: Path) -> None:
        """An export that somebody unpacked, its inner zips perhaps not."""
        for file in _walk(root, self._refuse):
            path = tuple(unicodedata.normalize("NFC", part) for part in file.relative_to(root).parts)
            self._count_entry()
            if _is_part(path):
                self.zip_file(file, depth=2)
            elif _is_text(path):
                self._add(ExportFile(path, file.stat().st_size, file.read_bytes))
            else:
                self._note_format(path)

    def zip_file(self, path: Path, *, depth: int = 1) -> None:
        """An export as it was downloaded, or a part of one."""
        with path.open("rb") as stream:
            _check_directory(stream, self._refuse)
        self._zip(_open_zip(path, self._refuse), depth=depth)

    def _zip(self, archive: zipfile.ZipFile, *, depth: int) -> None:
        self._stack.enter_context(archive)
        if depth > MAX_ZIP_DEPTH:
            raise self._refuse(f"it has zips inside zips, more than {MAX_ZIP_DEPTH} deep")
        entries = [(self._checked_path(entry), entry) for entry in archive.infolist() if not entry.is_dir()]
        has_pages = any(_is_text(path) for path, _ in entries)
        for path, entry in entries:
            if _is_hidden(path):
                continue
            if _is_part(path) or (not has_pages and len(path) == 1 and path[0].lower().endswith(".zip")):
                self._check_ratio(entry)
                self._part_bytes += entry.file_size
                if self._part_bytes > MAX_PART_BYTES:
                    raise self._refuse(f"the zips inside hold more than {MAX_PART_BYTES >> 30} GiB")
                self._zip(self._inner_zip(archive, entry), depth=depth + 1)
            elif _is_text(path):
                self._check_ratio(entry)
                self._add(ExportFile(path, entry.file_size, _reader(archive, entry, self._refuse)))
            else:
                self._note_format(path)

    def _inner_zip(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> zipfile.ZipFile:
        """The zip inside, copied to disk while the export is open; in place it could not be sought in."""
        copy = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 # the stack closes it
        try:
            with archive.open(entry) as stream:
                shutil.copyfileobj(stream, copy, 2**20)
        except _DAMAGED as error:
            raise self._refuse("one of the zips inside is damaged") from error
        _check_directory(copy, self._refuse)
        return _open_zip(copy, self._refuse)

    def _add(self, file: ExportFile) -> None:
        if file.size > MAX_TEXT_BYTES:
            raise self._refuse(f"one of its pages has more than {MAX_TEXT_BYTES >> 20} MiB")
        self._text_bytes += file.size
        if self._text_bytes > MAX_ALL_TEXT_BYTES:
            raise self._refuse(f"its pages have more than {MAX_ALL_TEXT_BYTES >> 30} GiB")
        # Parts may repeat a file; the first is as good as the others.
        self.files.setdefault(file.path, file)

    def _note_format(self, path: tuple[str, ...]) -> None:
        """Notion's other two formats: HTML holds pages as such, PDF one file for each page."""
        suffix = PurePath(path[-1]).suffix.lower()
        self.other_format = _OTHER_FORMATS.get(suffix, self.other_format)

    def _count_entry(self) -> None:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise self._refuse(f"it has more than {MAX_ENTRIES:,} files")

    def _check_ratio(self, entry: zipfile.ZipInfo) -> None:
        if entry.file_size > SMALL and entry.file_size > MAX_RATIO * entry.compress_size:
            raise self._refuse("one of its files unpacks to an absurd size")

    def _checked_path(self, entry: zipfile.ZipInfo) -> tuple[str, ...]:
        self._count_entry()
        if entry.flag_bits & _ENCRYPTED:
            raise self._refuse("it is encrypted; download it without a password")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise self._refuse("it holds symbolic links, which no export of Notion does")
        name = _decoded_name(entry).replace("\\", "/")
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or _DRIVE.match(name) or "\0" in name:
            raise self._refuse("it holds a file that would land outside of its folder")
        if len(path.parts) > MAX_FOLDER_DEPTH:
            raise self._refuse(f"its folders are nested more than {MAX_FOLDER_DEPTH} deep")
        return path.parts or ("",)

    def _refuse(self, why: str) -> InvalidInputError:
        return InvalidInputError(
            f"{self._name} cannot be read as a Notion export: {why}. "
            "In Notion choose Settings, Export all workspace content, format Markdown & CSV"
        )


_Refuse = Callable[[str], InvalidInputError]


def _walk(root: Path, refuse: _Refuse) -> Iterator[Path]:
    folders = [(root, 0)]
    while folders:
        folder, depth = folders.pop()
        if depth > MAX_FOLDER_DEPTH:
            raise refuse(f"its folders are nested more than {MAX_FOLDER_DEPTH} deep")
        for entry in sorted(folder.iterdir()):
            if _is_hidden((entry.name,)):
                continue
            if entry.is_symlink():
                raise refuse("it holds symbolic links, which no export of Notion does")
            if entry.is_dir():
                folders.append((entry, depth + 1))
            elif entry.is_file():
                yield entry


def _is_text(path: tuple[str, ...]) -> bool:
    return path[-1].lower().endswith(TEXT_SUFFIXES)


def _is_hidden(path: tuple[str, ...]) -> bool:
    return path[0] == "__MACOSX" or path[-1].startswith(("._", ".DS_Store"))


def _is_part(path: tuple[str, ...]) -> bool:
    """Whether this is a part of the export rather than somebody's attachment."""
    name = path[-1].lower()
    return len(path) == 1 and name.endswith(".zip") and ("export" in name or "part-" in name)


def _decoded_name(entry: zipfile.ZipInfo) -> str:
    """The name as it was meant: UTF-8 that is not marked as such was read as code page 437."""
    name = entry.filename
    if not entry.flag_bits & _UTF8_NAME:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def _open_zip(file: Path | IO[bytes], refuse: _Refuse) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise refuse("it is no zip file, or a damaged one") from error


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, refuse: _Refuse) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            # Never more than the size that was checked, whatever the compressed data say.
            with archive.open(entry) as stream:
                return stream.read(entry.file_size)
        except _DAMAGED as error:
            raise refuse("one of its files is damaged") from error

    return read


def _check_directory(stream: IO[bytes], refuse: _Refuse) -> None:
    """Refuse a table of contents that is too large, before it is read into memory."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT))
    tail = stream.read()
    at = tail.rfind(_END_OF_DIRECTORY)
    if at < 0 or len(tail) - at < _END_SIZE:
        raise refuse("it is no zip file, or a damaged one")
    (directory_bytes,) = struct.unpack_from("<L", tail, at + 12)
    # A directory beyond 4 GiB is written as all ones here: too large in any case.
    if min(directory_bytes, size) > MAX_DIRECTORY_BYTES:
        raise refuse(f"it has more than {MAX_ENTRIES:,} files")
