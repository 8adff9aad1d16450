-- BM25 (k1 1.2, b 0.75): the inverted index finds passages, these weights rank them.
--
-- A passage's weights are a sparse vector over all terms: how often it holds each, saturated, and set against its
-- length. A question's are the inverse document frequencies of its terms. The inner product of both is BM25.
-- Stems and words as they stand are terms of their own: 's' and 'w'.

CREATE TABLE notion_terms (
    fingerprint text NOT NULL REFERENCES index_fingerprints (fingerprint) ON DELETE CASCADE,
    kind        text NOT NULL,
    term        text NOT NULL,
    passages    int  NOT NULL,
    PRIMARY KEY (fingerprint, kind, term)
);

-- Beside the passages, not in them: they change together with the average length, and stay in their row.
CREATE TABLE notion_term_weights (
    chunk_id bigint    PRIMARY KEY REFERENCES notion_embeddings (id) ON DELETE CASCADE,
    words    int       NOT NULL,
    weights  sparsevec NOT NULL
);

ALTER TABLE index_fingerprints
    ADD COLUMN passages bigint NOT NULL DEFAULT 0,
    ADD COLUMN words bigint NOT NULL DEFAULT 0,
    ADD COLUMN average_words float8 NOT NULL DEFAULT 0;  -- as it was when the weights were last made

CREATE FUNCTION footnote_term_id(kind text, term text) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || substr(md5(kind || term), 1, 7))::bit(28)::int + 1;

-- The terms of a passage with their numbers; title and headings count like the text.
CREATE FUNCTION footnote_terms(configuration regconfig, words text)
RETURNS TABLE (kind text, term text, occurrences int)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT 's', lexeme, cardinality(positions)
    FROM unnest(to_tsvector(configuration, footnote_unaccent(left(words, 20000))))
    UNION ALL
    SELECT 'w', lexeme, cardinality(positions)
    FROM unnest(to_tsvector('pg_catalog.simple', footnote_separated(footnote_unaccent(left(words, 20000)))))
$$;

CREATE FUNCTION footnote_passage_text(passage notion_embeddings) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN passage.page_title || E'\n' || passage.heading_context || E'\n' || passage.chunk_text;

CREATE FUNCTION footnote_weights(configuration regconfig, text_ text, average_words float8)
RETURNS TABLE (words int, weights sparsevec)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    WITH terms AS MATERIALIZED (
        SELECT footnote_term_id(kind, term) AS id, kind, max(occurrences) AS occurrences
        FROM footnote_terms(configuration, text_)
        GROUP BY 1, 2
        ORDER BY occurrences DESC, id
        LIMIT 8000  -- a sparse vector holds 16,000 figures
    ),
    length AS (
        SELECT coalesce(sum(occurrences) FILTER (WHERE kind = 's'), 0)::int AS words FROM terms
    )
    SELECT
        length.words,
        coalesce(
            (
                SELECT
                    '{' || string_agg(
                        id || ':' || (
                            occurrences * 2.2 / (
                                occurrences
                                + 1.2 * (0.25 + 0.75 * length.words / greatest(average_words, 1))
                            )
                        )::real,
                        ','
                    ) || '}/268435457'
                FROM (SELECT id, max(occurrences) AS occurrences FROM terms GROUP BY id) AS distinct_terms
            ),
            '{}/268435457'
        )::sparsevec
    FROM length
$$;

