"""A workspace with one of everything: each block type, each kind of rich text, each property type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.fakes.notion import blocks as b
from tests.fakes.notion import properties as prop
from tests.fakes.notion import richtext as rt
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Showcase:
    """The ids of what was made."""

    page: str
    child: str
    database: str
    data_source: str
    row: str
    user: str
    comment: str


def build(workspace: Workspace) -> Showcase:
    """Fill a workspace with one of everything and name the main objects."""
    user = workspace.add_user("Kim Example", "kim@example.org")
    page = workspace.add_page("Showcase", icon={"type": "emoji", "emoji": "🧰"})
    child = workspace.add_page("Child page", parent=page, blocks=[b.paragraph("Text of the child.")])
    database = workspace.add_database("Inventory", parent=page, description="All there is", inline=True)
    source = workspace.databases[database].sources[0]
    workspace.set_column(source, "Number format", prop.column("number", format="euro"))
    row = workspace.add_row(
        source,
        "Everything",
        properties=every_property(workspace, user, child),
        blocks=[b.paragraph("In a row.")],
    )
    workspace.append_blocks(page, every_block(workspace, user, child, database))
    workspace.pages[page].cover = b.external("https://example.org/cover.png")
    workspace.pages[child].icon = workspace.add_file("icon.png", b"png", "image/png")
    comment = workspace.add_comment(page, ["A ", rt.text("remark", "bold")], by=user)
    return Showcase(page, child, database, source, row, user, comment)


def every_text(user: str, page: str, database: str) -> list[Json]:
    """Every kind of rich text item and annotation."""
    styles = ("bold", "italic", "strikethrough", "underline", "code")
    return [
        rt.text("Plain, "),
        *(rt.text(f"{name} ", name) for name in styles),
        rt.text("coloured ", "bold", "italic", color="red_background"),
        rt.text("linked ", link="https://example.org/a"),
        rt.equation("a^2 + b^2"),
        rt.mention_user(user),
        rt.mention_page(page),
        rt.mention_database(database),
        rt.mention_date("2026-11-02", "2026-11-05"),
        rt.mention_date("2026-11-02T10:00:00.000+01:00", time_zone="Europe/Berlin"),
        rt.mention_link_preview("https://example.org/preview"),
        rt.mention_link("https://example.org/article", "An article"),
        rt.mention_template(),
        rt.mention_template("template_mention_user", "me"),
        rt.mention_emoji("45ce454c-d427-4f53-9489-e5d0f3d1db6b", "parrot", "https://example.org/parrot.gif"),
    ]


def every_block(workspace: Workspace, user: str, page: str, database: str) -> list[Json]:
    """Every block type but ``child_page`` and ``child_database``, which pages and databases make."""
    original = workspace.new_id()
    stored = workspace.add_file("plan.pdf", b"%PDF-1.7", "application/pdf")
    return [
        *_texts(every_text(user, page, database)),
        b.synced_original([b.paragraph("Synced text")], uid=original),
        b.synced_copy(original),
        b.equation("e = mc^2"),
        b.code(
            ["curl ", rt.text("https://example.org/a", link="https://example.org/a"), "?b=1"], "bash", "How"
        ),
        b.divider(),
        b.breadcrumb(),
        b.table_of_contents(),
        b.tab(("First tab", [b.paragraph("In the first tab")]), ("Second tab", [])),
        b.columns([b.numbered("One", [b.numbered("One-a")])], [b.paragraph("Two")]),
        b.link_to_page(page),
        b.link_to_page(database, "database_id"),
        b.table([["Tool", "Owner"], ["Miro", [rt.text("Design", "bold")]]]),
        b.meeting_notes(
            "Weekly", [b.paragraph("Summary")], [b.paragraph("Notes")], [b.paragraph("Transcript")]
        ),
        b.embed("https://example.org/embed", "An embed"),
        b.bookmark("https://example.org/bookmark", "A bookmark"),
        b.image("https://example.org/image.png", "A picture"),
        b.video("https://example.org/film.mp4", "A film"),
        b.audio("https://example.org/sound.mp3", "A sound"),
        b.pdf(stored, "A plan"),
        b.file(stored, "plan.pdf", "The same plan"),
        b.link_preview("https://example.org/pull/1"),
        b.unsupported("ai_block"),
    ]


def _texts(text: Sequence[str | Json]) -> list[Json]:
    return [
        b.paragraph(text),
        *(b.heading(level, f"Heading {level}") for level in (1, 2, 3, 4)),
        b.heading(2, "Toggle heading", [b.paragraph("Under the heading")]),
        b.bulleted("Bullet", [b.bulleted("Inner bullet")]),
        b.numbered("Number", start=3, style="letters"),
        b.quote("Quote"),
        b.to_do("Open task"),
        b.to_do("Done task", checked=True),
        b.toggle("Toggle", [b.paragraph("Folded")]),
        b.callout("Callout"),
        b.callout("Callout without icon", icon=None),
        b.template("Template", [b.to_do("From the template")]),
    ]


def every_property(workspace: Workspace, user: str, page: str) -> dict[str, Json]:
    """Every type of property with a value, and some without one."""
    stored = workspace.add_file("offer.pdf", b"%PDF-1.7", "application/pdf")
    return {
        "Text": prop.rich_text(["Some ", rt.text("text", "italic")]),
        "Amount": prop.number(12.5),
        "Choice": prop.select("Red"),
        "No choice": prop.select(None),
        "Choices": prop.multi_select("Red", "Blue"),
        "State": prop.status("Open"),
        "Day": prop.date("2026-11-02"),
        "Span": prop.date("2026-11-02T09:00:00.000+01:00", "2026-11-03T17:00:00.000+01:00"),
        "Zone": prop.date("2026-11-02T09:00:00.000+01:00", None, "Europe/Berlin"),
        "People": prop.people(user, workspace.new_id()),
        "Files": prop.files(
            {"name": "offer.pdf", **stored}, {"name": "x.png", **b.external("https://example.org/x.png")}
        ),
        "Done": prop.checkbox(True),
        "Link": prop.url("https://example.org"),
        "Mail": prop.email("info@example.org"),
        "Phone": prop.phone_number("+49 30 1234"),
        "Related": prop.relation(page),
        "Sum": prop.formula("number", 42),
        "Word": prop.formula("string", "forty-two"),
        "Yes": prop.formula("boolean", True),
        "When": prop.formula("date", {"start": "2026-11-02", "end": None, "time_zone": None}),
        "Too much": prop.formula("unsupported", {}),
        "Gathered": prop.rollup("array", [prop.number(1), prop.rich_text("two")]),
        "Total": prop.rollup("number", 3, "sum"),
        "Latest": prop.rollup("date", {"start": "2026-11-02", "end": None, "time_zone": None}, "latest_date"),
        "Lost": prop.rollup("unsupported", {}),
        "Key": prop.unique_id(7, "INV"),
        "Made": prop.computed("created_time"),
        "Made by": prop.computed("created_by"),
        "Changed": prop.computed("last_edited_time"),
        "Changed by": prop.computed("last_edited_by"),
        "Press": prop.button(),
        "Checked": prop.verification("verified", user),
        "Unchecked": prop.verification(),
        "Spot": prop.place(52.5, 13.4, "Berlin"),
    }
