"""Where a unix socket can live: its path may have 107 bytes, data folders are often longer."""

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

from core.errors import ConfigurationError

MAX_SOCKET_PATH = 103
"""Bytes; the smaller of Linux's 107 and macOS's 103, without the closing zero."""

_PLAIN = re.compile(r"[A-Za-z0-9/._-]+")
"""PostgreSQL splits a list of socket folders at commas; other signs would need escaping in URLs."""


def socket_folder(beside: Path, *, longest_name: str, owner: int) -> Path:
    """Where sockets of the user ``owner`` go, the same for the same data folder; nothing is made yet.

    It is ``beside`` itself where its path is short and plain enough, else a short one in the temporary
    folder.
    """
    if _fits(beside, longest_name):
        return beside
    digest = hashlib.sha256(os.fsencode(beside)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"footnote-{owner}-{digest}"


def make_private(folder: Path, *, owner: int) -> None:
    """Make a folder for sockets that only the user ``owner`` (and root) can enter, if there is none.

    Raises:
        ConfigurationError: somebody else has taken the name.
    """
    if not folder.is_symlink() and not folder.exists():
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0 and owner != 0:
            os.chown(folder, owner, -1)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o022:
        raise ConfigurationError(
            f"{folder} is needed for the sockets of the embedded servers, but it is not a private folder of "
            "this user: remove it, or set FOOTNOTE_HOME to a shorter path"
        )


def _fits(folder: Path, longest_name: str) -> bool:
    path = str(folder / longest_name)
    return _PLAIN.fullmatch(path) is not None and len(os.fsencode(path)) <= MAX_SOCKET_PATH
