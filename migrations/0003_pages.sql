-- Pages as they are in Notion: where they live, what they say, and whether the index is behind.

CREATE TABLE notion_pages (
    id              uuid        PRIMARY KEY,
    parent_id       uuid,       -- nearest page or database above, whether it is stored or not
    data_source_id  uuid,       -- for rows of a database
    path            uuid[]      NOT NULL DEFAULT '{}',  -- itself and everything above; kept by a trigger
    breadcrumb      text        NOT NULL DEFAULT '',    -- up to two ancestors and the title; kept by a trigger
    object_type     text        NOT NULL DEFAULT 'page' CHECK (object_type IN ('page', 'database', 'row')),
    title           text        NOT NULL,
    url             text        NOT NULL,
    content_text    text        NOT NULL DEFAULT '',
    content_md5     text        NOT NULL GENERATED ALWAYS AS (md5(content_text)) STORED,
    content_hash    text        NOT NULL,               -- over title, parents, url, properties and content
    has_text        boolean     NOT NULL GENERATED ALWAYS AS (content_text ~ '[^[:space:]]') STORED,
    blocks          jsonb       NOT NULL DEFAULT '[]',  -- the tree as read, so that no change of ours costs a request
    properties      jsonb       NOT NULL DEFAULT '[]',
    refers_to       uuid[]      NOT NULL DEFAULT '{}',  -- pages whose titles stand in its blocks or properties
    language        text        NOT NULL DEFAULT '',
    configuration   regconfig   NOT NULL DEFAULT 'pg_catalog.simple',
    revision        bigint      NOT NULL DEFAULT 1,     -- rises with anything that is embedded or cited
    last_edited     timestamptz,
    last_edited_by  text,
    synced_at       timestamptz NOT NULL DEFAULT now(),
    embedded_at     timestamptz,                        -- under the active fingerprint
    fts             tsvector    NOT NULL
        GENERATED ALWAYS AS (footnote_weighted(configuration, title, breadcrumb, content_text)) STORED
);

CREATE INDEX notion_pages_parent ON notion_pages (parent_id);
CREATE INDEX notion_pages_path ON notion_pages USING gin (path);
CREATE INDEX notion_pages_refers_to ON notion_pages USING gin (refers_to);
CREATE INDEX notion_pages_synced ON notion_pages (synced_at);
CREATE INDEX notion_pages_fts ON notion_pages USING gin (fts);

-- Why a page is no longer here, for whoever asks.
CREATE TABLE notion_tombstones (
    page_id    uuid        PRIMARY KEY,
    proof      text        NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now()
);

-- One row. The generation rises in every transaction that changes what a search can return.
CREATE TABLE index_state (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    generation bigint  NOT NULL DEFAULT 1,
    active     text                                      -- the fingerprint that searches use
);
INSERT INTO index_state DEFAULT VALUES;

CREATE FUNCTION footnote_raise_generation() RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    UPDATE index_state SET generation = generation + 1;
END;

