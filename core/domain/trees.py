"""Rebuilding a tree of blocks without recursion: pages nest a thousand levels deep and more."""

from collections.abc import Callable, Iterator, Sequence

from core.domain.documents import Block, BlockKind
from core.domain.ids import BlockId


def in_order(blocks: Sequence[Block]) -> Iterator[Block]:
    """Every block of the tree in order of reading, parents before their children."""
    stack = list(reversed(blocks))
    while stack:
        block = stack.pop()
        yield block
        stack.extend(reversed(block.children))


def mirrored(blocks: Sequence[Block]) -> tuple[BlockId, ...]:
    """The blocks, wherever they stand, that this tree shows in copies."""
    return tuple(dict.fromkeys(block.mirrors for block in in_order(blocks) if block.mirrors is not None))


def can_be_mirrored(blocks: Sequence[Block]) -> frozenset[BlockId]:
    """The blocks of this tree that others may show in copies: its containers, but for copies themselves."""
    return frozenset(
        block.id
        for block in in_order(blocks)
        if block.kind is BlockKind.CONTAINER and block.id is not None and block.mirrors is None
    )


def rebuilt(
    blocks: Sequence[Block], rebuild: Callable[[Block, tuple[Block, ...]], Block]
) -> tuple[Block, ...]:
    """The tree with each block replaced by ``rebuild(block, its rebuilt children)``.

    Blocks come in the reverse of `in_order`, so children before their parents.
    """
    nodes: list[tuple[Block, int]] = []
    stack = [(block, -1) for block in reversed(blocks)]
    while stack:
        block, parent = stack.pop()
        stack.extend((child, len(nodes)) for child in reversed(block.children))
        nodes.append((block, parent))
    finished: list[list[Block]] = [[] for _ in range(len(nodes) + 1)]
    for number in range(len(nodes) - 1, -1, -1):
        block, parent = nodes[number]
        finished[parent].append(rebuild(block, tuple(reversed(finished[number]))))
    return tuple(reversed(finished[-1]))
