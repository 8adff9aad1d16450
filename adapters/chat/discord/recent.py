"""What was asked lately, as far as this process knows."""

from collections import OrderedDict

from adapters.chat.discord.asking import Asked

KEPT_QUESTIONS = 1_000


class RecentQuestions:
    """What was asked lately by whom, in this process: for the next question, where nothing else tells."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def keep(self, asked: Asked) -> None:
        """Remember a question."""
        self._texts[asked.event, asked.user] = asked.text
        while len(self._texts) > KEPT_QUESTIONS:
            self._texts.popitem(last=False)

    def text(self, question: str, *, user: str) -> str:
        """What somebody asked under this id; empty if it is not known, or somebody else asked."""
        return self._texts.get((question, user), "")
