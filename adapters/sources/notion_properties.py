"""Page properties as readable names and values; whatever Notion invents next reads as nothing."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from adapters.sources.notion_json import Json, as_list, as_mapping, as_text, page_id, payload, type_of
from adapters.sources.notion_text import date_range, plain, render_line
from core.domain.documents import UNTITLED
from core.domain.references import reference

Schema = Mapping[str, Any]
"""The ``properties`` of a data source, which alone know how a number is to be shown."""


def title_of(page: Json) -> str:
    """The title of a page, found by the type of the property, not by its name (F7); may be empty."""
    for value in as_mapping(page.get("properties")).values():
        if type_of(as_mapping(value)) == "title":
            return " ".join(plain(as_mapping(value).get("title")).split())
    return " ".join(plain(page.get("title")).split())


def render_properties(page: Json, schema: Schema | None = None) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs in Notion's order, without the title and without empty values."""
    pairs = []
    for name, raw in as_mapping(page.get("properties")).items():
        held = as_mapping(raw)
        if type_of(held) == "title":
            continue
        value = " ".join(_value(held, _number_format(schema, name)).split())
        if value:
            pairs.append((" ".join(as_text(name).split()) or UNTITLED, value))
    return tuple(pairs)


def unfinished_properties(page: Json) -> tuple[tuple[str, str], ...]:
    """(name, id) of the properties of which a page object holds only the first 25 entries (NOT-14)."""
    return tuple(
        (name, as_text(held.get("id")))
        for name, held in (
            (name, as_mapping(raw)) for name, raw in as_mapping(page.get("properties")).items()
        )
        if type_of(held) in _PAGED
        and (held.get("has_more") is True or len(as_list(held.get(type_of(held)))) >= MAX_INLINE_REFERENCES)
    )


_PAGED = frozenset({"title", "rich_text", "relation", "people"})
"""What Notion gives page by page; of all others, such as tags, a page object holds everything."""


MAX_INLINE_REFERENCES = 25
"""How many references a page object holds per property; the rest is asked for property by property."""


def _number_format(schema: Schema | None, name: str) -> str:
    described = as_mapping(as_mapping(schema).get(name))
    held = payload(described)
    return as_text(held.get("format"))


# --- One value -----------------------------------------------------------------------------------------


def _value(held: Json, number_format: str = "") -> str:
    kind = type_of(held)
    value = held.get(kind)
    if kind == "number":
        return format_number(value, number_format)
    reader = _READERS.get(kind)
    return reader(value) if reader is not None else _unknown(value)


def _unknown(value: object) -> str:
    """Of a type nobody documented, a bare string or number is kept (NOT-10)."""
    if isinstance(value, str):
        return as_text(value)
    return format_number(value, "")


def _option(value: object) -> str:
    return as_text(as_mapping(value).get("name"))


def _options(value: object) -> str:
    return ", ".join(filter(None, (as_text(as_mapping(one).get("name")) for one in as_list(value))))


def _person(value: object) -> str:
    """A name; guests and deleted users have none, and an id would tell nobody anything (F8)."""
    return as_text(as_mapping(value).get("name"))


def _people(value: object) -> str:
    return ", ".join(filter(None, (_person(one) for one in as_list(value))))


def _text(value: object) -> str:
    return render_line(value)


def _string(value: object) -> str:
    return as_text(value)


def _date(value: object) -> str:
    return date_range(value)


def _time(value: object) -> str:
    return date_range({"start": value})


def _checkbox(value: object) -> str:
    if not isinstance(value, bool):
        return ""
    return "yes" if value else "no"


def _files(value: object) -> str:
    """Names only: links to uploaded files expire and carry a signature (F19)."""
    return ", ".join(filter(None, (as_text(as_mapping(one).get("name")) for one in as_list(value))))


def _relation(value: object) -> str:
    """References to the related pages; one that the index does not know is not shown."""
    found = (page_id(as_mapping(one).get("id")) for one in as_list(value))
    return ", ".join(reference(one) for one in found if one is not None)


def _unique_id(value: object) -> str:
    held = as_mapping(value)
    number = format_number(held.get("number"), "")
    prefix = as_text(held.get("prefix"))
    return f"{prefix}-{number}" if prefix and number else number


