-- What became of every object that a sync ever saw, and what each run did.

-- Objects that could not be brought up to date; those that came out well are not here.
CREATE TABLE sync_troubles (
    page_id  uuid        PRIMARY KEY,
    title    text        NOT NULL DEFAULT '',
    url      text        NOT NULL DEFAULT '',
    reason   text        NOT NULL,
    skipped  boolean     NOT NULL DEFAULT false,    -- nobody can read it: not tried again
    tries    int         NOT NULL DEFAULT 1,
    since    timestamptz NOT NULL DEFAULT now(),
    last_try timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sync_runs (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started     timestamptz NOT NULL,
    finished    timestamptz NOT NULL,
    reached_end boolean     NOT NULL,               -- the listing or the changes came to their end
    complete    boolean     NOT NULL,               -- everything was listed, not only changes
    figures     jsonb       NOT NULL DEFAULT '{}'
);

CREATE INDEX sync_runs_started ON sync_runs (started DESC) WHERE reached_end;

ALTER TABLE notion_tombstones
    ADD COLUMN title text NOT NULL DEFAULT '',
    ADD COLUMN url   text NOT NULL DEFAULT '';

-- One row for every object ever seen, so that the fates add up.
CREATE VIEW sync_ledger AS
SELECT
    page.id,
    page.title,
    page.url,
    CASE
        WHEN trouble.skipped THEN 'skipped'
        WHEN trouble.page_id IS NOT NULL THEN 'failed'
        WHEN NOT page.has_text THEN 'empty'
        WHEN state.revision = page.revision THEN 'indexed'
        ELSE 'pending'
    END AS fate,
    coalesce(trouble.reason, '') AS reason,
    coalesce(trouble.last_try, page.synced_at) AS seen_at
FROM notion_pages AS page
LEFT JOIN sync_troubles AS trouble ON trouble.page_id = page.id
LEFT JOIN notion_embedded AS state
    ON state.page_id = page.id AND state.fingerprint = (SELECT active FROM index_state)
UNION ALL
SELECT
    trouble.page_id, trouble.title, trouble.url,
    CASE WHEN trouble.skipped THEN 'skipped' ELSE 'failed' END,
    trouble.reason, trouble.last_try
FROM sync_troubles AS trouble
WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.id = trouble.page_id)
UNION ALL
SELECT gone.page_id, gone.title, gone.url, 'gone', gone.proof, gone.removed_at
FROM notion_tombstones AS gone
WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.id = gone.page_id)
  AND NOT EXISTS (SELECT FROM sync_troubles AS trouble WHERE trouble.page_id = gone.page_id);
