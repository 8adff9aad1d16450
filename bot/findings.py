"""What `footnote check` and `footnote status` report: one line for each thing examined."""

from dataclasses import dataclass
from enum import StrEnum

from bot.terminal import output
from core.ports.chat import StatusCheck


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


_STYLES = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red"}


def as_finding(check: StatusCheck) -> Finding:
    """A check of the index or of a platform that passed or failed."""
    return Finding(check.name, State.OK if check.ok else State.FAIL, check.detail, check.remedy)


def show_finding(finding: Finding) -> None:
    """Print one line, and below it what to do; never wrapped, so that a pipe gets whole lines."""
    output.print(f"{finding.state.value:<5}", end="", style=_STYLES[finding.state])
    output.print(f"{finding.subject}: {finding.detail}", markup=False, soft_wrap=True)
    if finding.remedy:
        output.print(f"     -> {finding.remedy}", markup=False, soft_wrap=True)
