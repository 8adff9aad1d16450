"""The user PostgreSQL runs as: ourselves, or for root an account without rights (it refuses root)."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigurationError

OWN_ACCOUNT = "footnote-postgres"
"""Made when the machine has no account that is meant for PostgreSQL."""

_KNOWN_ACCOUNTS = (OWN_ACCOUNT, "postgres", "embedded_postgres")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the operating system. ``switch`` tells that commands must be started under this user."""

    name: str
    uid: int
    gid: int
    switch: bool

    def can_enter(self, folder: Path) -> bool:
        """Whether the user may pass through every folder down to ``folder``."""
        return all(self._may_search(step) for step in (folder, *folder.parents) if step.exists())

    def _may_search(self, folder: Path) -> bool:
        found = folder.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & 0o100)
        if found.st_gid == self.gid:
            return bool(found.st_mode & 0o010)
        return bool(found.st_mode & 0o001)


def account_for(cluster: Path) -> Account:
    """Who runs the cluster in this folder: its owner, if it exists.

    Raises:
        ConfigurationError: the folder belongs to somebody else, or root finds no account to switch to.
    """
    me = os.geteuid()
    owner = cluster.stat().st_uid if cluster.exists() else None
    if me != 0:
        if owner not in (None, me):
            raise ConfigurationError(
                f"{cluster} belongs to the user {_name(owner)}, this is {_name(me)}: run Footnote as that "
                "user, or set FOOTNOTE_HOME to another folder"
            )
        return Account(name=_name(me), uid=me, gid=os.getegid(), switch=False)
    entry = pwd.getpwuid(owner) if owner else _unprivileged()
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid, switch=True)


def _unprivileged() -> pwd.struct_passwd:
    for name in _KNOWN_ACCOUNTS:
        if found := _lookup(name):
            return found
    if tool := shutil.which("useradd"):
        command = [tool, "--system", "--no-create-home", "--shell", "/bin/false", OWN_ACCOUNT]
        subprocess.run(command, check=False, capture_output=True, timeout=30)  # noqa: S603 - fixed arguments
    found = _lookup(OWN_ACCOUNT) or _lookup("nobody")
    if found is None:
        raise ConfigurationError(
            "PostgreSQL does not run as root and no other account was found: run Footnote as an ordinary "
            f"user, or add one with `useradd --system {OWN_ACCOUNT}`"
        )
    return found


def _lookup(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid).pw_name if uid is not None else "nobody"
    except KeyError:
        return str(uid)
