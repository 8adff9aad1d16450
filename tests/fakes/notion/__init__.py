"""A stand-in for Notion that does not flatter: a workspace that changes, served as Notion serves it.

    workspace = Workspace()                                   # time stands until the test moves it
    handbook = workspace.add_page("Handbook", blocks=[paragraph("Welcome."), heading(1, "Rooms")])
    tasks = workspace.add_database("Tasks", parent=handbook, schema={"Done": column("checkbox")})
    workspace.add_row(tasks, "Water the plants", properties={"Done": checkbox(False)})
    async with NotionServer(workspace) as server:
        notion = AsyncClient(auth=server.token, base_url=server.url, notion_version="2026-03-11")
        server.faults.add(faults.rate_limited(retry_after=2), route=routes.SEARCH, every=4)
        await notion.search(query="hand")
        workspace.clock.advance(minutes=5)
        workspace.edit_block(workspace.find_block(handbook, "Welcome"), "Welcome, all.")
        assert server.counts == {routes.SEARCH: 1} and not server.complaints

Where to look: ``Workspace`` for what can be changed, ``blocks``, ``richtext`` and ``properties`` for
builders, ``Behaviour`` (``server.behaviour``) and ``server.pager`` (``short``, ``empty``) for
switches, ``faults`` for scripted trouble, ``server.limits`` for budgets, ``Webhooks`` for
deliveries, ``load`` for a folder of pages (the sample workspace), ``generate`` for large workspaces, and
``python -m tests.fakes.notion`` for a server to look at.

Every request is checked: a key or value that Notion would refuse is refused, and stands in
``server.complaints``. With the folder of the official OpenAPI document in ``FOOTNOTE_SPECS``
requests are checked against that document too.
"""

from tests.fakes.notion import blocks, faults, properties, richtext, routes
from tests.fakes.notion.behaviour import Behaviour
from tests.fakes.notion.clock import Clock, SystemClock
from tests.fakes.notion.loading import generate, load
from tests.fakes.notion.records import Parent
from tests.fakes.notion.server import NotionServer, RequestRecord
from tests.fakes.notion.webhooks import Webhooks
from tests.fakes.notion.workspace import Workspace

__all__ = [
    "Behaviour",
    "Clock",
    "NotionServer",
    "Parent",
    "RequestRecord",
    "SystemClock",
    "Webhooks",
    "Workspace",
    "blocks",
    "faults",
    "generate",
    "load",
    "properties",
    "richtext",
    "routes",
]
