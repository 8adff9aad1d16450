"""Calls out sources that nobody has edited for long. Pure."""

from datetime import datetime, timedelta

from core.domain.answers import Citation, Span
from core.domain.notes import Note, note
from core.services.citing import Cited


def with_age(cited: Cited, *, now: datetime, days: int, language: str) -> Cited:
    """The text with a remark, and its number, for each cited page not edited for ``days``; 0 is never."""
    if days <= 0:
        return cited
    limit = now - timedelta(days=days)
    old = [one for one in cited.citations if one.last_edited is not None and one.last_edited < limit]
    return Cited(spans=(*cited.spans, *(_remark(one, language) for one in old)), citations=cited.citations)


def _remark(citation: Citation, language: str) -> Span:
    date = f"{citation.last_edited:%Y-%m-%d}"
    text = note(Note.OUTDATED, language).replace("{date}", date)
    return Span(text=f"\n\n*{text}*", cites=(citation.number,))
