"""The database's schema as numbered SQL files, forward only; a merged file is never edited."""

import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

NO_TRANSACTION = "-- footnote: no transaction"
"""First line of a migration whose single statement must run outside a transaction (CONCURRENTLY)."""

_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. ``checksum`` is SHA-256 over the text with line ends as ``\\n``."""

    number: int
    name: str
    sql: str
    checksum: str

    @property
    def in_transaction(self) -> bool:
        """Whether the file and its entry in the ledger are committed together."""
        return not self.sql.startswith(NO_TRANSACTION)


def migration(file_name: str, text: str) -> Migration:
    """A migration out of a file's name and text.

    Raises:
        ValueError: the name is not ``NNNN_what_it_does.sql``.
    """
    parts = _FILE_NAME.fullmatch(file_name)
    if parts is None:
        raise ValueError(f"{file_name}: a migration is called NNNN_what_it_does.sql, in lower case")
    sql = text.replace("\r\n", "\n")
    return Migration(
        number=int(parts.group(1)), name=parts.group(2), sql=sql, checksum=sha256(sql.encode()).hexdigest()
    )


def load() -> tuple[Migration, ...]:
    """All migrations in order.

    Raises:
        ValueError: a file is misnamed, or the numbers are not 1, 2, 3 and so on.
    """
    found = sorted(
        (
            migration(entry.name, entry.read_text(encoding="utf-8"))
            for entry in files("migrations").iterdir()
            if entry.name.endswith(".sql")
        ),
        key=lambda one: one.number,
    )
    numbers = [one.number for one in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations must be numbered 1, 2, 3 ... without gaps or doubles, found {numbers}")
    return tuple(found)


VECTOR_INDEX_VERSION = 1
"""Rises when the template changes; indexes made from an older one are then made again."""


def vector_index() -> str:
    """The statement that makes one model's vector index, with ``$name``, ``$type``, ``$dimensions`` and
    ``$fingerprint`` to be filled in; the last one as a quoted literal."""
    return files("migrations.templates").joinpath("vector_index.sql").read_text(encoding="utf-8")
