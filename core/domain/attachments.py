"""What was read of attached files, and its place in the tree of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.documents import Block, BlockKind
from core.domain.files import Attachment
from core.domain.ids import BlockId
from core.domain.trees import in_order, rebuilt


@dataclass(frozen=True, slots=True)
class ExtractedPart:
    """A stretch of a file that can be cited: ``label`` is ``page 3``, ``sheet Costs``, or empty for all."""

    label: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was read of a file; ``left_out`` says what was not, empty if nothing."""

    parts: tuple[ExtractedPart, ...]
    left_out: str = ""


def as_blocks(attachment: Attachment, key: str, extracted: Extracted, *, note: str = "") -> tuple[Block, ...]:
    """The parts of a file as sections, each named ``report.pdf, page 3`` and linking to the file's block.

    There is always one, so that a file without text is known to have been read under this ``key``. The first
    keeps ``note``: what was left out.
    """
    parts = [part for part in extracted.parts if part.blocks] or [ExtractedPart("", ())]
    return tuple(
        Block(
            BlockKind.PART,
            ", ".join(filter(None, (_one_line(attachment.name), part.label))) if part.blocks else "",
            attachment.block_id,
            children=_belonging_to(attachment.block_id, part.blocks),
            file_key=key,
            note="" if number else note,
        )
        for number, part in enumerate(parts)
    )


def notes_of(blocks: Sequence[Block]) -> tuple[str, ...]:
    """What was left out of the files in a tree, in reading order."""
    return tuple(block.note for block in in_order(blocks) if block.note)


def parts_of(blocks: Sequence[Block]) -> dict[tuple[BlockId | None, str], tuple[Block, ...]]:
    """The parts of files in a tree, by block and key."""
    found: dict[tuple[BlockId | None, str], tuple[Block, ...]] = {}
    stack = list(reversed(blocks))
    while stack:
        block = stack.pop()
        if block.kind is BlockKind.PART and block.file_key:
            place = (block.id, block.file_key)
            found[place] = (*found.get(place, ()), block)
        else:
            stack.extend(reversed(block.children))
    return found


def with_parts(
    blocks: Sequence[Block], parts: Mapping[BlockId | None, tuple[Block, ...]]
) -> tuple[Block, ...]:
    """The tree with parts below the blocks of their files; a block that stands twice gets them once.

    What belongs to no block stands at the end.
    """
    left = dict(parts)
    loose = left.pop(None, ())
    # In order of reading, of which `rebuilt` goes backwards.
    own = [left.pop(block.id, ()) if block.id is not None else () for block in in_order(blocks)]

    def rebuild(block: Block, children: tuple[Block, ...]) -> Block:
        children = (*children, *own.pop())
        return replace(block, children=children) if children != block.children else block

    return (*rebuilt(blocks, rebuild), *loose)


def _belonging_to(block_id: BlockId | None, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with the file's block as their id, for links."""
    return rebuilt(blocks, lambda block, children: replace(block, id=block_id, children=children))


def _one_line(text: str) -> str:
    return " ".join(text.split())
