"""Requests kept on disk, so that the official API document can judge them afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes.notion.richtext import Json

if TYPE_CHECKING:
    from tests.fakes.notion.server import RequestRecord

_REFUSED = (400, 401, 403)


def shape(request: RequestRecord) -> Json:
    """A request without what differs from run to run."""
    kept = ("notion-version", "content-type", "accept")
    return {
        "method": request.method,
        "path": request.path,
        "route": request.route,
        "query": request.query,
        "body": request.body,
        "headers": {key: value for key, value in request.headers.items() if key in kept},
    }


def kinds(requests: Iterable[RequestRecord]) -> list[Json]:
    """One request of each kind: the same endpoint with the same keys counts once.

    Requests that the stand-in itself refused are left out; they stand in ``server.complaints``.
    """
    found: dict[tuple[str, ...], Json] = {}
    for request in requests:
        if not request.path.startswith("/v1/") or request.status in _REFUSED:
            continue
        body = request.body if isinstance(request.body, dict) else {}
        steady = {key: value for key, value in body.items() if key != "start_cursor"}
        key = (request.route, *sorted(request.query), *sorted(body), json.dumps(steady, sort_keys=True))
        found.setdefault(key, shape(request))
    return list(found.values())


def keep(requests: Iterable[RequestRecord], name: str) -> None:
    """Write the kinds of requests to the folder that ``FOOTNOTE_RECORD`` names, if it names one."""
    folder = os.environ.get("FOOTNOTE_RECORD")
    lines = [json.dumps(item) for item in kinds(requests)]
    if folder and lines:
        Path(folder, f"{os.getpid()}-{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
