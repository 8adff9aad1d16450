"""Values of the domain as bytes and back, strictly: what does not fit the types exactly is not a value.

A codec is derived from the dataclass itself, so a field added to the domain is packed without a change here.
Packed values carry a digest of all field names and types: bytes written by another version are no value.
"""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import singledispatch
from hashlib import sha256
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from core.domain.answers import Answer, Draft

FORMAT = 1
"""Raised when the encoding itself changes; the digest follows changes of the domain by itself."""

T = TypeVar("T")

_Read = Callable[[Any], Any]  # JSON is untyped; the readers are what checks it.


class _MismatchError(ValueError):
    """The JSON is no value of the wanted type."""


class Codec(Generic[T]):
    """Packs values of one dataclass.

    Raises:
        TypeError: a field has a type that cannot be packed.
    """

    def __init__(self, kind: type[T]) -> None:
        description, self._read = _reader(kind)
        self._version = f"{FORMAT}.{sha256(description.encode()).hexdigest()[:12]}"

    def pack(self, value: T) -> bytes:
        """The value as UTF-8 JSON."""
        text = json.dumps([self._version, _plain(value)], ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")

    def unpack(self, data: bytes) -> T | None:
        """The value; null where the bytes are broken or of another version."""
        try:
            version, plain = json.loads(data.decode("utf-8", "surrogatepass"))
            if version != self._version:
                return None
            value: T = self._read(plain)
        except (ValueError, TypeError, RecursionError):
            # Broken UTF-8 or JSON, another shape, or a value that the domain itself refuses.
            return None
        return value


@singledispatch
def _plain(value: Any) -> object:
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} cannot be packed")
    return [_plain(getattr(value, field.name)) for field in fields(value)]


@_plain.register
def _(value: bool | int | float | str | None) -> object:
    return value  # A StrEnum is its value.


@_plain.register
def _(value: datetime) -> object:
    return value.isoformat()


@_plain.register
def _(value: tuple) -> object:  # type: ignore[type-arg]  # singledispatch takes bare classes
    return [_plain(one) for one in value]


@_plain.register
def _(value: frozenset) -> object:  # type: ignore[type-arg]  # singledispatch takes bare classes
    return sorted((_plain(one) for one in value), key=repr)


@_plain.register
def _(value: Mapping) -> object:  # type: ignore[type-arg]  # singledispatch takes bare classes
    return {str(key): _plain(one) for key, one in value.items()}


def _reader(kind: Any) -> tuple[str, _Read]:
    """A description of a type, and a function that reads its values out of plain JSON."""
    if hasattr(kind, "__supertype__"):  # A NewType is its base at run time.
        return _reader(kind.__supertype__)
    if (origin := get_origin(kind)) is not None:
        return _generic_reader(kind, origin)
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if kind in {str, int, bool, float}:
        return kind.__name__, _scalar_reader(kind)
    if kind is datetime:
        return "datetime", _read_datetime
    if issubclass(kind, StrEnum):
        return f"{kind.__name__}{[one.value for one in kind]}", kind
    raise TypeError(f"{kind} cannot be packed")


def _generic_reader(kind: Any, origin: Any) -> tuple[str, _Read]:
    if origin in {Union, types.UnionType}:
        return _optional_reader(kind)
    if origin in {tuple, frozenset}:
        return _sequence_reader(kind, origin)
    if issubclass(origin, Mapping):
        return _mapping_reader(kind)
    raise TypeError(f"{kind} cannot be packed")


def _scalar_reader(kind: type) -> _Read:
    # JSON writes 1.0 as 1.0, yet a field for a float may have been given an int.
    also = int if kind is float else kind

    def read(plain: Any) -> Any:
        found = type(plain)
        if found is kind or found is also:
            return plain
        raise _MismatchError

    return read


def _read_datetime(plain: Any) -> datetime:
    if not isinstance(plain, str):
        raise _MismatchError
    return datetime.fromisoformat(plain)


def _optional_reader(kind: Any) -> tuple[str, _Read]:
    described = [_reader(one) for one in get_args(kind) if one is not type(None)]
    if len(described) != 1:
        raise TypeError(f"{kind} cannot be packed: only one type or null")
    description, read_one = described[0]
    return f"{description}?", lambda plain: None if plain is None else read_one(plain)


def _sequence_reader(kind: Any, origin: Any) -> tuple[str, _Read]:
    arguments = get_args(kind)
    if origin is tuple and arguments[1:] != (Ellipsis,):
        raise TypeError(f"{kind} cannot be packed: only tuples of one type and any length")
    description, read_one = _reader(arguments[0])

    def read(plain: Any) -> Any:
        if not isinstance(plain, list):
            raise _MismatchError
        return origin([read_one(one) for one in plain])

    return f"{origin.__name__}[{description}]", read


def _mapping_reader(kind: Any) -> tuple[str, _Read]:
    key, value = get_args(kind)
    if key is not str:
        raise TypeError(f"{kind} cannot be packed: JSON knows no keys but text")
    description, read_one = _reader(value)

    def read(plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise _MismatchError
        return {name: read_one(one) for name, one in plain.items()}

    return f"mapping[{description}]", read


def _dataclass_reader(kind: Any) -> tuple[str, _Read]:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    readers = [_reader(hints[name]) for name in names]
    reads = [read_one for _, read_one in readers]
    description = ",".join(f"{name}:{text}" for name, (text, _) in zip(names, readers, strict=True))

    def read(plain: Any) -> Any:
        if not isinstance(plain, list) or len(plain) != len(reads):
            raise _MismatchError
        return kind(*[read_one(one) for read_one, one in zip(reads, plain, strict=True)])

    return f"{kind.__name__}({description})", read


ANSWERS = Codec(Answer)
DRAFTS = Codec(Draft)
