"""The two statements that read the index: one for passages by vector and words, one for pages by words.

The fingerprint and the dimensions are literals: a generic plan could not prove that a parameter fits the
predicate of the model's partial index, and would scan everything.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.stores.quoting import indexed_type, literal
from adapters.stores.scopes import Parameters, visible
from core.domain.audiences import Audience
from core.domain.ids import PageId
from core.domain.models import Fingerprint, Vector
from core.ports import WordQuery
from core.ports.neighbours import Stretch

EXACT_BELOW = 4000
"""Passages in scope up to which all of them are compared instead of walking the graph; docs/decisions tells
how it was measured."""

ALIKE, MOST_ALIKE, SHORTEST_HEALED = 0.5, 2, 5
"""Of a term that no passage has: the share of letter triples that a word must have in common, how many such
words are asked for, and the letters below which everything resembles everything."""

SNIPPET_OPTIONS = "StartSel='', StopSel='', MaxFragments=1, MinWords=80, MaxWords=160, ShortWord=0"
_SNIPPET_SOURCE = 200_000
"""Characters of a page that are looked through for the passage to show."""

_EXCLUDED = re.compile(r'(?:(?<=\s)|^)-(?:"([^"]+)"|([^\s"]+))')

BACKGROUND_STATE = "(extract(epoch FROM learned_at) * 1000000)::bigint"
"""Names what was learned by the moment when it was."""

_SHARE = """
    (
        SELECT least(coalesce(-(weighed.weights <#> asked.weights) / nullif(asked.attainable, 0), 0), 1)
        FROM asked, notion_term_weights AS weighed
        WHERE weighed.chunk_id = found.id
    )
"""

PAGE_COLUMNS = """
    page.title, page.breadcrumb, page.url, page.path, page.last_edited, page.language AS page_language
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and what it is run with."""

    sql: str
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """The one set of vectors that a search may compare."""

    fingerprint: Fingerprint
    dimensions: int

    @property
    def literal(self) -> str:
        """The fingerprint as it stands in statements."""
        return literal(self.fingerprint)

    def distance(self, query: str) -> str:
        """The expression that the model's index orders by."""
        kind = indexed_type(self.dimensions) or "vector"
        typed = f"{kind}({self.dimensions})"
        return f"chunk.embedding::{typed} <=> {query}::vector({self.dimensions})::{typed}"


def passages(
    space: Space, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
) -> Statement:
    """Both sides of a hybrid search in one snapshot, joined by chunk."""
    parameters = Parameters()
    most = parameters.add(limit, "bigint")
    query = parameters.add(vector, "vector") if vector is not None else None
    asked = _asked(words, parameters, weighed=True, healed="(SELECT words FROM healed)" if words.heal else "")
    scope = visible(audience, parameters)
    rows = f"""
        FROM notion_embeddings AS chunk
        JOIN notion_pages AS page ON page.id = chunk.page_id
        WHERE chunk.fingerprint = {space.literal} AND {scope}
    """
    lexical = _LEXICAL_NONE
    if asked is not None:
        lexical = _lexical(space, rows, asked, most)
    vectors = "NULL::vector AS embedding, NULL::float8 AS cosine"
    if query is not None:
        vectors = f"chunk.embedding, {_cosine(query)} AS cosine"
    sql = f"""
    WITH RECURSIVE {_SEMANTIC_NONE if query is None else _semantic(space, rows, query, most)},
    {lexical},
    found AS (
        SELECT
            coalesce(semantic.id, lexical.id) AS id,
            semantic.rank AS semantic_rank,
            lexical.rank AS lexical_rank,
            lexical.score AS lexical
        FROM semantic FULL OUTER JOIN lexical ON lexical.id = semantic.id
    )
    SELECT
        state.generation,
        state.active,
        EXISTS (SELECT FROM notion_embeddings WHERE fingerprint = {space.literal}) AS has_chunks,
        coalesce(
            (SELECT {BACKGROUND_STATE} FROM index_backgrounds WHERE fingerprint = {space.literal}), 0
        ) AS background,
        found.*,
        {_SHARE if asked is not None else "NULL::float8"} AS share,
        {vectors},
        chunk.page_id, chunk.chunk_level, chunk.chunk_index, chunk.chunk_text, chunk.heading_path,
        chunk.block_id, chunk.language,
        {PAGE_COLUMNS}
    FROM index_state AS state
    LEFT JOIN found ON true
    LEFT JOIN notion_embeddings AS chunk ON chunk.id = found.id
    LEFT JOIN notion_pages AS page ON page.id = chunk.page_id
    ORDER BY found.semantic_rank NULLS LAST, found.lexical_rank NULLS LAST, found.id
    """
    return Statement(sql, tuple(parameters.values))


def pages(*, words: WordQuery, audience: Audience, limit: int) -> Statement:
    """Whole pages by their words, with the stretch of text in which most of them stand."""
    parameters = Parameters()
    most = parameters.add(limit, "bigint")
    asked = _asked(words, parameters, weighed=False)
    query = asked.query if asked is not None else "''::tsquery"
    sql = f"""
    WITH asked AS MATERIALIZED (SELECT {query} AS words),
    found AS MATERIALIZED (
        SELECT page.id, ts_rank_cd(page.fts, (SELECT words FROM asked), 1) AS lexical
        FROM notion_pages AS page
        WHERE page.fts @@ (SELECT words FROM asked) AND {visible(audience, parameters)}
        ORDER BY lexical DESC, page.id
        LIMIT {most}
    )
    SELECT
        state.generation,
        EXISTS (SELECT FROM notion_pages) AS has_chunks,
        page.id AS page_id,
        found.lexical,
        row_number() OVER (ORDER BY found.lexical DESC, page.id) AS lexical_rank,
        ts_headline(
            page.configuration, left(page.content_text, {_SNIPPET_SOURCE}), (SELECT words FROM asked),
            {literal_options()}
        ) AS snippet,
        {PAGE_COLUMNS}
    FROM index_state AS state
    LEFT JOIN found ON true
    LEFT JOIN notion_pages AS page ON page.id = found.id
    ORDER BY lexical_rank
    """
    return Statement(sql, tuple(parameters.values))


def around(space: Space, stretches: Sequence[Stretch], *, audience: Audience) -> Statement:
    """Passages by their place on pages, those of summaries left out."""
    parameters = Parameters()
    pages_ = parameters.add([one.page_id for one in stretches], "uuid[]")
    first = parameters.add([one.first for one in stretches], "int[]")
    last = parameters.add([one.last for one in stretches], "int[]")
    sql = f"""
    SELECT
        chunk.id, NULL::bigint AS semantic_rank, NULL::bigint AS lexical_rank,
        NULL::float8 AS lexical, NULL::float8 AS cosine,
        chunk.page_id, chunk.chunk_level, chunk.chunk_index, chunk.chunk_text, chunk.heading_path,
        chunk.block_id, chunk.language,
        {PAGE_COLUMNS}
    FROM notion_embeddings AS chunk
    JOIN notion_pages AS page ON page.id = chunk.page_id
    WHERE chunk.fingerprint = {space.literal} AND chunk.chunk_level > 0 AND {visible(audience, parameters)}
        AND EXISTS (
            SELECT FROM unnest({pages_}, {first}, {last}) AS given (page_id, first, last)
            WHERE given.page_id = chunk.page_id AND chunk.chunk_index BETWEEN given.first AND given.last
        )
        AND chunk.page_id = ANY ({pages_})
    ORDER BY chunk.page_id, chunk.chunk_index
    """
    return Statement(sql, tuple(parameters.values))


def titles(ids: Sequence[PageId], *, audience: Audience) -> Statement:
    """Titles of pages, null where the audience may not see the page."""
    parameters = Parameters()
    wanted = parameters.add(list(ids), "uuid[]")
    sql = f"""
    SELECT page.id, CASE WHEN {visible(audience, parameters)} THEN page.title END AS title
    FROM notion_pages AS page
    WHERE page.id = ANY ({wanted})
    """
    return Statement(sql, tuple(parameters.values))


def literal_options() -> str:
    """The options of ts_headline as a literal."""
    return literal(SNIPPET_OPTIONS)


_SEMANTIC_NONE = """
semantic AS (SELECT NULL::bigint AS id, NULL::bigint AS rank WHERE false)
"""
_LEXICAL_NONE = """
lexical AS (SELECT NULL::bigint AS id, NULL::bigint AS rank, NULL::float8 AS score WHERE false)
"""


def _cosine(query: str) -> str:
    return f"1 - coalesce(nullif(chunk.embedding <=> {query}, 'NaN'), 1)"


def _semantic(space: Space, rows: str, query: str, most: str) -> str:
    # ``near`` walks the graph once for each language, which may end early under a narrow scope or skip what
    # no link reaches; ``few`` compares all of the rare languages; ``exact`` compares all that is in scope.
    # A one-time filter skips each when another one serves.
    language = f"""
        SELECT language FROM notion_embeddings
        WHERE fingerprint = {space.literal} AND %s
        ORDER BY language LIMIT 1
    """
    first, following = (
        language % f"(SELECT passages FROM scope) > {EXACT_BELOW}",
        language % ("language > each.language"),
    )
    return f"""
    scope AS MATERIALIZED (
        SELECT count(*) AS passages FROM (SELECT {rows} LIMIT {EXACT_BELOW + 1}) AS counted
    ),
    each AS (
        ({first})
        UNION ALL
        SELECT ({following}) FROM each WHERE each.language IS NOT NULL
    ),
    spoken AS MATERIALIZED (
        SELECT language, (
            SELECT count(*) FROM (
                SELECT FROM notion_embeddings AS one
                WHERE one.fingerprint = {space.literal} AND one.language = each.language
                LIMIT {EXACT_BELOW + 1}
            ) AS counted
        ) AS passages
        FROM each WHERE language IS NOT NULL
    ),
    near AS MATERIALIZED (
        SELECT found.id, found.embedding <=> {query} AS distance
        FROM spoken CROSS JOIN LATERAL (
            SELECT chunk.id, chunk.embedding
            {rows} AND chunk.language = spoken.language
            ORDER BY {space.distance(query)}
            LIMIT {most}
        ) AS found
        WHERE spoken.passages > {EXACT_BELOW}
    ),
    few AS MATERIALIZED (
        SELECT chunk.id, chunk.language, chunk.embedding <=> {query} AS distance
        {rows} AND chunk.language IN (SELECT language FROM spoken WHERE passages <= {EXACT_BELOW})
            AND (SELECT passages FROM scope) > {EXACT_BELOW}
    ),
    exact AS MATERIALIZED (
        SELECT chunk.id, chunk.language, chunk.embedding <=> {query} AS distance
        {rows} AND (SELECT count(*) FROM near) + (SELECT count(*) FROM few) < {most}
    ),
    measured AS (
        SELECT id, coalesce(nullif(distance, 'NaN'), 1) AS distance
        FROM (
            SELECT id, distance FROM near WHERE NOT EXISTS (SELECT FROM exact)
            UNION ALL
            SELECT id, distance
            FROM (
                SELECT id, distance, row_number() OVER (PARTITION BY language ORDER BY distance, id) AS place
                FROM (
                    SELECT * FROM exact
                    UNION ALL
                    SELECT * FROM few WHERE NOT EXISTS (SELECT FROM exact)
                ) AS compared
            ) AS placed
            WHERE place <= {most}
        ) AS nearest
    ),
    semantic AS (
        SELECT id, row_number() OVER (ORDER BY distance, id) AS rank FROM measured
    )
    """


def _lexical(space: Space, rows: str, asked: "_Asked", most: str) -> str:
    weights = f"footnote_question_weights({space.literal}, {asked.configuration}, %s)"
    wanted = weights % asked.terms
    # What others write instead counts where it stands; nobody has to write a name in two ways.
    counted = weights % asked.all_terms if asked.all_terms != asked.terms else "asked_for.weights"
    return f"""
    {_healed(space, asked) if "healed" in asked.all_terms else ""}
    asked AS MATERIALIZED (
        SELECT
            {asked.query} AS words,
            {counted} AS weights,
            -- No passage can say a word more than without end: k1 + 1 times its rarity. The quarter for words
            -- as they stand comes on top, since inflections lack it without saying less.
            2.2 / 1.25 * (asked_for.weights <+> '{{}}/268435457'::sparsevec) AS attainable
        FROM {wanted} AS asked_for (weights)
    ),
    matching AS MATERIALIZED (
        SELECT
            chunk.id,
            coalesce(
                (
                    SELECT -(weighed.weights <#> (SELECT weights FROM asked))
                    FROM notion_term_weights AS weighed
                    WHERE weighed.chunk_id = chunk.id
                ),
                0
            ) AS score
        {rows} AND chunk.fts @@ (SELECT words FROM asked)
        ORDER BY score DESC, chunk.id
        LIMIT {most}
    ),
    lexical AS (
        SELECT id, score, row_number() OVER (ORDER BY score DESC, id) AS rank FROM matching
    )
    """


def _healed(space: Space, asked: "_Asked") -> str:
    """The nearest words of the index for terms that no passage has: typing errors, compounds, endings."""
    return f"""
    healed AS MATERIALIZED (
        SELECT coalesce(array_agg(DISTINCT near.term), '{{}}') AS words
        FROM unnest({asked.terms}) AS one
        CROSS JOIN LATERAL (SELECT lower(footnote_unaccent(one)) AS word) AS folded
        CROSS JOIN LATERAL (
            SELECT known.term
            FROM notion_terms AS known
            WHERE known.fingerprint = {space.literal} AND known.kind = 'w' AND known.passages > 0
                AND known.term % folded.word AND similarity(known.term, folded.word) >= {ALIKE}
            ORDER BY similarity(known.term, folded.word) DESC, known.term
            LIMIT {MOST_ALIKE}
        ) AS near
        WHERE folded.word ~ '^[[:alpha:]]{{{SHORTEST_HEALED},}}$' AND NOT EXISTS (
            SELECT
            FROM footnote_terms({asked.configuration}, one) AS said
            JOIN notion_terms AS known
                ON (known.fingerprint, known.kind, known.term) = ({space.literal}, said.kind, said.term)
            WHERE known.passages > 0
        )
    ),
    """


@dataclass(frozen=True, slots=True)
class _Asked:
    """Expressions built by the server out of parameters alone: no sign of a question is syntax.

    ``terms`` are those of the question, ``all_terms`` with what may stand in their place.
    """

    query: str
    configuration: str
    terms: str
    all_terms: str


def _asked(words: WordQuery, parameters: Parameters, *, weighed: bool, healed: str = "") -> _Asked | None:
    """``weighed`` says that the terms are needed even where the question's own syntax finds."""
    if words.is_empty:
        return None
    configuration = f"footnote_configuration({parameters.add(words.language, 'text')})"
    if not weighed and words.web_syntax:
        return _Asked(_by_syntax(words, parameters, configuration), configuration, "", "")
    terms = every = parameters.add(list(words.terms), "text[]")
    if words.spellings:
        every = f"{every} || {parameters.add(list(words.spellings), 'text[]')}"
    if healed and not words.web_syntax:
        every = f"{every} || {healed}"
    if not words.web_syntax:
        query = f"(SELECT footnote_any(footnote_term({configuration}, term)) FROM unnest({every}) AS term)"
        return _Asked(query, configuration, terms, every)
    return _Asked(_by_syntax(words, parameters, configuration), configuration, terms, every)


def _by_syntax(words: WordQuery, parameters: Parameters, configuration: str) -> str:
    text = parameters.add(words.text, "text")
    excluded = parameters.add([a or b for a, b in _EXCLUDED.findall(words.text)], "text[]")
    # A page is left out whether the excluded word stands there as asked or in another form of the language.
    return f"""(
        (websearch_to_tsquery({configuration}, footnote_unaccent({text}))
            || websearch_to_tsquery('pg_catalog.simple', footnote_unaccent({text})))
        && coalesce((
            SELECT footnote_all(
                !! phraseto_tsquery({configuration}, footnote_unaccent(word))
                && !! phraseto_tsquery('pg_catalog.simple', footnote_unaccent(word))
            )
            FROM unnest({excluded}) AS word
        ), ''::tsquery)
    )"""
