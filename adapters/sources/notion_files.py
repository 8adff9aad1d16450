"""Files on a Notion page: which there are, under which lasting key, and where one can be had right now."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from urllib.parse import unquote, urlsplit, urlunsplit

from adapters.sources.notion_blocks import OWN_PAGES, children_of
from adapters.sources.notion_json import (
    Json,
    as_list,
    as_mapping,
    as_text,
    block_id,
    is_gone,
    payload,
    type_of,
)
from core.domain.files import Attachment, AttachmentKind

_DOCUMENTS = frozenset({"file", "pdf", "embed"})


def attachments_of(blocks: Sequence[object]) -> tuple[Attachment, ...]:
    """Files, PDFs, embedded documents and pictures in a tree of raw blocks, each block once.

    Films and sounds are left out: nothing here can read them.
    """
    found: dict[str, Attachment] = {}
    for raw in walk_live(blocks):
        attachment = attachment_of(raw)
        if attachment is not None:
            found.setdefault(attachment.block_id or "", attachment)
    return tuple(found.values())


def attachment_of(raw: Json) -> Attachment | None:
    """The file of one block; null where it has none."""
    kind, identifier = type_of(raw), block_id(raw.get("id"))
    if identifier is None or (kind not in _DOCUMENTS and kind != "image"):
        return None
    held = payload(raw)
    is_external = type_of(held) != "file"
    address = as_text(held.get("url")) or as_text(as_mapping(held.get(type_of(held))).get("url"))
    if not address:
        return None
    name = as_text(held.get("name")).strip() or _name_in(address)
    if kind == "pdf" and not name.lower().endswith(".pdf"):
        name = f"{name or 'document'}.pdf"
    # What lies elsewhere may change under the same address: an edit of its block is a reason to look again.
    edition = as_text(raw.get("last_edited_time")) if is_external else ""
    return Attachment(
        block_id=identifier,
        name=name,
        key=_key(address, name, edition, is_external=is_external),
        kind=AttachmentKind.IMAGE if kind == "image" else AttachmentKind.DOCUMENT,
        is_external=is_external,
        address=address,
    )


def _key(address: str, name: str, edition: str, *, is_external: bool) -> str:
    """A signature changes with every answer, the path below it with every upload: only the latter counts."""
    parts = urlsplit(address)
    lasting = address if is_external else urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
    return sha256("\n".join((lasting, name, edition)).encode()).hexdigest()[:32]


def _name_in(address: str) -> str:
    try:
        return unquote(urlsplit(address).path).rstrip("/").rpartition("/")[2][:200]
    except ValueError:
        return ""


def property_files(held: Json) -> tuple[Attachment, ...]:
    """Files in the properties of a page object: those that are documents or pictures by their names."""
    found: dict[str, Attachment] = {}
    for value in as_mapping(held.get("properties")).values():
        for one in as_list(as_mapping(value).get("files")) if type_of(as_mapping(value)) == "files" else ():
            attachment = _property_file(as_mapping(one), as_text(held.get("last_edited_time")))
            if attachment is not None:
                found.setdefault(attachment.key, attachment)
    return tuple(found.values())


def _property_file(held: Json, edited: str) -> Attachment | None:
    is_external = type_of(held) != "file"
    address = as_text(as_mapping(held.get(type_of(held))).get("url"))
    if not address:
        return None
    # What people call a link to a file need not end like one.
    given, named = as_text(held.get("name")).strip(), _name_in(address)
    name = given if "." in given else named or given
    return Attachment(
        block_id=None,
        name=name,
        key=_key(address, name, edited if is_external else "", is_external=is_external),
        kind=AttachmentKind.IMAGE if _is_picture(name) else AttachmentKind.DOCUMENT,
        is_external=is_external,
        address=address,
    )


def _is_picture(name: str) -> bool:
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"))


def walk_live(blocks: Sequence[object]) -> Iterator[Json]:
    """Every raw block that is not in the trash, other pages left out."""
    stack = [as_mapping(block) for block in reversed(blocks)]
    while stack:
        raw = stack.pop()
        if not raw or is_gone(raw):
            continue
        yield raw
        if type_of(raw) not in OWN_PAGES:
            stack.extend(as_mapping(child) for child in reversed(children_of(raw)))
