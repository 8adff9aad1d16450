"""The port of given replies as tests script it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.domain.answers import Answer
from core.ports.replies import ChangedReply, ReplyPlace


@dataclass
class ScriptedReplies:
    """Notes what it is told; hands ``due`` out to whoever asks first."""

    kept: list[tuple[ReplyPlace, Answer]] = field(default_factory=list)
    due: list[ChangedReply] = field(default_factory=list)
    done: list[ReplyPlace] = field(default_factory=list)
    looks: int = 0

    async def given(self, place: ReplyPlace, answer: Answer) -> None:
        """Note it."""
        self.kept.append((place, answer))

    async def changed(self, platform: str, *, limit: int) -> Sequence[ChangedReply]:
        """What is due on this platform, once."""
        self.looks += 1
        found = [one for one in self.due if one.place.platform == platform][:limit]
        self.due = [one for one in self.due if one not in found]
        return found

    async def settled(self, place: ReplyPlace) -> None:
        """Note it."""
        self.done.append(place)

    def change_all(self, language: str = "en") -> None:
        """The sources of every reply change."""
        self.due += [ChangedReply(place, language) for place, _ in self.kept]
        self.kept = []
