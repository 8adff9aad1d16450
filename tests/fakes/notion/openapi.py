"""Checks of requests against Notion's official OpenAPI document, where that is at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.fakes.notion.richtext import Json


def widened(document: Json) -> Json:
    """The document with what it forgets: rows may also be sorted by a timestamp, as the typings say."""
    by_time = {
        "type": "object",
        "required": ["timestamp", "direction"],
        "properties": {
            "timestamp": {"enum": ["created_time", "last_edited_time"]},
            "direction": {"enum": ["ascending", "descending"]},
        },
    }
    schemas = document["components"]["schemas"]
    wider = {**schemas, "sortObject": {"anyOf": [schemas["sortObject"], by_time]}}
    return {**document, "components": {**document["components"], "schemas": wider}}


class OpenApi:
    """The document's operations by ``METHOD template``; endpoints it lacks are not checked."""

    def __init__(self, path: Path) -> None:
        document = widened(json.loads(path.read_text(encoding="utf-8")))
        self._operations: dict[str, Json] = {}
        self._shared = {"components": document["components"]}
        self._validators: dict[str, Any] = {}
        for template, methods in document["paths"].items():
            for method, operation in methods.items():
                self._operations[f"{method.upper()} {template}"] = operation

    def complaint(self, key: str, query: Json, body: Any) -> str | None:
        """What the document has against a request, None if nothing."""
        operation = self._operations.get(key)
        if operation is None:
            return None
        for parameter in operation.get("parameters", []):
            found = self._parameter(key, parameter, query)
            if found:
                return found
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        return self._check(f"{key} body", schema, body) if schema is not None else None

    def _parameter(self, key: str, parameter: Json, query: Json) -> str | None:
        if parameter.get("in") != "query":
            return None
        name = f"{key} query.{parameter['name']}"
        if parameter["name"] not in query:
            return f"{name} is required" if parameter.get("required") else None
        value = query[parameter["name"]]
        if parameter["schema"].get("type") == "string" and isinstance(value, list):
            return next(filter(None, (self._check(name, parameter["schema"], item) for item in value)), None)
        if parameter["schema"].get("type") == "boolean":
            value = {"true": True, "false": False}.get(value, value)
        return self._check(name, parameter["schema"], value)

    def _check(self, name: str, schema: Json, value: Any) -> str | None:
        validator = self._validators.get(name)
        if validator is None:
            validator = jsonschema_rs.Draft202012Validator({**self._shared, **schema})
            self._validators[name] = validator
        error = next(iter(validator.iter_errors(value)), None)
        return f"{name}: {error.message}" if error else None
