-- A title is content: once its page is removed it must stand in no breadcrumb below either, although the page below may
-- stay (it is shared by itself, or was moved away and not read yet). Its path keeps the removed page, as before.
CREATE OR REPLACE FUNCTION footnote_pages_deleted() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    below uuid[] := (
        SELECT array_agg(page.id) FROM notion_pages AS page JOIN old_pages ON old_pages.id = page.parent_id
    );
BEGIN
    IF below IS NOT NULL THEN
        PERFORM footnote_place(below);
    END IF;
    IF EXISTS (SELECT FROM old_pages) THEN
        PERFORM footnote_raise_generation();
    END IF;
    RETURN NULL;
END
$$;