def _formula(value: object) -> str:
    held = as_mapping(value)
    kind = type_of(held)
    if kind == "boolean":
        return _checkbox(held.get(kind))
    if kind == "unsupported":
        return ""
    return _value(held)


def _rollup(value: object) -> str:
    held = as_mapping(value)
    if type_of(held) == "array":
        values = (_value(as_mapping(one)) for one in as_list(held.get("array")))
        return ", ".join(filter(None, values))
    if type_of(held) in {"unsupported", "incomplete"}:
        return ""
    if type_of(held) == "number" and as_text(held.get("function")).startswith("percent"):
        return format_number(held.get("number"), "percent")
    return _value(held)


def _place(value: object) -> str:
    held = as_mapping(value)
    parts = (as_text(held.get("name")), as_text(held.get("address")))
    return ", ".join(dict.fromkeys(filter(None, parts)))


def _verification(value: object) -> str:
    held = as_mapping(value)
    state = as_text(held.get("state"))
    if state in {"", "unverified"}:
        return ""
    by = _person(held.get("verified_by"))
    when = date_range(held.get("date"))
    return f"{state}{f' by {by}' if by else ''}{f', {when}' if when else ''}"


def _nothing(_: object) -> str:
    return ""


_READERS: Mapping[str, Callable[[object], str]] = MappingProxyType(
    {
        "title": _text,
        "rich_text": _text,
        "select": _option,
        "status": _option,
        "multi_select": _options,
        "people": _people,
        "person": _person,
        "created_by": _person,
        "last_edited_by": _person,
        "date": _date,
        "created_time": _time,
        "last_edited_time": _time,
        "checkbox": _checkbox,
        "boolean": _checkbox,
        "string": _string,
        "url": _string,
        "email": _string,
        "phone_number": _string,
        "files": _files,
        "relation": _relation,
        "unique_id": _unique_id,
        "formula": _formula,
        "rollup": _rollup,
        "place": _place,
        "location": _place,
        "verification": _verification,
        "button": _nothing,
    }
)

# --- Numbers -------------------------------------------------------------------------------------------

_CURRENCIES: Mapping[str, str] = MappingProxyType(
    {
        "argentine_peso": "ARS",
        "australian_dollar": "AUD",
        "baht": "THB",
        "canadian_dollar": "CAD",
        "chilean_peso": "CLP",
        "colombian_peso": "COP",
        "danish_krone": "DKK",
        "dirham": "AED",
        "dollar": "$",
        "euro": "€",
        "forint": "HUF",
        "franc": "CHF",
        "hong_kong_dollar": "HKD",
        "koruna": "CZK",
        "krona": "SEK",
        "leu": "RON",
        "lira": "TRY",
        "mexican_peso": "MXN",
        "new_taiwan_dollar": "TWD",
        "new_zealand_dollar": "NZD",
        "norwegian_krone": "NOK",
        "philippine_peso": "PHP",
        "pound": "£",
        "peruvian_sol": "PEN",
        "rand": "ZAR",
        "real": "BRL",
        "ringgit": "MYR",
        "riyal": "SAR",
        "ruble": "RUB",
        "rupee": "INR",
        "rupiah": "IDR",
        "shekel": "ILS",
        "singapore_dollar": "SGD",
        "uruguayan_peso": "UYU",
        "won": "KRW",
        "yen": "¥",
        "yuan": "CNY",
        "zloty": "PLN",
    }
)
_BEFORE = frozenset({"$", "£", "¥"})


def format_number(value: object, style: str) -> str:
    """A number as its column shows it: ``1200``, ``1,200``, ``12.5 %``, ``€`` behind, ``$`` before."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if style == "percent":
        return f"{_digits(round(value * 100, 10))} %"
    currency = _CURRENCIES.get(style)
    if currency is None:
        return f"{value:,}".removesuffix(".0") if style == "number_with_commas" else _digits(value)
    return f"{currency}{_digits(value)}" if currency in _BEFORE else f"{_digits(value)} {currency}"


def _digits(value: int | float) -> str:
    if isinstance(value, int):
        # Not by way of a float, which holds no number of 310 digits.
        return str(value)
    return str(int(value)) if value.is_integer() else repr(value)