-- A title as breadcrumbs show it.
CREATE FUNCTION footnote_title(title text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(nullif(regexp_replace(title, '^\s+|\s+$', '', 'g'), ''), 'Untitled');

-- Paths and breadcrumbs of the given pages and of everything below them, out of the parents as they are now.
-- Where a parent is not stored, what was known of the way up is kept as long as the parent is the same: a page
-- must not slip out of an excluded part of the workspace because the page above it vanished first.
CREATE FUNCTION footnote_place(changed uuid[]) RETURNS void
LANGUAGE sql
AS $$
    WITH RECURSIVE affected AS (
        SELECT id FROM notion_pages WHERE id = ANY (changed)
        UNION
        SELECT child.id FROM notion_pages AS child JOIN affected ON child.parent_id = affected.id
    ),
    climb AS (
        SELECT
            page.id,
            page.id AS reached,
            page.parent_id,
            array_remove(ARRAY[page.id, page.data_source_id], NULL) AS path,
            ARRAY[footnote_title(page.title)] AS titles,
            1 AS height
        FROM notion_pages AS page
        JOIN affected ON affected.id = page.id
        UNION ALL
        SELECT
            climb.id,
            parent.id,
            parent.parent_id,
            climb.path || array_remove(ARRAY[parent.id, parent.data_source_id], NULL),
            CASE
                WHEN climb.height < 3
                THEN footnote_title(parent.title) || climb.titles
                ELSE climb.titles
            END,
            climb.height + 1
        FROM climb
        JOIN notion_pages AS parent ON parent.id = climb.parent_id AND parent.id <> ALL (climb.path)
    ),
    top AS (
        SELECT DISTINCT ON (id) id, reached, parent_id, path, titles
        FROM climb
        ORDER BY id, height DESC
    ),
    placed AS (
        SELECT
            top.id,
            CASE
                WHEN top.parent_id IS NULL OR top.parent_id = ANY (top.path) THEN top.path
                ELSE top.path || coalesce(
                    -- What the topmost known page still remembers of the way from its parent up.
                    (
                        SELECT remembered.path[array_position(remembered.path, top.parent_id):]
                        FROM notion_pages AS remembered
                        WHERE remembered.id = top.reached AND top.parent_id = ANY (remembered.path)
                    ),
                    ARRAY[top.parent_id]
                )
            END AS path,
            CASE
                WHEN cardinality(top.titles) = 1 AND page.title ~ '^\s*$' THEN ''
                ELSE array_to_string(top.titles, ' > ')
            END AS breadcrumb
        FROM top
        JOIN notion_pages AS page ON page.id = top.id
    )
    UPDATE notion_pages AS page
    SET path = placed.path,
        breadcrumb = placed.breadcrumb,
        -- The breadcrumb is part of what is embedded.
        revision = page.revision + (page.breadcrumb <> placed.breadcrumb AND page.path <> '{}')::int
    FROM placed
    WHERE page.id = placed.id
      AND (page.path, page.breadcrumb) IS DISTINCT FROM (placed.path, placed.breadcrumb);
$$;

CREATE FUNCTION footnote_pages_inserted() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[] := (SELECT array_agg(id) FROM new_pages);
BEGIN
    IF changed IS NOT NULL THEN
        PERFORM footnote_place(changed);
        PERFORM footnote_raise_generation();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION footnote_pages_updated() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    moved uuid[] := (
        SELECT array_agg(id)
        FROM new_pages AS page JOIN old_pages AS former USING (id)
        WHERE (page.parent_id, page.data_source_id, page.title)
            IS DISTINCT FROM (former.parent_id, former.data_source_id, former.title)
    );
BEGIN
    IF moved IS NOT NULL THEN
        PERFORM footnote_place(moved);
    END IF;
    IF EXISTS (
        SELECT FROM new_pages AS page JOIN old_pages AS former USING (id)
        WHERE (page.path, page.breadcrumb, page.title, page.url, page.content_hash, page.last_edited)
            IS DISTINCT FROM
            (former.path, former.breadcrumb, former.title, former.url, former.content_hash, former.last_edited)
    ) THEN
        PERFORM footnote_raise_generation();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION footnote_pages_deleted() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM old_pages) THEN
        PERFORM footnote_raise_generation();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION footnote_truncated() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM footnote_raise_generation();
    RETURN NULL;
END
$$;

CREATE TRIGGER notion_pages_inserted AFTER INSERT ON notion_pages
    REFERENCING NEW TABLE AS new_pages FOR EACH STATEMENT EXECUTE FUNCTION footnote_pages_inserted();
CREATE TRIGGER notion_pages_updated AFTER UPDATE ON notion_pages
    REFERENCING OLD TABLE AS old_pages NEW TABLE AS new_pages
    FOR EACH STATEMENT EXECUTE FUNCTION footnote_pages_updated();
CREATE TRIGGER notion_pages_deleted AFTER DELETE ON notion_pages
    REFERENCING OLD TABLE AS old_pages FOR EACH STATEMENT EXECUTE FUNCTION footnote_pages_deleted();
CREATE TRIGGER notion_pages_truncated AFTER TRUNCATE ON notion_pages
    FOR EACH STATEMENT EXECUTE FUNCTION footnote_truncated();
