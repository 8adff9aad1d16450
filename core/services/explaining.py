"""Why a page is, or is not, in the answers: seen when, through which root, state, passages, scopes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.domain.attachments import notes_of
from core.domain.ids import PageId
from core.ports import PageStates
from core.ports.ledger import Fate, SyncLedger
from core.services.audiences import NamedScope

_MEANINGS = {
    Fate.INDEXED: "its passages are searched",
    Fate.PENDING: "it waits to be read or embedded; once stored it is found by words",
    Fate.EMPTY: "it has neither title nor text, so there is nothing to find",
    Fate.FAILED: "it could not be brought up to date; an older state may go on answering",
    Fate.SKIPPED: "nobody can read it",
    Fate.GONE: "it was removed",
}

_MOST_ANCESTORS = 1000
"""Stands against a circle of parents, which Notion does not make."""


@dataclass(frozen=True, slots=True)
class PageExplanation:
    """One page. ``fate`` is null if it was never seen; ``path`` are titles from the top down to its parent.

    ``root`` is the title of the configured root it hangs below, or of its topmost page; ``is_configured``
    tells which. ``scopes`` are labels of the scopes that admit it. ``next_try`` is when a page that failed is
    looked at again; ``left_out`` says which of its files were not read, or not whole, and why.
    """

    page_id: PageId
    fate: Fate | None
    title: str = ""
    url: str = ""
    reason: str = ""
    seen_at: datetime | None = None
    chunks: int = 0
    path: tuple[str, ...] = ()
    root: str = ""
    is_configured: bool = False
    scopes: tuple[str, ...] = ()
    next_try: datetime | None = None
    left_out: tuple[str, ...] = ()

    def as_text(self) -> str:
        """A few lines of Markdown."""
        if self.fate is None:
            return (
                f"No sync ever saw the page {self.page_id}. Open it in Notion, choose '...', 'Connections', "
                "and look whether the integration is there; if NOTION_ROOT_PAGES is set, the page must lie "
                "below one of them. What was shared since the last complete listing is found by the next "
                "one, or at once by a full resync."
            )
        name = self.title or "Untitled"
        lines = [
            f"[{name}]({self.url})" if self.url else name,
            f"State: {self.fate.value} ({_MEANINGS[self.fate]})."
            + (f" {self.reason}" if self.reason else ""),
            f"Passages: {self.chunks}.",
            f"Last seen: {self.seen_at:%Y-%m-%d %H:%M} UTC." if self.seen_at else "Last seen: never.",
        ]
        if self.next_try:
            lines.append(
                f"Next try: {self.next_try:%Y-%m-%d %H:%M} UTC, or with the next listing of everything."
            )
        lines += [f"Left out: {reason}." for reason in self.left_out]
        if self.root:
            kind = "the configured root" if self.is_configured else "the top page"
            below = f", below {' › '.join(self.path)}" if self.path else ""
            lines.append(f"Found through: {kind} {self.root}{below}.")
        if self.fate is not Fate.GONE:
            lines.append(f"Scopes: {', '.join(self.scopes) or 'none admits it, so chats never see it'}.")
        return "\n".join(lines)


async def explain_page(
    page_id: PageId,
    *,
    ledger: SyncLedger,
    pages: PageStates,
    scopes: Mapping[str, NamedScope],
    roots: frozenset[PageId],
) -> PageExplanation:
    """Gather what is known of a page.

    Raises:
        UnavailableError: the database cannot be asked.
    """
    entry = await ledger.entry(page_id)
    if entry is None:
        return PageExplanation(page_id, None)
    ancestry = await _ancestry(page_id, pages)
    ids = [one for one, _ in ancestry]
    configured = next((title for one, title in ancestry if one in roots), None)
    top = ancestry[-1][1] if ancestry else ""
    return PageExplanation(
        page_id=page_id,
        fate=entry.fate,
        title=entry.title,
        url=entry.url,
        reason=entry.reason,
        seen_at=entry.seen_at,
        next_try=entry.next_try,
        left_out=notes_of(await pages.stored_blocks(page_id) or ()),
        chunks=entry.chunks,
        path=tuple(title or "Untitled" for _, title in reversed(ancestry[1:])),
        root=(configured if configured is not None else top) or ("Untitled" if ancestry else ""),
        is_configured=configured is not None,
        scopes=tuple(named.label for named in scopes.values() if ids and named.scope.admits(ids)),
    )


async def _ancestry(page_id: PageId, pages: PageStates) -> list[tuple[PageId, str]]:
    """The page and everything above it, nearest first, with titles; empty if it is not stored."""
    found: dict[PageId, str] = {}
    current: PageId | None = page_id
    while current is not None and current not in found and len(found) < _MOST_ANCESTORS:
        state = (await pages.states([current])).get(current)
        if state is None:
            break
        found[current] = state.ref.title
        current = state.ref.parent_id
    return list(found.items())
