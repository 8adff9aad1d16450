"""Signed addresses of stored files, and their downloads."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

from aiohttp import web

from tests.fakes.notion.clock import to_minute
from tests.fakes.notion.workspace import Workspace

_STAMP = "%Y%m%dT%H%M%SZ"


class FileStore:
    """Signs addresses by the workspace's clock and refuses those that are forged or too old."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._key = workspace.id.encode()
        self.base = ""

    def sign(self, file_id: str, lifetime: timedelta) -> tuple[str, str]:
        """A fresh address and the time it ends."""
        now = self._workspace.clock.now()
        name = self._workspace.files[file_id].name
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Date": now.astimezone(UTC).strftime(_STAMP),
            "X-Amz-Expires": str(int(lifetime.total_seconds())),
        }
        query["X-Amz-Signature"] = self._signature(file_id, query["X-Amz-Date"], query["X-Amz-Expires"])
        address = f"{self.base}/files/{file_id}/{quote(name)}?{urlencode(query)}"
        return address, to_minute(now + lifetime)

    def _signature(self, file_id: str, start: str, lifetime: str) -> str:
        return hmac.new(self._key, f"{file_id}/{start}/{lifetime}".encode(), hashlib.sha256).hexdigest()

    def download(self, file_id: str, query: dict[str, str]) -> web.Response:
        """The file, or 403 with XML as the storage answers it."""
        stored = self._workspace.files.get(file_id)
        if stored is None:
            return _denied("NoSuchKey", 404)
        start, lifetime = query.get("X-Amz-Date", ""), query.get("X-Amz-Expires", "0")
        right = self._signature(file_id, start, lifetime)
        if not hmac.compare_digest(right, query.get("X-Amz-Signature", "")):
            return _denied("SignatureDoesNotMatch", 403)
        began = datetime.strptime(start, _STAMP).replace(tzinfo=UTC)
        if self._workspace.clock.now() >= began + timedelta(seconds=int(lifetime)):
            return _denied("AccessDenied", 403, "Request has expired")
        if stored.redirect_to:
            return web.Response(status=302, headers={"Location": stored.redirect_to})
        headers = {"Content-Type": stored.content_type}
        return web.Response(status=stored.status, body=stored.content, headers=headers)


def _denied(code: str, status: int, message: str = "") -> web.Response:
    text = f"<Error><Code>{code}</Code><Message>{message or code}</Message></Error>"
    return web.Response(status=status, text=text, content_type="application/xml")
