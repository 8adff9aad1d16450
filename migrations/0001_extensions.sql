-- What Footnote needs of PostgreSQL beyond its core: vectors, accents, trigrams.

DO $$
DECLARE
    offered text := (SELECT default_version FROM pg_available_extensions WHERE name = 'vector');
    present text := (SELECT extversion FROM pg_extension WHERE extname = 'vector');
BEGIN
    IF offered IS NULL THEN
        RAISE EXCEPTION 'pgvector is not installed on this PostgreSQL server'
            USING HINT = 'Install the package postgresql-NN-pgvector (0.8 or newer), or use the image pgvector/pgvector.';
    END IF;
    IF present IS NULL THEN
        CREATE EXTENSION vector;
    ELSIF string_to_array(present, '.')::int[] < ARRAY[0, 8] THEN
        ALTER EXTENSION vector UPDATE;
    END IF;
    present := (SELECT extversion FROM pg_extension WHERE extname = 'vector');
    IF string_to_array(present, '.')::int[] < ARRAY[0, 8] THEN
        RAISE EXCEPTION 'pgvector % is too old, 0.8 or newer is needed', present
            USING HINT = 'Update pgvector on the server; filtered searches of older versions come back short.';
    END IF;
END
$$;

CREATE EXTENSION IF NOT EXISTS unaccent;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
