"""Literals and names inside statements, for what must not be a parameter."""

import re
from hashlib import sha256

from core.domain.models import Fingerprint
from core.errors import InvalidInputError

MAX_HNSW_DIMENSIONS = {"vector": 2000, "halfvec": 4000}
"""pgvector's limits of what an HNSW index can hold."""

_PLAIN_NAME = re.compile(r"[a-z0-9_]{1,32}")


def literal(text: str) -> str:
    """``text`` as a string literal.

    Raises:
        InvalidInputError: it holds a sign that PostgreSQL cannot store.
    """
    if "\x00" in text or "\\" in text:
        raise InvalidInputError("a fingerprint may hold neither NUL nor a backslash")
    return "'" + text.replace("'", "''") + "'"


def index_name(fingerprint: Fingerprint, version: int) -> str:
    """The name of a fingerprint's vector index: plain, unquoted, well below PostgreSQL's 63 bytes."""
    plain = _PLAIN_NAME.fullmatch(fingerprint) is not None
    suffix = fingerprint if plain else sha256(fingerprint.encode()).hexdigest()[:16]
    return f"notion_embeddings_hnsw_v{version}_{suffix}"


def indexed_type(dimensions: int) -> str | None:
    """The type whose HNSW index can hold so many dimensions: full precision, half, or none."""
    for name, most in MAX_HNSW_DIMENSIONS.items():
        if dimensions <= most:
            return name
    return None
