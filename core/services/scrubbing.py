"""Masks what should not be kept: addresses, numbers of people and accounts, tokens and keys. Pure.

Numbers are masked where their check digits fit (python-stdnum) or where a numbering plan knows them
(phonenumbers), so that order numbers, dates and versions stay readable.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import phonenumbers
from stdnum import iban, luhn
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.ru import inn
from stdnum.se import personnummer
from stdnum.tr import tckimlik
from stdnum.us import ssn

from core.domain.documents import Block, Page, PageRef
from core.domain.trees import rebuilt


class SensitiveKind(StrEnum):
    """What can be masked; the values are the names in ``footnote.toml``."""

    EMAIL = "email"
    PHONE = "phone"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national_id"
    SECRET = "secret"  # noqa: S105 - a name of a kind


EVERYTHING_SENSITIVE = frozenset(SensitiveKind)

PHONE_REGIONS = (None, "DE", "US", "GB", "RU", "FR")
"""Whose ways of writing a number without its country are known; null finds those with a plus sign."""

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}(?![\w-])")

_SPELT_EMAIL = re.compile(
    r"(?i)(?<![\w.+-])[\w.+-]{1,64} ?[(\[{] ?(?:at|ät|собака) ?[)\]}] ?"
    r"(?:[\w-]{1,63}(?:\.| ?[(\[{] ?(?:dot|punkt|точка) ?[)\]}] ?))+[^\W\d_]{2,24}(?![\w-])"
)
"""As people write an address that machines should not read."""

_LINK_OR_ID = re.compile(
    r"https?://[^\s)>\]]+"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b[0-9a-fA-F]{32}\b"
)
"""Digits in these are no numbers of anybody; masking them would break links and references to pages."""

_SECRET = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \bxox[abceoprs]-[\w-]{10,}                      # Slack
    | \bxapp-\d-[\w-]{10,}
    | \bgh[opsur]_[A-Za-z0-9]{30,} | \bgithub_pat_\w{30,} | \bglpat-[\w-]{16,}
    | \bntn_[A-Za-z0-9]{30,} | \bsecret_[A-Za-z0-9]{30,}   # Notion
    | \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}   # Discord
    | \b[sr]k[-_](?:live_|test_|proj-|ant-)?[A-Za-z0-9_-]{20,}
    | \bA(?:KIA|SIA)[0-9A-Z]{16}\b | \bAIza[0-9A-Za-z_-]{35} | \bnpm_[A-Za-z0-9]{36} | \bpypi-[\w-]{40,}
    | \bhf_[A-Za-z0-9]{24,} | \bSG\.[\w-]{16,}\.[\w-]{16,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*               # JSON web tokens
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED_SECRET = re.compile(
    r"""(?ix)
    \b(?:password|passwd|pwd|passwort|kennwort|пароль|api[_ -]?key|secret|token|mot[ ]de[ ]passe|contraseña)
    (?:\*\*|["'`])? \s* [:=] \s* (?:\*\*)? \s*
    (?P<value>"[^"\n]{4,}"|'[^'\n]{4,}'|`[^`\n]{4,}`|[^\s"'`<>,;|]{6,})
    """
)
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<value>[^\s/@]+)@")
_BEARER = re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<value>[A-Za-z0-9._~+/-]{16,}=*)")

_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ \u00a0-]?[A-Za-z0-9])")
_DIGITS = re.compile(r"(?<![\w.,])\d(?:[ \u00a0./-]?\d){7,18}(?![\w]|[.,]\d)")

_NINO = re.compile(
    r"(?<!\w)(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)",
    re.IGNORECASE,
)
_US_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_NHS = re.compile(r"(?<![\w.-])\d{3}[ -]\d{3}[ -]\d{4}(?![\w-]|\.\d)")
_SNILS = re.compile(r"(?<!\w)\d{3}-\d{3}-\d{3}[ -]\d{2}(?!\w)")
_LETTERED = re.compile(r"(?<!\w)[A-Z0-9][A-Z0-9+-]{7,16}(?!\w)")
_BSN = re.compile(r"(?i)\bBSN\W{0,3}(?P<value>\d{8,9}|\d{4}\.\d{2}\.\d{3})\b")
_NAMED_INN = re.compile(r"(?i)\bИНН\W{0,3}(?P<value>\d{10}|\d{12})\b")

_NAMED_ID = re.compile(
    r"(?i)\b(?:personalausweis|reisepass|ausweis|sozialversicherungs|rentenversicherungs|sv|führerschein)"
    r"(?:[ -]?(?:nummer|nr\.?|no\.?))?\W{1,3}(?P<de>(?=[A-Z0-9 ]{0,12}\d)[A-Z0-9](?: ?[A-Z0-9]){7,12})(?!\w)"
    r"|\b(?:passport|driving licen[cs]e|driver'?s licen[cs]e)(?: (?:number|no\.?))?\W{1,3}"
    r"(?P<en>(?=[A-Z0-9]{0,12}\d)[A-Z0-9]{7,16})(?!\w)"
    r"|\b(?:паспорт|загранпаспорт)\w{0,2}(?: (?:серия|номер|№))?\W{0,3}"
    r"(?P<ru>\d{2} ?\d{2}\W{1,3}(?:№ ?)?\d{6}|\d{9,10})(?!\w)"
)
"""Documents whose numbers have no check digits that all issuers keep to count beside their name alone."""

_CARD = re.compile(
    r"(?<![\w.,-])(?:[2-6]\d{12,18}|[2-6]\d{3}(?:[ \u00a0.-]\d{4}){3}(?:[ \u00a0.-]\d{3})?"
    r"|3[47]\d{2}[ \u00a0-]\d{6}[ \u00a0-]\d{5}|3\d{3}[ \u00a0-]\d{6}[ \u00a0-]\d{4})(?![\w-]|[.,]\d)"
)
"""In one piece or grouped as on the card: other groupings are dates and ranges."""

_OTHER_DIGITS = {code: str(unicodedata.digit(chr(code))) for code in range(0xFF10, 0xFF1A)} | {0xFF20: "@"}
"""Full-width digits and signs, as East Asian keyboards write them."""

_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
_WINDOW, _LONGEST_PHONE = 500, 60
_IDS_OF_DIGITS: tuple[tuple[int, Callable[[str], bool]], ...] = (
    (11, idnr.is_valid),
    (11, pesel.is_valid),
    (11, nn.is_valid),
    (11, cpf.is_valid),
    (11, tckimlik.is_valid),
    (12, inn.is_valid),
    (13, ahv.is_valid),
    (13, nir.is_valid),
    (15, nir.is_valid),
)
"""Check by number of digits. Shorter ones have a single check digit and no letters: too much else fits."""


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    kind: SensitiveKind


def scrubbed(text: str, kinds: Collection[SensitiveKind]) -> str:
    """The text with everything of these kinds masked: ``[email]``, ``[phone]`` and so on."""
    if not kinds or not text:
        return text
    # Digits of other scripts are digits: sign for sign, so that places stay the same.
    found = sorted(_find(text.translate(_OTHER_DIGITS), kinds), key=lambda one: (one.start, -one.end))
    pieces: list[str] = []
    at = 0
    for one in found:
        if one.start < at:
            continue
        pieces += [text[at : one.start], f"[{one.kind.value.replace('_', ' ')}]"]
        at = one.end
    return "".join((*pieces, text[at:]))


def scrubbed_ref(ref: PageRef, kinds: Collection[SensitiveKind]) -> PageRef:
    """A page's listing entry with title and properties masked."""
    if not kinds:
        return ref
    return replace(
        ref,
        title=scrubbed(ref.title, kinds),
        properties=tuple((scrubbed(name, kinds), scrubbed(value, kinds)) for name, value in ref.properties),
    )


def scrubbed_page(page: Page, kinds: Collection[SensitiveKind]) -> Page:
    """A page with title, properties and the text of all its blocks masked."""
    if not kinds:
        return page
    return replace(page, ref=scrubbed_ref(page.ref, kinds), blocks=_scrubbed_blocks(page.blocks, kinds))


def _scrubbed_blocks(blocks: tuple[Block, ...], kinds: Collection[SensitiveKind]) -> tuple[Block, ...]:
    return rebuilt(
        blocks,
        lambda block, children: replace(block, text=scrubbed(block.text, kinds), children=children),
    )


def _find(text: str, kinds: Collection[SensitiveKind]) -> Iterator[_Found]:
    finders: dict[SensitiveKind, Callable[[str], Iterable[tuple[int, int]]]] = {
        SensitiveKind.SECRET: _secrets,
        SensitiveKind.EMAIL: _emails,
        SensitiveKind.IBAN: _ibans,
        SensitiveKind.CARD: _cards,
        SensitiveKind.NATIONAL_ID: _national_ids,
        SensitiveKind.PHONE: _phones,
    }
    kept = [match.span() for match in _LINK_OR_ID.finditer(text)]
    for kind, find in finders.items():
        if kind not in kinds:
            continue
        for start, end in find(text):
            inside = any(first < end and start < last for first, last in kept)
            if not inside or kind in (SensitiveKind.SECRET, SensitiveKind.EMAIL):
                yield _Found(start, end, kind)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_EMAIL, _SPELT_EMAIL):
        for match in pattern.finditer(text):
            yield match.span()


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    for match in _SECRET.finditer(text):
        yield match.span()
    for pattern in (_NAMED_SECRET, _URL_PASSWORD, _BEARER):
        for match in pattern.finditer(text):
            yield match.span("value")


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN_START.finditer(text):
        ends = _ends(text, match.start())
        for size in range(min(_LONGEST_IBAN, len(ends)), _SHORTEST_IBAN - 1, -1):
            end = ends[size - 1]
            if not text[end : end + 1].isalnum() and iban.is_valid(text[match.start() : end]):
                yield match.start(), end
                break


def _ends(text: str, start: int) -> list[int]:
    """Where the first, second, third sign ends, counted without single spaces and hyphens between."""
    ends: list[int] = []
    at = start
    while at < len(text) and len(ends) < _LONGEST_IBAN:
        if text[at].isascii() and text[at].isalnum():
            ends.append(at + 1)
        elif text[at] not in " \u00a0-" or text[at - 1] in " \u00a0-":
            break
        at += 1
    return ends


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        if luhn.is_valid(_bare(match.group())):
            yield match.span()


def _national_ids(text: str) -> Iterator[tuple[int, int]]:
    for match in _DIGITS.finditer(text):
        digits = _bare(match.group())
        if any(len(digits) == size and is_valid(digits) for size, is_valid in _IDS_OF_DIGITS):
            yield match.span()
    for match in _NAMED_ID.finditer(text):
        yield match.span(str(match.lastgroup))
    for pattern, is_valid in _PATTERNS_OF_IDS:
        for match in pattern.finditer(text):
            name = "value" if "value" in pattern.groupindex else 0
            if is_valid(match.group(name)):
                yield match.span(name)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _windows(text):
        window = text[start:end]
        if not any(sign.isdigit() for sign in window):
            continue
        for region in PHONE_REGIONS:
            for match in phonenumbers.PhoneNumberMatcher(window, region):
                yield start + match.start, start + match.end


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that overlap by more than a number is long, cut at blanks where there are any near.

    The library's time grows with the square of a text full of digits.
    """
    start = 0
    while start < len(text):
        end = _blank_before(text, start + _WINDOW) if start + _WINDOW < len(text) else len(text)
        yield start, end
        start = end if end == len(text) else _blank_before(text, end - _LONGEST_PHONE)


def _blank_before(text: str, at: int) -> int:
    """The start of the last word that begins up to ``at``, unless that is far back."""
    found = next((place for place in range(at, at - _LONGEST_PHONE, -1) if text[place - 1].isspace()), at)
    return max(found, 1)


def _bare(text: str) -> str:
    return re.sub(r"\D", "", text)


def _is_snils(text: str) -> bool:
    digits = _bare(text)
    total = sum(int(digit) * weight for digit, weight in zip(digits[:9], range(9, 0, -1), strict=True))
    return total % 101 % 100 == int(digits[9:])


def _is_lettered_id(text: str) -> bool:
    checks = (dni, nie, codicefiscale, hetu, personnummer)
    return any(sign.isdigit() for sign in text) and any(module.is_valid(text) for module in checks)


_PATTERNS_OF_IDS: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_US_SSN, ssn.is_valid),
    (_NINO, lambda _: True),
    (_NHS, nhs.is_valid),
    (_SNILS, _is_snils),
    (_LETTERED, _is_lettered_id),
    (_BSN, bsn.is_valid),
    (_NAMED_INN, inn.is_valid),
)
