"""Audiences as JSON, so that a stored question knows who could read its answer."""

import json
from typing import Any

from core.domain.audiences import Audience, Scope
from core.domain.ids import PageId


def audience_to_json(audience: Audience) -> str:
    """All that decides what the audience may see."""
    return json.dumps(
        [
            [
                {
                    "name": scope.name,
                    "include": None if scope.include is None else sorted(scope.include),
                    "exclude": sorted(scope.exclude),
                }
                for scope in group
            ]
            for group in audience.groups
        ]
    )


def audience_from_json(key: str, text: str) -> Audience:
    """The audience again, named by its key."""
    groups: list[list[dict[str, Any]]] = json.loads(text)
    return Audience(name=key, groups=tuple(tuple(_scope(one) for one in group) for group in groups))


def _scope(value: dict[str, Any]) -> Scope:
    include = value["include"]
    return Scope(
        name=value["name"],
        include=None if include is None else frozenset(PageId(one) for one in include),
        exclude=frozenset(PageId(one) for one in value["exclude"]),
    )
