"""What `footnote check` reports: one line for each thing examined."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a finding is meant."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    subject: str
    state: State
    detail: str
    remedy: str = ""
