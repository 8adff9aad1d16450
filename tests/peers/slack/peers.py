"""Where the peers of this section lie, and the schema of the official typings."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs


def folder() -> Path:
    """``.peers/slack``, filled by ``tests/peers/run.sh``."""
    base = os.environ.get("FOOTNOTE_PEERS")
    found = (Path(base) if base else Path(__file__).parents[3] / ".peers") / "slack"
    if not (found / "schema.json").is_file():
        raise RuntimeError("The peers are not installed. Run tests/peers/run.sh slack (Node 20).")
    return found


@cache
def validator(name: str) -> Any:
    """A validator of one official type; keys that the type does not have are errors."""
    definitions = json.loads((folder() / "schema.json").read_text(encoding="utf-8"))["definitions"]
    return jsonschema_rs.Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": definitions})


def complaint(name: str, value: Any) -> str:
    """What an official type has against a value; empty if nothing."""
    error = next(iter(validator(name).iter_errors(value)), None)
    return f"{name}: {error.message[:600]} at {list(error.instance_path)}" if error else ""


def arguments_type(method: str) -> str:
    """``chat.postMessage`` to ``ChatPostMessageArguments``."""
    return "".join(part[0].upper() + part[1:] for part in method.split(".")) + "Arguments"
