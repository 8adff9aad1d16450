"""Links from page to page that follow a rename: a source names the page, the index knows its title.

Notion writes a mention's or a child's title as it was when the block was fetched, and a relation has no title
at all. Blocks therefore hold ``[shown](page:<id>)``, and `resolve` puts in what the index knows when the text
is cut into chunks; so a renamed page needs no other page to be fetched again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain.documents import UNTITLED, Block
from core.domain.ids import PageId, without_dashes
from core.domain.trees import rebuilt

# An escaped bracket opens nothing. It is passed over as a whole, so that a text full of them is read once and
# not once from each of them.
_REFERENCE = re.compile(r"\\[\[\]\\]|\[((?:\\.|[^\[\]\\])*)\]\(page:([0-9a-f-]{36})\)")
NOTION = "https://www.notion.so/"
"""Where a page is shown whose own link is unknown."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a link to a page shows and where it leads."""

    title: str
    url: str


Lookup = Callable[[PageId], Target | None]
"""What the index knows of a page; null for one it does not hold."""


def reference(page_id: PageId, shown: str = "") -> str:
    """A link to a page, to be resolved later; ``shown`` is used if the page stays unknown."""
    return f"[{escape_label(shown)}](page:{page_id})"


def escape_label(text: str) -> str:
    """One line in which no bracket ends a link's label."""
    one_line = " ".join(text.split())
    return re.sub(r"[\\\[\]]", r"\\\g<0>", one_line)


def referenced(texts: Iterable[str]) -> tuple[PageId, ...]:
    """The pages that texts link to, each once, in order."""
    found = (PageId(match[2]) for text in texts for match in _REFERENCE.finditer(text) if match[2])
    return tuple(dict.fromkeys(found))


def without_references(text: str) -> str:
    """The text without its references: a title behind one may be hidden from who reads what is made of it."""
    return _REFERENCE.sub("", text)


def resolve(text: str, lookup: Lookup) -> str:
    """The text with Markdown links in place of references.

    A known page shows its title; an unknown one shows what the source showed, or nothing if that was empty,
    since an id alone tells a reader nothing.
    """
    if "(page:" not in text:
        return text

    def written(match: re.Match[str]) -> str:
        if not match[2]:
            return match[0]
        page_id = PageId(match[2])
        target = lookup(page_id)
        if target is not None:
            return f"[{escape_label(target.title) or UNTITLED}]({target.url})"
        return f"[{match[1]}]({NOTION}{without_dashes(page_id)})" if match[1] else ""

    return _REFERENCE.sub(written, text)


def resolve_properties(properties: Sequence[tuple[str, str]], lookup: Lookup) -> tuple[tuple[str, str], ...]:
    """Properties with titles in place of references; a list of unknown pages leaves no empty commas."""
    resolved = ((name, ", ".join(_resolved_parts(value, lookup))) for name, value in properties)
    return tuple((name, value) for name, value in resolved if value)


def _resolved_parts(value: str, lookup: Lookup) -> list[str]:
    if "(page:" not in value:
        return [value]
    parts = (resolve(part, lookup).strip() for part in re.split(r"(?<=\)), (?=\[)", value))
    return [part for part in parts if part]


def resolve_blocks(blocks: Sequence[Block], lookup: Lookup) -> tuple[Block, ...]:
    """The tree with every reference resolved; untouched parts are shared."""

    def rebuild(block: Block, children: tuple[Block, ...]) -> Block:
        text = resolve(block.text, lookup)
        same = text == block.text and all(map(_is, children, block.children))
        return block if same else replace(block, text=text, children=children)

    return rebuilt(blocks, rebuild)


def _is(one: Block, other: Block) -> bool:
    return one is other
