"""Entries of a listing on disk while it goes on: memory holds where each stands, not what it says."""

import pickle
import tempfile
from collections.abc import Iterator, KeysView
from types import TracebackType
from typing import Self

from core.domain.documents import PageRef
from core.domain.ids import PageId

IN_MEMORY = 1_000_000
"""Bytes up to which no file is made."""


class Spool:
    """Entries by id, the newest of each. Only this process writes the file, and it has no name."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by the block
        self._places: dict[PageId, int] = {}
        self._parents: dict[PageId, PageId | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __del__(self) -> None:
        # A listing that is abandoned half-way never leaves its block.
        self._file.close()

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._places

    def keys(self) -> KeysView[PageId]:
        """The ids of all entries."""
        return self._places.keys()

    def parents(self) -> dict[PageId, PageId | None]:
        """Every entry's parent."""
        return self._parents

    def add(self, ref: PageRef) -> None:
        """Keep an entry."""
        self._file.seek(0, 2)
        self._places[ref.id] = self._file.tell()
        self._parents[ref.id] = ref.parent_id
        pickle.dump(ref, self._file)

    def parents_first(self) -> Iterator[PageRef]:
        """Every entry once, after its parent where that is listed as well; circles are cut."""
        done: set[PageId] = set()
        for start in self._places:
            chain: list[PageId] = []
            here: PageId | None = start
            while here is not None and here in self._places and here not in done and here not in chain:
                chain.append(here)
                here = self._parents[here]
            for identifier in reversed(chain):
                done.add(identifier)
                yield self._read(identifier)

    def _read(self, identifier: PageId) -> PageRef:
        self._file.seek(self._places[identifier])
        ref: PageRef = pickle.load(self._file)  # noqa: S301 - written by this very object
        return ref