-- Weights of all passages of a fingerprint, for the average length as it is now.
CREATE FUNCTION footnote_weigh(wanted text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    average float8 := (
        SELECT made.words::float8 / nullif(made.passages, 0)
        FROM index_fingerprints AS made WHERE made.fingerprint = wanted
    );
BEGIN
    UPDATE index_fingerprints SET average_words = coalesce(average, 0) WHERE fingerprint = wanted;
    INSERT INTO notion_term_weights (chunk_id, words, weights)
    SELECT passage.id, made.words, made.weights
    FROM notion_embeddings AS passage,
        footnote_weights(passage.configuration, footnote_passage_text(passage), coalesce(average, 0)) AS made
    WHERE passage.fingerprint = wanted
    ON CONFLICT (chunk_id) DO UPDATE SET words = excluded.words, weights = excluded.weights;
END
$$;

-- Everything counted anew, for passages that were stored while triggers were off.
CREATE FUNCTION footnote_count_terms(wanted text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM notion_terms WHERE fingerprint = wanted;
    INSERT INTO notion_terms (fingerprint, kind, term, passages)
    SELECT wanted, found.kind, found.term, count(*)
    FROM notion_embeddings AS passage,
        footnote_terms(passage.configuration, footnote_passage_text(passage)) AS found
    WHERE passage.fingerprint = wanted
    GROUP BY found.kind, found.term;
    PERFORM footnote_weigh(wanted);
    UPDATE index_fingerprints AS made
    SET passages = counted.passages, words = counted.words
    FROM (
        SELECT count(*) AS passages, coalesce(sum(weighed.words), 0) AS words
        FROM notion_embeddings AS passage JOIN notion_term_weights AS weighed ON weighed.chunk_id = passage.id
        WHERE passage.fingerprint = wanted
    ) AS counted
    WHERE made.fingerprint = wanted;
    PERFORM footnote_weigh(wanted);
END
$$;

CREATE FUNCTION footnote_terms_removed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('footnote.drop', true) = 'on' OR NOT EXISTS (SELECT FROM old_passages) THEN
        RETURN NULL;  -- a whole fingerprint goes, and its terms with it
    END IF;
    WITH gone AS MATERIALIZED (
        SELECT passage.fingerprint, passage.id, found.*
        FROM old_passages AS passage,
            footnote_terms(passage.configuration, footnote_passage_text(passage::notion_embeddings)) AS found
    ), counted AS (
        UPDATE notion_terms AS known
        SET passages = known.passages - less.passages
        FROM (SELECT fingerprint, kind, term, count(*)::int AS passages FROM gone GROUP BY 1, 2, 3) AS less
        WHERE (known.fingerprint, known.kind, known.term) = (less.fingerprint, less.kind, less.term)
    )
    UPDATE index_fingerprints AS made
    SET passages = made.passages - less.passages, words = made.words - less.words
    FROM (
        SELECT passage.fingerprint, count(*) AS passages, coalesce(sum(length.words), 0) AS words
        FROM old_passages AS passage
        LEFT JOIN (
            SELECT id, sum(occurrences) FILTER (WHERE kind = 's') AS words FROM gone GROUP BY id
        ) AS length USING (id)
        GROUP BY passage.fingerprint
    ) AS less
    WHERE made.fingerprint = less.fingerprint;
    RETURN NULL;
END
$$;

CREATE FUNCTION footnote_terms_added() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed text;
BEGIN
    IF NOT EXISTS (SELECT FROM new_passages) THEN
        RETURN NULL;
    END IF;
    WITH come AS MATERIALIZED (
        SELECT passage.fingerprint, passage.id, found.*
        FROM new_passages AS passage,
            footnote_terms(passage.configuration, footnote_passage_text(passage::notion_embeddings)) AS found
    ), counted AS (
        INSERT INTO notion_terms AS known (fingerprint, kind, term, passages)
        SELECT fingerprint, kind, term, count(*) FROM come GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (fingerprint, kind, term) DO UPDATE SET passages = known.passages + excluded.passages
    )
    UPDATE index_fingerprints AS made
    SET passages = made.passages + more.passages, words = made.words + more.words
    FROM (
        SELECT passage.fingerprint, count(*) AS passages, coalesce(sum(length.words), 0) AS words
        FROM new_passages AS passage
        LEFT JOIN (
            SELECT id, sum(occurrences) FILTER (WHERE kind = 's') AS words FROM come GROUP BY id
        ) AS length USING (id)
        GROUP BY passage.fingerprint
    ) AS more
    WHERE made.fingerprint = more.fingerprint;
    -- The average length is part of every weight: all are made again once it has drifted, which is soon over.
    FOR changed IN
        SELECT made.fingerprint FROM index_fingerprints AS made
        WHERE made.fingerprint IN (SELECT fingerprint FROM new_passages)
          AND abs(made.words::float8 / nullif(made.passages, 0) - made.average_words) > 0.05 * made.average_words
    LOOP
        PERFORM footnote_weigh(changed);
    END LOOP;
    INSERT INTO notion_term_weights (chunk_id, words, weights)
    SELECT passage.id, made.words, made.weights
    FROM new_passages AS passage
    JOIN index_fingerprints AS contract USING (fingerprint),
        footnote_weights(
            passage.configuration, footnote_passage_text(passage::notion_embeddings), contract.average_words
        ) AS made
    ON CONFLICT (chunk_id) DO UPDATE SET words = excluded.words, weights = excluded.weights;
    RETURN NULL;
END
$$;

CREATE TRIGGER notion_terms_inserted AFTER INSERT ON notion_embeddings
    REFERENCING NEW TABLE AS new_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_terms_added();
CREATE TRIGGER notion_terms_updated_1 AFTER UPDATE ON notion_embeddings
    REFERENCING OLD TABLE AS old_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_terms_removed();
CREATE TRIGGER notion_terms_updated_2 AFTER UPDATE ON notion_embeddings
    REFERENCING NEW TABLE AS new_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_terms_added();
CREATE TRIGGER notion_terms_deleted AFTER DELETE ON notion_embeddings
    REFERENCING OLD TABLE AS old_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_terms_removed();

-- A question's weights: how rare each of its terms is. A word as it stands counts a quarter beside its stem, so that
-- the exact form comes first and names are found in any language.
CREATE FUNCTION footnote_question_weights(wanted text, configuration regconfig, terms text[]) RETURNS sparsevec
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH asked AS (
        SELECT DISTINCT found.kind, found.term
        FROM unnest(terms) AS one, footnote_terms(configuration, one) AS found
    ),
    weighed AS (
        SELECT
            footnote_term_id(asked.kind, asked.term) AS id,
            max(
                CASE asked.kind WHEN 's' THEN 1.0 ELSE 0.25 END
                * ln(1 + (made.passages - coalesce(known.passages, 0) + 0.5) / (coalesce(known.passages, 0) + 0.5))
            ) AS weight
        FROM asked
        JOIN index_fingerprints AS made ON made.fingerprint = wanted
        LEFT JOIN notion_terms AS known
            ON (known.fingerprint, known.kind, known.term) = (wanted, asked.kind, asked.term)
        GROUP BY 1
    )
    SELECT coalesce('{' || string_agg(id || ':' || weight::real, ',') || '}/268435457', '{}/268435457')::sparsevec
    FROM weighed
    WHERE weight > 0
$$;
