"""Where the peers of this section lie: Discord's OpenAPI document, and the enumerations of its typings."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

DOCUMENT = "discord-openapi.json"

Json = dict[str, Any]


def folder() -> Path:
    """``.peers/discord``, filled by ``tests/peers/run.sh``."""
    base = os.environ.get("FOOTNOTE_PEERS")
    found = (Path(base) if base else Path(__file__).parents[3] / ".peers") / "discord"
    if not (found / "node_modules").is_dir():
        raise RuntimeError("The peers are not installed. Run tests/peers/run.sh discord (Node 20).")
    return found


@cache
def document() -> Json:
    """Discord's own OpenAPI document, out of the folder that FOOTNOTE_SPECS names."""
    specs = os.environ.get("FOOTNOTE_SPECS")
    path = Path(specs or ".") / DOCUMENT
    if not specs or not path.is_file():
        raise RuntimeError(
            f"{DOCUMENT} is missing: set FOOTNOTE_SPECS to a folder with it "
            "(specs/openapi.json of github.com/discord/discord-api-spec)"
        )
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def operation(method: str, path: str) -> tuple[str, Json] | None:
    """The document's template and operation for a request; literal parts come before parameters."""
    candidates = [
        (template, operations[method.lower()])
        for template, operations in document()["paths"].items()
        if method.lower() in operations and re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", template), path)
    ]
    return min(candidates, key=lambda one: one[0].count("{"), default=None)


def complaint(schema: Json, value: Any) -> str:
    """What the document has against a value; empty if nothing."""
    whole = {**schema, "components": document()["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole)
    error = next(iter(validator.iter_errors(value)), None)
    return f"{error.message[:400]} at {list(error.instance_path)}" if error else ""


@cache
def enumeration(name: str) -> dict[str, int]:
    """One enumeration of the typings, by name."""
    script = (
        "const types = require('discord-api-types/v10');"
        f"const found = types['{name}'];"
        "process.stdout.write(JSON.stringify(Object.fromEntries(Object.entries(found)"
        ".filter(([key]) => isNaN(Number(key))).map(([key, value]) => [key, String(value)]))));"
    )
    done = subprocess.run(  # noqa: S603 - a fixed script
        ["node", "-e", script],  # noqa: S607 - whichever Node is in the path
        cwd=folder(),
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return {key: int(value) for key, value in json.loads(done.stdout).items() if value.lstrip("-").isdigit()}
