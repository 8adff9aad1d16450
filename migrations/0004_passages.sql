-- Passages and their vectors, for one model or for several side by side.

-- What a fingerprint stands for, so that a mismatch can be explained.
CREATE TABLE index_fingerprints (
    fingerprint    text        PRIMARY KEY,
    model          text        NOT NULL,
    dimensions     int         NOT NULL CHECK (dimensions > 0),
    query_prefix   text        NOT NULL DEFAULT '',
    passage_prefix text        NOT NULL DEFAULT '',
    chunker        text        NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL DEFAULT now(),
    reuse_after    timestamptz NOT NULL DEFAULT '-infinity'  -- older vectors are made again, not reused
);
ALTER TABLE index_state ADD FOREIGN KEY (active) REFERENCES index_fingerprints (fingerprint);

CREATE TABLE notion_embeddings (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    page_id          uuid        NOT NULL REFERENCES notion_pages (id) ON DELETE CASCADE,
    chunk_level      smallint    NOT NULL,
    chunk_index      int         NOT NULL,
    chunk_text       text        NOT NULL,
    page_title       text        NOT NULL,               -- the breadcrumb that was embedded with the text
    heading_context  text        NOT NULL DEFAULT '',
    heading_path     jsonb       NOT NULL DEFAULT '[]',  -- [[level, text], ...]
    block_id         uuid,
    attachment_id    text,
    overlap          int         NOT NULL DEFAULT 0,
    language         text        NOT NULL DEFAULT '',
    configuration    regconfig   NOT NULL DEFAULT 'pg_catalog.simple',
    model_name       text        NOT NULL,
    model_dimensions int         NOT NULL,
    fingerprint      text        NOT NULL REFERENCES index_fingerprints (fingerprint),
    text_hash        text        NOT NULL,
    embedding        vector      NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    fts              tsvector    NOT NULL
        GENERATED ALWAYS AS (footnote_weighted(configuration, page_title, heading_context, chunk_text)) STORED,
    UNIQUE (page_id, chunk_level, chunk_index, fingerprint),
    CHECK (vector_dims(embedding) = model_dimensions)
);

-- Vectors stay in the row as long as they fit: exact scans read them all.
ALTER TABLE notion_embeddings ALTER COLUMN embedding SET STORAGE MAIN;

CREATE INDEX notion_embeddings_fts ON notion_embeddings USING gin (fts);
CREATE INDEX notion_embeddings_text ON notion_embeddings (fingerprint, text_hash);
CREATE INDEX notion_embeddings_page ON notion_embeddings (fingerprint, page_id);

-- How far each page is embedded under each fingerprint.
CREATE TABLE notion_embedded (
    page_id     uuid        NOT NULL REFERENCES notion_pages (id) ON DELETE CASCADE,
    fingerprint text        NOT NULL REFERENCES index_fingerprints (fingerprint),
    revision    bigint      NOT NULL,
    embedded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (page_id, fingerprint)
);

CREATE FUNCTION footnote_passages_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM changed_passages) THEN
        PERFORM footnote_raise_generation();
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER notion_embeddings_inserted AFTER INSERT ON notion_embeddings
    REFERENCING NEW TABLE AS changed_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_passages_changed();
CREATE TRIGGER notion_embeddings_updated AFTER UPDATE ON notion_embeddings
    REFERENCING NEW TABLE AS changed_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_passages_changed();
CREATE TRIGGER notion_embeddings_deleted AFTER DELETE ON notion_embeddings
    REFERENCING OLD TABLE AS changed_passages FOR EACH STATEMENT EXECUTE FUNCTION footnote_passages_changed();
CREATE TRIGGER notion_embeddings_truncated AFTER TRUNCATE ON notion_embeddings
    FOR EACH STATEMENT EXECUTE FUNCTION footnote_truncated();

CREATE FUNCTION footnote_activated() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.generation := greatest(NEW.generation, OLD.generation + 1);
    RETURN NEW;
END
$$;

CREATE TRIGGER index_state_activated BEFORE UPDATE OF active ON index_state
    FOR EACH ROW WHEN (OLD.active IS DISTINCT FROM NEW.active) EXECUTE FUNCTION footnote_activated();
