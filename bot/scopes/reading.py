"""The text of ``footnote.toml`` becomes rules, or one clear line that says what is wrong and where."""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain.audiences import Scope
from core.domain.ids import InvalidIdError, PageId, parse_page_id
from core.errors import ConfigurationError
from core.services.audiences import AudienceRules, NamedScope, PlatformRules, Scopes
from core.services.masking import Masking, ScrubRule
from core.services.scrubbing import SensitiveKind

EVERYTHING = "everything"
"""``include = "everything"``: the whole workspace."""

_SNOWFLAKE = re.compile(r"\d{5,20}")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of ids. ``field`` is the rule it fills; ``ids`` what its keys look like."""

    field: str
    ids: re.Pattern[str]
    expected: str


_ROLES_HINT = "a Discord id of digits; turn on Developer Mode, then right-click and Copy ID"
_PLATFORMS: Mapping[str, Mapping[str, _Table]] = {
    "slack": {
        "workspaces": _Table("workspaces", re.compile(r"[TE][A-Z0-9]+"), "a Slack workspace id such as T042"),
        "channels": _Table(
            "channels",
            re.compile(r"[CG][A-Z0-9]+"),
            "a Slack channel id such as C042, shown at the bottom of the channel's details",
        ),
        "shared_channels": _Table(
            "shared_channels", re.compile(r"[CG][A-Z0-9]+"), "a Slack channel id such as C042"
        ),
        "groups": _Table("groups", re.compile(r"S[A-Z0-9]+"), "a Slack user group id such as S042"),
        "people": _Table("people", re.compile(r"[UW][A-Z0-9]+"), "a Slack member id such as U042"),
    },
    "discord": {
        "guilds": _Table("workspaces", _SNOWFLAKE, _ROLES_HINT),
        "channels": _Table("channels", _SNOWFLAKE, _ROLES_HINT),
        "roles": _Table("groups", _SNOWFLAKE, _ROLES_HINT),
        "people": _Table("people", _SNOWFLAKE, _ROLES_HINT),
    },
}
_PLATFORM_KEYS = ("default", "public", "may_ask", "ask_in", "admins", "digest")
_CLASSES = frozenset({"members", "guests", "externals"})
_DIRECT = frozenset({"direct"})


@dataclass(frozen=True, slots=True)
class FootnoteFile:
    """All that the file says: who sees what, and what is masked on pages and in questions."""

    rules: AudienceRules
    masking: Masking = field(default_factory=Masking)
    scrub_questions: frozenset[SensitiveKind] = frozenset()


class WrongFileError(ConfigurationError):
    """The file cannot be used. One line: file, line or key, what is wrong, what is expected."""


def read_footnote_file(text: str, *, name: str) -> FootnoteFile:
    """The rules in the text of a file; ``name`` is how messages call it.

    Raises:
        WrongFileError: anything in it is not understood; nothing of it is used then.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise WrongFileError(
            f"{name}: this is no set of rules: brackets stand too deep in one another"
        ) from error
    except ValueError as error:
        # Beside broken TOML: numbers of thousands of digits, which the parser leaves to the interpreter.
        raise WrongFileError(f"{name}: this is no TOML: {error}") from error
    return _Reader(text, name).read(document)


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self._lines = text.splitlines()
        self._name = name

    def read(self, document: Mapping[str, Any]) -> FootnoteFile:
        self._known(document, ("scopes", "scrub", *_PLATFORMS), ())
        scopes = self._scopes(self._table(document.get("scopes", {}), ("scopes",)))
        scrub = self._table(document.get("scrub", {}), ("scrub",))
        self._known(scrub, ("pages", "questions"), ("scrub",))
        platforms = {
            platform: self._platform(platform, self._table(document[platform], (platform,)), scopes)
            for platform in _PLATFORMS
            if platform in document
        }
        return FootnoteFile(
            rules=AudienceRules(scopes=scopes, platforms=platforms),
            scrub_questions=self._kinds(scrub.get("questions", []), ("scrub", "questions")),
            masking=Masking(
                everywhere=self._kinds(scrub.get("pages", []), ("scrub", "pages")),
                rules=tuple(self._scrub_rules(document.get("scopes", {}), scopes)),
            ),
        )

    def _scrub_rules(
        self, tables: Mapping[str, Any], scopes: Mapping[str, NamedScope]
    ) -> Iterator[ScrubRule]:
        for key, named in scopes.items():
            if kinds := self._kinds(tables[key].get("scrub", []), ("scopes", key, "scrub")):
                yield ScrubRule(named.scope, kinds)

    # --- scopes ----------------------------------------------------------------------------------------

    def _scopes(self, tables: Mapping[str, Any]) -> dict[str, NamedScope]:
        includes: dict[str, frozenset[PageId] | None] = {}
        for key, value in tables.items():
            table = self._table(value, ("scopes", key))
            self._known(table, ("include", "exclude", "scrub"), ("scopes", key))
            if "include" not in table:
                raise self._wrong(
                    ("scopes", key), f'has no include: expected page ids or links, or "{EVERYTHING}"'
                )
            includes[key] = self._include(table["include"], ("scopes", key, "include"))
        return {key: self._scope(key, tables[key], includes) for key in tables}

    def _include(self, value: object, key: tuple[str, ...]) -> frozenset[PageId] | None:
        if value == EVERYTHING:
            return None
        pages = [self._page(one, key) for one in self._strings(value, key)]
        if not pages:
            raise self._wrong(key, f'is empty: expected page ids or links, or "{EVERYTHING}"')
        return frozenset(pages)

    def _scope(
        self, key: str, table: Mapping[str, Any], includes: Mapping[str, frozenset[PageId] | None]
    ) -> NamedScope:
        at = ("scopes", key, "exclude")
        excluded: set[PageId] = set()
        named: list[str] = []
        pages = 0
        for one in self._strings(table.get("exclude", []), at):
            if one in includes:
                other = includes[one]
                if other is None or one == key:
                    raise self._wrong(at, f"excludes {one!r}, which would leave nothing")
                excluded |= other
                named.append(one)
            else:
                excluded.add(self._page(one, at, scopes=includes))
                pages += 1
        minus = [*named, *([f"{pages} page{'s' if pages > 1 else ''}"] if pages else [])]
        label = f"{key} minus {' and '.join(minus)}" if minus else key
        return NamedScope(Scope(name=key, include=includes[key], exclude=frozenset(excluded)), label)

    def _page(self, value: str, key: tuple[str, ...], scopes: Iterable[str] = ()) -> PageId:
        try:
            return parse_page_id(value)
        except InvalidIdError as error:
            hint = _did_you_mean(value, scopes)
            expected = " or the name of a scope" if scopes else ""
            raise self._wrong(key, f"{error}{expected}{hint}") from None

    # --- platforms -------------------------------------------------------------------------------------

    def _platform(
        self, platform: str, table: Mapping[str, Any], scopes: Mapping[str, NamedScope]
    ) -> PlatformRules:
        tables = _PLATFORMS[platform]
        self._known(
            table, ("default", "public", "may_ask", "ask_in", "admins", "digest", *tables), (platform,)
        )
        ids = {one.field: one.ids for one in tables.values()}
        maps = {
            one.field: self._map(table.get(key, {}), (platform, key), one, scopes)
            for key, one in tables.items()
        }
        people = (ids["people"], ids["groups"])
        places = (ids["channels"], ids["workspaces"])
        return PlatformRules(
            default=self._scope_names(table.get("default", []), (platform, "default"), scopes),
            public=self._scope_names(table.get("public", []), (platform, "public"), scopes),
            may_ask=self._ids_or_null(table, (platform, "may_ask"), people, _CLASSES),
            ask_in=self._ids_or_null(table, (platform, "ask_in"), places, _DIRECT),
            admins=self._ids_or_null(table, (platform, "admins"), people, frozenset()) or frozenset(),
            digest=self._digest(table, platform, tables["channels"]),
            **maps,
        )

    def _digest(self, table: Mapping[str, Any], platform: str, channels: _Table) -> str:
        value = table.get("digest", "")
        if "digest" in table and not (isinstance(value, str) and channels.ids.fullmatch(value)):
            raise self._wrong((platform, "digest"), f"is no channel: expected {channels.expected}")
        return str(value)

    def _map(
        self, value: object, key: tuple[str, ...], kind: _Table, scopes: Mapping[str, NamedScope]
    ) -> dict[str, Scopes]:
        table = self._table(value, key)
        for one in table:
            if not kind.ids.fullmatch(one):
                raise self._wrong((*key, one), f"is not an id: expected {kind.expected}")
        return {one: self._scope_names(names, (*key, one), scopes) for one, names in table.items()}

    def _scope_names(self, value: object, key: tuple[str, ...], scopes: Mapping[str, NamedScope]) -> Scopes:
        names = self._strings(value, key)
        for name in names:
            if name not in scopes:
                known = ", ".join(scopes) or "none is defined"
                raise self._wrong(
                    key, f"{name!r} is no scope{_did_you_mean(name, scopes)}; the scopes are: {known}"
                )
        return tuple(dict.fromkeys(scopes[name].scope for name in names))

    def _ids_or_null(
        self,
        table: Mapping[str, Any],
        key: tuple[str, str],
        patterns: Sequence[re.Pattern[str]],
        words: frozenset[str],
    ) -> frozenset[str] | None:
        if key[1] not in table:
            return None
        values = self._strings(table[key[1]], key)
        for value in values:
            if value not in words and not any(pattern.fullmatch(value) for pattern in patterns):
                known = f" or one of {', '.join(sorted(words))}" if words else ""
                raise self._wrong(key, f"{value!r} is not understood: expected ids{known}")
        return frozenset(values)

    # --- values ----------------------------------------------------------------------------------------

    def _kinds(self, value: object, key: tuple[str, ...]) -> frozenset[SensitiveKind]:
        if value == "all":
            return frozenset(SensitiveKind)
        names = self._strings(value, key)
        known = {kind.value: kind for kind in SensitiveKind}
        for name in names:
            if name not in known:
                raise self._wrong(
                    key,
                    f'{name!r} cannot be masked{_did_you_mean(name, known)}; expected "all" or a list of: '
                    f"{', '.join(known)}",
                )
        return frozenset(known[name] for name in names)

    def _table(self, value: object, key: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(key, f"is {_kind(value)}: expected a table, [{'.'.join(key)}]")
        return value

    def _strings(self, value: object, key: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._wrong(key, f'is {_kind(value)}: expected a list of texts, such as ["one", "two"]')
        return tuple(value)

    def _known(self, table: Mapping[str, Any], known: Sequence[str], key: tuple[str, ...]) -> None:
        for one in table:
            if one not in known:
                raise self._wrong(
                    (*key, one),
                    f"is unknown{_did_you_mean(one, known)}; expected one of: {', '.join(known)}",
                )

    def _wrong(self, key: tuple[str, ...], problem: str) -> WrongFileError:
        line = self._line_of(key)
        where = f"{self._name}:{line}" if line else self._name
        return WrongFileError(f"{where}: {'.'.join(key)} {problem}")

    def _line_of(self, key: tuple[str, ...]) -> int | None:
        """The line that names a key, as far as it can be told: the key behind its table's header."""
        for length in range(len(key), 0, -1):
            header, rest = key[:length], key[length:]
            for number, line in enumerate(self._lines, start=1):
                if _header(line) != header:
                    continue
                return next(
                    (below for below, text in self._below(number) if rest and _assigns(text, rest[0])),
                    number,
                )
        return next(
            (
                number
                for number, line in enumerate(self._lines, start=1)
                if _assigns(line, key[0]) or (_header(line) or ("",))[0] == key[0]
            ),
            None,
        )

    def _below(self, header: int) -> Iterable[tuple[int, str]]:
        for number, line in enumerate(self._lines[header:], start=header + 1):
            if _header(line) is not None:
                return
            yield number, line


def _header(line: str) -> tuple[str, ...] | None:
    match = re.fullmatch(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?", line)
    if match is None:
        return None
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', match.group(1))
    return tuple(next(part for part in found if part) if any(found) else "" for found in parts)


def _assigns(line: str, key: str) -> bool:
    return re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line) is not None


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f" (did you mean {by_folded[near[0]]!r}?)" if near else ""


_KINDS: tuple[tuple[Callable[[object], bool], str], ...] = (
    (lambda value: isinstance(value, bool), "true or false"),
    (lambda value: isinstance(value, str), "a single text"),
    (lambda value: isinstance(value, dict), "a table"),
    (lambda value: isinstance(value, list), "a list with something else than texts"),
    (lambda value: isinstance(value, int | float), "a number"),
)


def _kind(value: object) -> str:
    return next((name for fits, name in _KINDS if fits(value)), "a date or time")
