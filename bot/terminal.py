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


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON document on standard output, readable by people and machines."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line that is worth knowing and no result."""
    messages.print(text, style="dim", markup=False)


def complain(text: str) -> None:
    """An error, as one clear line (or a few, where several things are wrong)."""
    messages.print(f"footnote: {text}", style="red", markup=False, soft_wrap=True)


def is_interactive() -> bool:
    """Whether somebody sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error that leaves nothing behind where nobody watches."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=messages, transient=False) as progress:
        yield progress
