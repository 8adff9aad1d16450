-- What similarity means by chance in this index, learned at the end of a sync: the core's own figures, in its own
-- format. Kept beside the fingerprint they belong to.
CREATE TABLE index_backgrounds (
    fingerprint text        PRIMARY KEY REFERENCES index_fingerprints (fingerprint) ON DELETE CASCADE,
    learned_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    passages    bigint      NOT NULL,  -- how many there were
    figures     bytea       NOT NULL
);

-- Which languages there are, and a language's passages where they are few.
CREATE INDEX notion_embeddings_language ON notion_embeddings (fingerprint, language);

-- What is found and refused follows the background, so answers kept from before must not be given again.
CREATE FUNCTION footnote_background_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM footnote_raise_generation();
    RETURN NULL;
END
$$;

CREATE TRIGGER index_backgrounds_changed AFTER INSERT OR UPDATE ON index_backgrounds
    FOR EACH STATEMENT EXECUTE FUNCTION footnote_background_changed();
