"""Page, database and data source objects as listing entries of the core."""

from adapters.sources.notion_json import Json, as_mapping, as_text, instant, page_id, type_of
from adapters.sources.notion_properties import Schema, render_properties, title_of
from adapters.sources.notion_text import page_address, render_line
from core.domain.documents import Block, BlockKind, ObjectType, PageRef
from core.domain.ids import PageId


def page_ref(
    page: Json,
    *,
    parent_id: PageId | None,
    schema: Schema | None = None,
) -> PageRef | None:
    """A page or row; null where the object has no id. ``parent_id`` is the nearest page or database above."""
    identifier = page_id(page.get("id"))
    if identifier is None:
        return None
    parent = as_mapping(page.get("parent"))
    is_row = type_of(parent) in {"data_source_id", "database_id"}
    return PageRef(
        id=identifier,
        title=title_of(page),
        url=as_text(page.get("url")) or page_address(identifier),
        parent_id=parent_id,
        last_edited=instant(page.get("last_edited_time")),
        object_type=ObjectType.ROW if is_row else ObjectType.PAGE,
        properties=render_properties(page, schema) if is_row else (),
        data_source_id=page_id(parent.get("data_source_id")),
        last_edited_by=_editor(page),
    )


def database_ref(database: Json, *, parent_id: PageId | None) -> PageRef | None:
    """A database as a page of its own: its title and description are content, its rows are its children."""
    identifier = page_id(database.get("id"))
    if identifier is None:
        return None
    return PageRef(
        id=identifier,
        title=title_of(database),
        url=as_text(database.get("url")) or page_address(identifier),
        parent_id=parent_id,
        last_edited=instant(database.get("last_edited_time")),
        object_type=ObjectType.DATABASE,
        last_edited_by=_editor(database),
    )


def database_blocks(database: Json) -> tuple[Block, ...]:
    """What a database says about itself."""
    description = render_line(database.get("description"))
    return (Block(BlockKind.PARAGRAPH, description),) if description else ()


def parent_of(held: Json) -> tuple[str, str]:
    """(kind, id) of the parent as the API names it; the id is canonical, or empty at the top (T25)."""
    parent = as_mapping(held.get("parent"))
    kind = type_of(parent)
    return kind, page_id(parent.get(kind)) or ""


def _editor(held: Json) -> str | None:
    user = as_mapping(held.get("last_edited_by"))
    return as_text(user.get("name")) or as_text(user.get("id")) or None
