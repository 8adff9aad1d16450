"""Signatures of the stand-in's webhook deliveries are good for the helpers of Notion's own SDK."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from shutil import which

from tests.fakes.notion import Webhooks, Workspace
from tests.peers.notion.peers import Json, folder

_PATIENCE = 60.0
_PROGRAM = """
const { signWebhookPayload, verifyWebhookSignature } = require("@notionhq/client")
const read = require("node:fs").readFileSync(0, "utf8")
const { body, signature, verificationToken } = JSON.parse(read)
Promise.all([
  signWebhookPayload({ body, verificationToken }),
  verifyWebhookSignature({ body, signature, verificationToken }),
  verifyWebhookSignature({ body: body + " ", signature, verificationToken }),
]).then((found) => console.log(JSON.stringify(found)))
"""


async def _sdk(question: Json) -> list[object]:
    node = which("node")
    assert node is not None
    process = await asyncio.create_subprocess_exec(
        node, "-e", _PROGRAM, stdin=PIPE, stdout=PIPE, cwd=folder()
    )
    answer, _ = await asyncio.wait_for(process.communicate(json.dumps(question).encode()), _PATIENCE)
    assert process.returncode == 0
    found: list[object] = json.loads(answer)
    return found


async def test_not17_the_sdk_makes_and_accepts_the_same_signature() -> None:
    """Both sign a body with letters beyond ASCII alike; the SDK accepts ours and refuses a changed body."""
    workspace = Workspace()
    workspace.name = "Büro – команда"
    hooks = Webhooks(workspace, "http://127.0.0.1:9/")
    workspace.add_page("Straße")
    body = json.dumps(hooks.pending()[0], ensure_ascii=False)
    signature = hooks.sign(body.encode())
    question = {
        "body": body,
        "signature": signature,
        "verificationToken": hooks.verification_token,
    }
    assert await _sdk(question) == [signature, True, False]
