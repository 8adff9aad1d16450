"""What somebody who is typing could ask: titles and answered questions, as far as they may see."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.stores.scopes import Parameters, visible
from adapters.stores.small_pool import SmallPool, small_pool
from adapters.stores.texts import storable
from core.domain.audiences import Audience

_STATEMENT_SECONDS = 1.5
"""Later than that nobody wants a suggestion."""

_LONGEST = 100
"""Characters of what was typed that are looked at."""

_MIN_PEOPLE = 2
"""Who must have asked a question before it is offered to others: what one person asked stays theirs."""


class PostgresSuggestions:
    """The suggestions port; made by `open_suggestions`."""

    def __init__(self, pool: SmallPool) -> None:
        self._pool = pool

    async def suggest(self, typed: str, *, audience: Audience, limit: int) -> Sequence[str]:
        """As the port says: what begins so first, then what contains it; titles before questions.

        A question is offered if every page that its answer rested on is visible to the audience now.

        Raises:
            UnavailableError: the database is away or too slow.
        """
        if audience.is_empty:
            return ()
        parameters = Parameters(_pattern(typed, begins=True), _pattern(typed, begins=False), limit)
        statement = _statement(audience, parameters)
        rows = await self._pool.fetch(statement, *parameters.values)
        return tuple(row["text"] for row in rows)


def _statement(audience: Audience, parameters: Parameters) -> str:
    scope = visible(audience, parameters)
    return f"""
    WITH offered AS (
        SELECT page.title AS text, 0 AS kind
        FROM notion_pages AS page
        WHERE page.title ILIKE $2 AND btrim(page.title) <> '' AND {scope}
        UNION ALL
        SELECT min(question.text) AS text, 1 AS kind
        FROM questions AS question
        JOIN answers AS answer ON answer.question_id = question.id
        WHERE question.text ILIKE $2
            AND answer.outcome = 'answered'
            AND EXISTS (SELECT FROM answer_passages WHERE question_id = question.id)
            AND NOT EXISTS (
                SELECT
                FROM answer_passages AS passage
                LEFT JOIN notion_pages AS page ON page.id = passage.page_id
                WHERE passage.question_id = question.id
                    AND NOT coalesce(page.id IS NOT NULL AND {scope}, FALSE)
            )
        GROUP BY lower(btrim(question.text))
        HAVING count(DISTINCT question.person) >= {_MIN_PEOPLE}
    )
    SELECT text
    FROM offered
    GROUP BY text
    ORDER BY bool_or(text ILIKE $1) DESC, min(kind), length(text), text
    LIMIT $3
    """


def _pattern(typed: str, *, begins: bool) -> str:
    """What was typed as a pattern of LIKE, in which it means itself."""
    literal = storable(typed)[:_LONGEST].strip()
    for sign in ("\\", "%", "_"):
        literal = literal.replace(sign, f"\\{sign}")
    return f"{literal}%" if begins else f"%{literal}%"


@asynccontextmanager
async def open_suggestions(url: str) -> AsyncIterator[PostgresSuggestions]:
    """Suggestions with a small pool of their own, so that typing never delays a search.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    async with small_pool(url, seconds=_STATEMENT_SECONDS) as pool:
        yield PostgresSuggestions(pool)
