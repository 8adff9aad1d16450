"""The rules in force: read at the start and whenever the file changes, kept when the new ones are wrong."""

import asyncio
import hashlib
from pathlib import Path

import structlog

from bot.scopes.reading import FootnoteFile, read_footnote_file
from core.domain.audiences import Audience
from core.domain.places import Place
from core.errors import ConfigurationError
from core.services.audiences import AudienceRules

log = structlog.get_logger()

LOOK_EVERY = 2.0
"""Seconds between two looks at the file."""

USUAL_NAME = "footnote.toml"
"""Taken from the working folder where FOOTNOTE_CONFIG is not set."""

LARGEST_FILE = 1024 * 1024
"""Bytes; no set of rules comes near it."""

NO_FILE = FootnoteFile(rules=AudienceRules())
"""Without a file chats see nothing; the command line, whose user holds the database, sees everything."""


def config_path(setting: Path | None, *, folder: Path | None = None) -> Path | None:
    """The file to read: the one that is set, else ``footnote.toml`` in the working folder if it exists."""
    if setting is not None:
        return setting
    usual = (folder or Path.cwd()) / USUAL_NAME
    return usual if usual.is_file() else None


class LiveAudiences:
    """`core.ports.chat.Audiences` over the file as it is now."""

    def __init__(self, path: Path | None) -> None:
        """Reads the file.

        Raises:
            ConfigurationError: it is missing or wrong.
        """
        self._path = path
        self._digest = ""
        self._complained = ""
        self._current = NO_FILE
        if path is not None:
            text = _read(path)
            self._current = read_footnote_file(text, name=path.name)
            self._digest = _digest(text)

    @property
    def file(self) -> FootnoteFile:
        """What is in force."""
        return self._current

    @property
    def rules(self) -> AudienceRules:
        """Who may see what, as it is in force."""
        return self._current.rules

    @property
    def is_refused(self) -> bool:
        """Whether the file as it lies there is wrong, so that older rules are in force."""
        return bool(self._complained)

    @property
    def path(self) -> Path | None:
        """Where the rules come from; null where no file was found."""
        return self._path

    def audience_for(self, place: Place) -> Audience:
        """As `Audiences.audience_for`."""
        return self.rules.audience_for(place)

    def channel_audience(self, place: Place) -> Audience:
        """As `Audiences.channel_audience`."""
        return self.rules.channel_audience(place)

    def may_ask(self, place: Place) -> bool:
        """As `Audiences.may_ask`."""
        return self.rules.may_ask(place)

    def is_admin(self, place: Place) -> bool:
        """As `Audiences.is_admin`."""
        return self.rules.is_admin(place)

    def explain(self, place: Place) -> str:
        """As `Audiences.explain`."""
        return self.rules.explain(place)

    def refresh(self) -> bool:
        """Read the file again if its content changed; whether new rules are in force.

        A file that is missing or wrong is refused as a whole, with one line in the log, and the rules that
        were in force stay so.
        """
        if self._path is None:
            return False
        try:
            text = _read(self._path)
            if (digest := _digest(text)) == self._digest:
                self._complained = ""
                return False
            fresh = read_footnote_file(text, name=self._path.name)
        except ConfigurationError as error:
            if str(error) != self._complained:
                self._complained = str(error)
                log.error("the rules are wrong, the old ones stay in force", reason=str(error))
            return False
        self._current, self._digest, self._complained = fresh, digest, ""
        log.info("new rules are in force", file=self._path.name, scopes=len(fresh.rules.scopes))
        return True

    async def watch(self, stop: asyncio.Event, *, every: float = LOOK_EVERY) -> None:
        """Look at the file every so many seconds until ``stop`` is set."""
        while not stop.is_set():
            self.refresh()
            try:
                async with asyncio.timeout(every):
                    await stop.wait()
            except TimeoutError:
                continue


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigurationError(f"{path.name} is larger than 1 MiB: that cannot be a set of rules")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path.name} is not UTF-8: save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(
            f"FOOTNOTE_CONFIG: {path.name} cannot be read ({error.strerror}); it should be in {path.parent}"
        ) from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
