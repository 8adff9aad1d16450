"""What a person sees: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

output = Console(highlight=False)
"""Results: what a pipe should carry."""

messages = Console(stderr=True, highlight=False)
"""Progress, notes and errors."""

MILESTONES_OF_A_STAGE = 5


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON document on standard output, readable by people and machines."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line that is worth knowing and no result."""
    messages.print(text, style="dim", markup=False, soft_wrap=True)


def complain(text: str) -> None:
    """An error, as one clear line (or a few, where several things are wrong)."""
    messages.print(f"footnote: {text}", style="red", markup=False, soft_wrap=True)


def is_interactive() -> bool:
    """Whether somebody sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Milestones:
    """Progress where no bar can be drawn: a line for each fifth of a stage, none for one that was short."""

    def __init__(self, *, are_wanted: bool | None = None) -> None:
        self._are_wanted = not messages.is_terminal if are_wanted is None else are_wanted
        self._told = ("", 0)

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Note how far a stage is; says nothing if that was said already."""
        share = int(done * MILESTONES_OF_A_STAGE / total) if total else 0
        is_over_at_once = done == total and self._told[0] != stage
        if self._are_wanted and self._told != (stage, share) and not is_over_at_once:
            self._told = (stage, share)
            note(f"{stage} {done}/{total}" if total else f"{stage} ...")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error; nothing where that is no terminal, see `Milestones`."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=messages, disable=not messages.is_terminal) as progress:
        yield progress
