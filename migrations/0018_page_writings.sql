-- What a chat model wrote about pages (summaries, contexts), by the hash of what it was asked: paid for once, and gone
-- with the page.
CREATE TABLE page_writings (
    page_id uuid        NOT NULL REFERENCES notion_pages (id) ON DELETE CASCADE,
    key     text        NOT NULL,
    text    text        NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (page_id, key)
);
