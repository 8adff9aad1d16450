"""Databases: a container holds one or more data sources, a data source holds rows (pages)."""

from __future__ import annotations

from tests.fakes.notion import properties as prop
from tests.fakes.notion.records import Database, DataSource, Page, Parent, dashed
from tests.fakes.notion.richtext import Json, Text, rich
from tests.fakes.notion.store import Store


class Tables(Store):
    """The part of a workspace that concerns databases."""

    def add_database(
        self,
        title: Text = "",
        *,
        parent: Parent | str | None = None,
        schema: dict[str, Json] | None = None,
        description: Text = "",
        uid: str | None = None,
        url: str = "",
        inline: bool = False,
        shared: bool | None = None,
        position: int | None = None,
        with_source: bool = True,
    ) -> str:
        """A new container, with one data source of the same name unless told otherwise; its id."""
        at = self.clock.stamp()
        above = self.placed(parent)
        key = dashed(uid) if uid else self.new_id()
        database = Database(key, above, at, at, self.author.id, self.author.id, shared=shared, url=url)
        database.title, database.description, database.inline = rich(title), rich(description), inline
        self.databases[key] = database
        self.put_in(key, above, position)
        self.changed(database, at)
        holder = self.record(above.id) if above.kind in ("page_id", "block_id") else None
        if holder is not None:
            self.changed(holder, at)
        self.tell("database.created", database, at)
        if with_source:
            self.add_data_source(key, title, schema=schema)
        return key

    def add_data_source(
        self,
        database: str,
        title: Text = "",
        *,
        schema: dict[str, Json] | None = None,
        uid: str | None = None,
    ) -> str:
        """One more table in a container; its id. Without a title column it gets one called Name.

        Sharing is a matter of the container; tables have no say in it.
        """
        at = self.clock.stamp()
        container = self.databases[dashed(database)]
        key = dashed(uid) if uid else self.new_id()
        parent = Parent("database_id", container.id)
        source = DataSource(key, parent, at, at, self.author.id, self.author.id)
        source.title, source.inline = rich(title), container.inline
        source.schema = dict(schema or {})
        if not any(config["type"] == "title" for config in source.schema.values()):
            source.schema = {"Name": prop.column("title"), **source.schema}
        self.sources[key] = source
        container.sources.append(key)
        self.changed(source, at)
        self.tell("data_source.created", source, at)
        return key

    def add_linked_view(
        self, parent: str, database: str, *, title: Text = "", resolvable: bool = True
    ) -> str:
        """A view of another database on a page; the id of its ``child_database`` block.

        Querying that id is refused. The database endpoint names the true sources if
        ``resolvable``; else it is refused as well.
        """
        origin = self.databases[dashed(database)]
        key = self.add_database(title or origin.title, parent=parent, with_source=False)
        self.databases[key].linked = True
        self.databases[key].sources = list(origin.sources) if resolvable else []
        return key

    def set_column(self, data_source: str, name: str, config: Json | None) -> None:
        """Add or change a column; None removes it, with its cells."""
        source, at = self.sources[dashed(data_source)], self.clock.stamp()
        if config is None:
            del source.schema[name]
            for row in source.rows:
                self.pages[row].properties.pop(name, None)
        else:
            source.schema[name] = config
        self.changed(source, at)
        self.tell("data_source.schema_updated", source, at)

    def learn_columns(self, parent: Parent, values: dict[str, Json]) -> None:
        """Give the data source the columns that values of a row need."""
        if parent.kind != "data_source_id" or parent.id not in self.sources:
            return
        schema = self.sources[parent.id].schema
        for name, value in values.items():
            if name not in schema:
                schema[name] = prop.column_for(value)

    def schema_of(self, page: Page) -> dict[str, Json]:
        """The columns of the data source a page is a row of; empty for other pages."""
        source = self.sources.get(page.parent.id)
        return source.schema if source else {}

    def property_id(self, page: Page, name: str) -> str:
        """The id of one of a page's properties."""
        value = page.properties.get(name) or self.schema_of(page)[name]
        known = value.get("id") or self.schema_of(page).get(name, {}).get("id")
        return str(known or prop.property_id(value["type"], name))

    def cells(self, page: Page) -> dict[str, Json]:
        """All values of a page with their ids: those set, those computed, and empty ones."""
        values: dict[str, Json] = {}
        names = list(dict.fromkeys([*self.schema_of(page), *page.properties]))
        for name in names:
            given = page.properties.get(name)
            value = given if given is not None else prop.empty(self.schema_of(page)[name]["type"])
            values[name] = {"id": self.property_id(page, name), **value}
        return values
