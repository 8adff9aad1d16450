-- Looks that a run owes, noted before what causes them is stored, so that whoever comes after a killed run takes
-- them up: pages that a page names and that were not read yet, pages that it names no longer, and (reread) pages
-- whose blocks name what came or went.
CREATE TABLE sync_owed (
    page_id uuid        PRIMARY KEY,
    reread  boolean     NOT NULL DEFAULT false,
    source  text        NOT NULL,
    owner   text        NOT NULL,                   -- the run that is to settle it
    since   timestamptz NOT NULL DEFAULT now()
);

-- One row for every object ever seen, so that the fates add up.
CREATE OR REPLACE VIEW sync_ledger AS
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
    coalesce(trouble.last_try, page.synced_at) AS seen_at,
    CASE WHEN NOT trouble.skipped THEN trouble.next_try END AS next_try
FROM notion_pages AS page
LEFT JOIN sync_troubles AS trouble ON trouble.page_id = page.id
LEFT JOIN notion_embedded AS state
    ON state.page_id = page.id AND state.fingerprint = (SELECT active FROM index_state)
UNION ALL
SELECT
    trouble.page_id, trouble.title, trouble.url,
    CASE WHEN trouble.skipped THEN 'skipped' ELSE 'failed' END,
    trouble.reason, trouble.last_try,
    CASE WHEN NOT trouble.skipped THEN trouble.next_try END
FROM sync_troubles AS trouble
WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.id = trouble.page_id)
UNION ALL
SELECT owed.page_id, '', '', 'pending', 'a page names it, and it was not read yet', owed.since, NULL
FROM sync_owed AS owed
WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.id = owed.page_id)
  AND NOT EXISTS (SELECT FROM sync_troubles AS trouble WHERE trouble.page_id = owed.page_id)
UNION ALL
SELECT gone.page_id, gone.title, gone.url, 'gone', gone.proof, gone.removed_at, NULL
FROM notion_tombstones AS gone
WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.id = gone.page_id)
  AND NOT EXISTS (SELECT FROM sync_troubles AS trouble WHERE trouble.page_id = gone.page_id)
  AND NOT EXISTS (SELECT FROM sync_owed AS owed WHERE owed.page_id = gone.page_id);
