-- Chinese and Japanese have no stems: what the parser takes for one word is a whole clause, which no passage shares. Their
-- signs alone count, and in full, or words would weigh a fifth of what they do in other languages.
CREATE OR REPLACE FUNCTION footnote_question_weights(wanted text, configuration regconfig, terms text[])
RETURNS sparsevec
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH asked AS (
        SELECT DISTINCT found.kind, found.term, one ~ '[\u2e80-\u9fff\uf900-\ufaff]' AS has_signs
        FROM unnest(terms) AS one, footnote_terms(configuration, one) AS found
    ),
    weighed AS (
        SELECT
            footnote_term_id(asked.kind, asked.term) AS id,
            max(
                CASE WHEN asked.kind = 's' OR asked.has_signs THEN 1.0 ELSE 0.25 END
                * ln(1 + (made.passages - coalesce(known.passages, 0) + 0.5) / (coalesce(known.passages, 0) + 0.5))
            ) AS weight
        FROM asked
        JOIN index_fingerprints AS made ON made.fingerprint = wanted
        LEFT JOIN notion_terms AS known
            ON (known.fingerprint, known.kind, known.term) = (wanted, asked.kind, asked.term)
        WHERE NOT (asked.has_signs AND asked.kind = 's')
        GROUP BY 1
    )
    SELECT coalesce('{' || string_agg(id || ':' || weight::real, ',') || '}/268435457', '{}/268435457')::sparsevec
    FROM weighed
    WHERE weight > 0
$$;
