"""What pages as Markdown would save in calls, and lose: python -m tests.bench.markdown.

The stand-in's Markdown is simpler than Notion's, so that texts are compared by their words alone, targets of
links aside. That only pages and what cannot be read have their ids in it is the official form of the answer.
"""

import asyncio
import re
import sys
from collections import Counter

from adapters.sources.notion_tree import TreeLimits, fetch_tree
from core.domain.documents import walk
from core.domain.ids import PageId
from tests.adapters.sources.notion_rig import Rig, notion_rig
from tests.fakes.notion import generate, routes
from tests.fakes.notion.showcase import build

_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^)]*\)")


async def compare(name: str, rig: Rig, pages: list[str]) -> None:
    """One line: calls, blocks with an id for links, and texts that are whole."""
    blocks = linked = named = lost = block_calls = 0
    lost_types: Counter[str] = Counter()
    for page in pages:
        rig.server.forget()
        tree = await fetch_tree(rig.api, PageId(page), TreeLimits())
        block_calls += rig.server.counts[routes.CHILDREN]
        kinds = {str(raw["id"]): str(raw["type"]) for raw in _raw(tree.blocks)}
        written = await rig.api._client.pages.retrieve_markdown(page)
        text = written["markdown"]
        words = set(_WORD.findall(text))
        blocks += len(kinds)
        named += sum(block in text or block.replace("-", "") in text for block in kinds)
        for block, _ in walk((await rig.page(page)).blocks):
            linked += block.id is not None and bool(block.text)
            if not set(_WORD.findall(_TARGET.sub("]", block.text))) <= words:
                lost += 1
                lost_types[kinds.get(block.id or "", "synced copy")] += 1
    say(f"| {name} | {len(pages)} | {blocks} | {block_calls} | {len(pages)} | {linked} | {named} | {lost} |")
    if lost_types:
        say(f"\nTexts not whole in Markdown, by type: {dict(sorted(lost_types.items()))}")


def _raw(blocks: list[dict[str, object]]) -> list[dict[str, object]]:
    found, stack = [], list(blocks)
    while stack:
        block = stack.pop()
        found.append(block)
        stack.extend(block.get("children", []))  # type: ignore[arg-type] # as `fetch_tree` made it
    return found


async def main() -> None:
    """Both workspaces."""
    say("| workspace | pages | blocks | calls for blocks | for Markdown | linkable | ids there | not whole |")
    say("|---|---:|---:|---:|---:|---:|---:|---:|")
    async with notion_rig() as rig:
        generate(rig.workspace, pages=1000, blocks=5, levels=3)
        await compare("1,000 flat pages", rig, list(rig.workspace.pages))
    async with notion_rig() as rig:
        await compare("a page of every block type", rig, [build(rig.workspace).page])


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
