"""Where the peers of this section lie, and the schema of the official typings."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

Json = dict[str, Any]
CURRENT = "2026-03-11"


def folder() -> Path:
    """``.peers/notion``, filled by ``tests/peers/run.sh``."""
    base = os.environ.get("FOOTNOTE_PEERS")
    found = (Path(base) if base else Path(__file__).parents[3] / ".peers") / "notion"
    if not (found / "schema.json").is_file():
        raise RuntimeError("The peers are not installed. Run tests/peers/run.sh notion (Node 20).")
    return found


def package(name: str) -> Path:
    """The folder of an npm package."""
    return folder() / "node_modules" / name


@cache
def definitions(version: str = CURRENT) -> Json:
    """The typings as JSON Schema. They describe the union of the versions: ``archived`` belongs to
    the versions before 2026-03-11, so it is not required (and not allowed) from then on."""
    document = json.loads((folder() / "schema.json").read_text(encoding="utf-8"))
    found: Json = document["definitions"]
    if version >= CURRENT:
        _without_archived(found)
    return found


def _without_archived(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _without_archived(item)
    elif isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            node["properties"].pop("archived", None)
        if isinstance(node.get("required"), list):
            node["required"] = [key for key in node["required"] if key != "archived"]
        for item in node.values():
            _without_archived(item)


@cache
def validator(name: str, version: str = CURRENT) -> Any:
    """A validator of one official type; keys that the type does not have are errors."""
    schema = {"$ref": f"#/definitions/{name}", "definitions": definitions(version)}
    return jsonschema_rs.Draft7Validator(schema)


@cache
def block_types() -> dict[str, str]:
    """Block types with the names of their official types."""
    found = definitions()
    names = [item["$ref"].rsplit("/", 1)[-1] for item in found["BlockObjectResponse"]["anyOf"]]
    return {found[name]["properties"]["type"]["const"]: name for name in names}


def complaint(name: str, value: Any, version: str = CURRENT) -> str:
    """What an official type has against a value; empty if nothing."""
    error = next(iter(validator(name, version).iter_errors(value)), None)
    return f"{name}: {error.message[:600]} at {list(error.instance_path)}" if error else ""


@cache
def random_blocks() -> tuple[Json, ...]:
    """2,000 blocks of official shape over all types, the same in every run; made by ``prepare.sh``."""
    return tuple(json.loads((folder() / "blocks.json").read_text(encoding="utf-8")))
