"""What a peer sends for the same workspace: python -m tests.bench.sync_peer PYTHON.

PYTHON is an interpreter of a throwaway environment with ``llama-index-readers-notion``. Its addresses are
pointed at the stand-in, its API version is raised to one that is served (search and children are the same in
both), and it is given all ids. It keeps nothing between runs, so every sync costs what the first one does.
"""

import asyncio
import sys

from tests.fakes.notion import NotionServer, Workspace, generate

PAGES = 1000

_READER = """
import sys
from llama_index.readers.notion import base
for name in ("BLOCK_CHILD_URL_TMPL", "DATABASE_URL_TMPL", "SEARCH_URL"):
    setattr(base, name, getattr(base, name).replace("https://api.notion.com", sys.argv[1]))
reader = base.NotionPageReader(sys.argv[2])
reader.headers["Notion-Version"] = "2025-09-03"
listed = reader.list_pages()
texts = [document.text for document in reader.load_data(page_ids=sys.stdin.read().split())]
print(len(listed), len(texts), sum(map(len, texts)))
"""


async def measure(python: str, pages: int) -> str:
    """What one run of the reader costs, by endpoint, and what it read."""
    workspace = Workspace()
    generate(workspace, pages=pages, blocks=5, levels=3)
    async with NotionServer(workspace) as server:
        process = await asyncio.create_subprocess_exec(
            *(python, "-c", _READER, server.url, server.token),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate("\n".join(workspace.pages).encode())
        if process.returncode != 0:
            raise SystemExit(f"the reader failed after {server.total} requests: {dict(server.counts)}")
        listed, read, characters = map(int, output.split())
        return (
            f"lists {listed} of {pages} pages; reads {read} when given their ids: {server.total} requests, "
            f"{characters} characters, {dict(server.counts)}"
        )


def main() -> None:
    """Print the figures."""
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else PAGES
    sys.stdout.write(asyncio.run(measure(sys.argv[1], pages)) + "\n")


if __name__ == "__main__":
    main()
