"""Everything of Footnote's that the Discord adapter works with."""

from dataclasses import dataclass

from core.ports import Answerer, Clock
from core.ports.chat import Administration, Audiences, Claims, Feedback, Suggestions


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One port each; without ``suggestions`` nothing is offered while somebody types."""

    answerer: Answerer
    claims: Claims
    audiences: Audiences
    feedback: Feedback
    administration: Administration
    clock: Clock
    suggestions: Suggestions | None = None
