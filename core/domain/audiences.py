"""Who may see which pages. An audience is decided once, at the edge, and travels with the question."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from core.domain.ids import PageId


@dataclass(frozen=True, slots=True)
class Scope:
    """A named part of the workspace: everything at or below ``include``, except at or below ``exclude``.

    ``include`` is null for the whole workspace. Membership follows the page's live ancestry, never a copy
    made when it was indexed (inventory U22, SY27).
    """

    name: str
    include: frozenset[PageId] | None
    exclude: frozenset[PageId] = frozenset()

    def admits(self, path: Collection[PageId]) -> bool:
        """Whether a page is inside; ``path`` is the page's own id and those of all its ancestors."""
        if not self.exclude.isdisjoint(path):
            return False
        return self.include is None or not self.include.isdisjoint(path)

    def covers(self, other: "Scope") -> bool:
        """Whether every page of the other scope is in this one, wherever pages move; false when in doubt."""
        if not self.exclude <= other.exclude:
            return False
        return self.include is None or (other.include is not None and other.include <= self.include)


@dataclass(frozen=True, slots=True)
class Audience:
    """The readers of a reply: a page is visible if every group has a scope that admits it.

    One group per party to the conversation (the channel, the asker): within a group scopes add up, between
    groups they intersect. No groups, or an empty group, admit nothing: unknown readers fail closed.
    """

    name: str
    groups: tuple[tuple[Scope, ...], ...]

    def admits(self, path: Collection[PageId]) -> bool:
        """Whether the page with this path (itself and its ancestors) may be shown."""
        return bool(self.groups) and all(any(scope.admits(path) for scope in group) for group in self.groups)

    def intersect(self, other: "Audience") -> "Audience":
        """What both may see."""
        if not self.groups or not other.groups:
            return Audience(name=f"{self.name} & {other.name}", groups=())
        return Audience(name=f"{self.name} & {other.name}", groups=(*self.groups, *other.groups))

    def covers(self, other: "Audience") -> bool:
        """Whether these readers may see all that the others may see; false when in doubt."""
        if other.is_empty or not self.groups:
            return bool(self.groups)
        return all(
            any(all(any(mine.covers(theirs) for mine in own) for theirs in group) for group in other.groups)
            for own in self.groups
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be visible, so that no query is worth sending."""
        return not self.groups or any(not group for group in self.groups)

    @property
    def key(self) -> str:
        """Equal for audiences that see the same scopes, whatever they are called; part of every cache key."""
        return _key(self.groups)


@lru_cache(maxsize=1024)
def _key(groups: tuple[tuple[Scope, ...], ...]) -> str:
    described = sorted(
        sorted(
            (sorted(scope.include) if scope.include is not None else ["*"], sorted(scope.exclude))
            for scope in group
        )
        for group in groups
    )
    return sha256(repr(described).encode()).hexdigest()[:16]


WHOLE_WORKSPACE = Scope(name="all", include=None)
EVERYTHING = Audience(name="all", groups=((WHOLE_WORKSPACE,),))
NOTHING = Audience(name="nothing", groups=())
