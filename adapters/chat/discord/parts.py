"""Everything of Footnote's that the Discord adapter works with."""

from dataclasses import dataclass

from adapters.chat.discord.judging import PageEditors
from core.ports import Answerer, Clock
from core.ports.chat import Administration, Audiences, Claims, Digests, Feedback, Suggestions
from core.ports.replies import GivenReplies


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One port each; without ``suggestions`` nothing is offered while somebody types.

    ``editors`` knows whom to call for a page, as far as the settings know them in Discord.
    """

    answerer: Answerer
    claims: Claims
    audiences: Audiences
    feedback: Feedback
    administration: Administration
    clock: Clock
    suggestions: Suggestions | None = None
    editors: PageEditors | None = None
    digests: Digests | None = None
    replies: GivenReplies | None = None
