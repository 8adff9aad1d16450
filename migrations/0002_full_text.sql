-- Full-text search in every language PostgreSQL can stem, with accents folded on both sides.

-- unaccent() is only STABLE, since its dictionary could be edited; naming the dictionary makes the promise of
-- IMMUTABLE good enough for stored columns. The extension may live in any schema.
DO $$
DECLARE
    home text := (
        SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'unaccent'
    );
BEGIN
    EXECUTE format(
        'CREATE FUNCTION footnote_unaccent(words text) RETURNS text '
        'LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE '
        'RETURN %1$I.unaccent(%2$L::regdictionary, words)',
        home, format('%I.unaccent', home)
    );
END
$$;

-- PostgreSQL's parser keeps "HR/Payroll", "mail@example.org" and "ERR-42" as one word each; with the signs
-- taken away their parts are found as well. Signs that tell names apart (C++, C#, #42, .NET) become letters. Chinese
-- and Japanese are written without spaces: each of their signs becomes a word, to be found as a phrase.
CREATE FUNCTION footnote_separated(words text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN translate(
    CASE
        WHEN words !~ '\+\+|#|(^|\s)\.\w|[\u2e80-\u9fff\uf900-\ufaff]' THEN words
        ELSE regexp_replace(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(words, '(\w)\+\+', '\1plusplus', 'g'),
                        '([[:alpha:]])#', '\1sharp', 'g'
                    ),
                    '#(\d)', ' hash\1', 'g'
                ),
                '(^|\s)\.([[:alpha:]])', '\1dot\2', 'g'
            ),
            '([\u2e80-\u9fff\uf900-\ufaff])', ' \1 ', 'g'
        )
    END,
    '/\._-:@+#=&%~^|*<>{}[]()!?;,"''', repeat(' ', 34)
);

-- ISO 639-1 to PostgreSQL's configuration; what this server does not have (estonian came with version 18), and
-- languages nobody can stem, fall back to simple.
CREATE FUNCTION footnote_configuration(language text) RETURNS regconfig
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(
    (
        SELECT config.oid::regconfig
        FROM pg_catalog.pg_ts_config AS config
        WHERE config.cfgnamespace = 'pg_catalog'::regnamespace
          AND config.cfgname = CASE lower(split_part(coalesce(language, ''), '-', 1))
              WHEN 'ar' THEN 'arabic'
              WHEN 'ca' THEN 'catalan'
              WHEN 'da' THEN 'danish'
              WHEN 'de' THEN 'german'
              WHEN 'el' THEN 'greek'
              WHEN 'en' THEN 'english'
              WHEN 'es' THEN 'spanish'
              WHEN 'et' THEN 'estonian'
              WHEN 'eu' THEN 'basque'
              WHEN 'fi' THEN 'finnish'
              WHEN 'fr' THEN 'french'
              WHEN 'ga' THEN 'irish'
              WHEN 'hi' THEN 'hindi'
              WHEN 'hu' THEN 'hungarian'
              WHEN 'hy' THEN 'armenian'
              WHEN 'id' THEN 'indonesian'
              WHEN 'it' THEN 'italian'
              WHEN 'lt' THEN 'lithuanian'
              WHEN 'nb' THEN 'norwegian'
              WHEN 'ne' THEN 'nepali'
              WHEN 'nl' THEN 'dutch'
              WHEN 'nn' THEN 'norwegian'
              WHEN 'no' THEN 'norwegian'
              WHEN 'pt' THEN 'portuguese'
              WHEN 'ro' THEN 'romanian'
              WHEN 'ru' THEN 'russian'
              WHEN 'sr' THEN 'serbian'
              WHEN 'sv' THEN 'swedish'
              WHEN 'ta' THEN 'tamil'
              WHEN 'tr' THEN 'turkish'
              WHEN 'yi' THEN 'yiddish'
          END
    ),
    'pg_catalog.simple'::regconfig
);

-- One text as it is searched: stems of its language, and beside them every word as it stands.
CREATE FUNCTION footnote_words(configuration regconfig, words text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_tsvector(configuration, footnote_unaccent(coalesce(words, '')))
    || to_tsvector('pg_catalog.simple', footnote_separated(footnote_unaccent(coalesce(words, ''))));

-- Title, headings and body with their weights. A tsvector holds 1 MiB: of a longer text only the beginning is
-- searched by words, so that the row can be stored at all.
CREATE FUNCTION footnote_weighted(configuration regconfig, a text, b text, d text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    most int := 100000;
BEGIN
    LOOP
        BEGIN
            RETURN setweight(footnote_words(configuration, left(a, 2000)), 'A')
                || setweight(footnote_words(configuration, left(b, 4000)), 'B')
                || setweight(footnote_words(configuration, left(d, most)), 'D');
        EXCEPTION WHEN program_limit_exceeded THEN
            IF most < 100 THEN
                RETURN ''::tsvector;
            END IF;
            most := most / 2;
        END;
    END LOOP;
END
$$;

-- One term of a question, as footnote_words would have stored it. Compounds of the Germanic and Finnic languages
-- and Hungarian begin with the word that was asked for ("Vertretung" in "Vertretungsplan").
CREATE FUNCTION footnote_term(configuration regconfig, term text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN plainto_tsquery(configuration, footnote_unaccent(term))
    || phraseto_tsquery('pg_catalog.simple', footnote_separated(footnote_unaccent(term)))
    || CASE
        WHEN configuration::text IN (
            'german', 'dutch', 'danish', 'swedish', 'norwegian', 'finnish', 'estonian', 'hungarian'
        )
        THEN (
            SELECT coalesce(
                (array_agg((quote_literal(lexeme) || ':*')::tsquery) FILTER (WHERE length(lexeme) > 4))[1],
                ''::tsquery
            )
            FROM unnest(to_tsvector(configuration, footnote_unaccent(term)))
        )
        ELSE ''::tsquery
    END;

CREATE AGGREGATE footnote_any(tsquery) (SFUNC = tsquery_or, STYPE = tsquery, INITCOND = '', PARALLEL = SAFE);
CREATE AGGREGATE footnote_all(tsquery) (SFUNC = tsquery_and, STYPE = tsquery, INITCOND = '', PARALLEL = SAFE);
