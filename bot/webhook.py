"""``POST /webhooks/notion``: deliveries checked, kept, answered at once; a worker follows them (NOT-17)."""

import asyncio
from http import HTTPStatus

import structlog
from aiohttp import web

from adapters.jobs.hints import ANYTHING, PostgresHints
from adapters.jobs.tokens import PostgresTokens
from adapters.sources.notion_webhook import (
    MAX_BODY,
    SIGNATURE_HEADER,
    Delivery,
    check_delivery,
    offered_token,
)
from core.errors import FootnoteError

log = structlog.get_logger()

PATH = "/webhooks/notion"
READ_SECONDS = 10.0
"""How long somebody may take to send a body; events are small, and senders that dawdle are not Notion."""


class NotionWebhook:
    """Takes what Notion delivers.

    ``token`` is the setting; without one the token that Notion sends counts. ``comments``: whether comments
    are read.
    """

    def __init__(
        self, *, hints: PostgresHints, tokens: PostgresTokens, token: str = "", comments: bool = False
    ) -> None:
        self._hints = hints
        self._tokens = tokens
        self._token = token
        self._comments = comments

    def routes(self) -> list[web.RouteDef]:
        """To be added to a web application."""
        return [web.post(PATH, self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        """Answer a delivery; what could not be kept is answered so that Notion delivers it again."""
        if (request.content_length or 0) > MAX_BODY:
            return web.Response(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            # Whatever the header said, the stream is cut off by the application's own limit.
            async with asyncio.timeout(READ_SECONDS):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=HTTPStatus.REQUEST_TIMEOUT)
        try:
            status = await self._take(body, request.headers.get(SIGNATURE_HEADER, ""))
        except FootnoteError as error:
            log.warning("a webhook delivery could not be kept, Notion will send it again", reason=str(error))
            status = HTTPStatus.SERVICE_UNAVAILABLE
        return web.Response(status=status)

    async def _take(self, body: bytes, signature: str) -> HTTPStatus:
        token = self._token
        if not token:
            known = (await self._tokens.read()).trusted
            token = known.token if known is not None else ""
        delivery = check_delivery(body, signature, token, comments=self._comments) if token else None
        if delivery is None:
            return await self._shake_hands(body, signature)
        if not self._token:
            await self._tokens.used(token)
        await self._keep(delivery)
        return HTTPStatus.OK

    async def _keep(self, delivery: Delivery) -> None:
        pages = {page_id or ANYTHING for page_id in delivery.hints}
        if pages and not await self._hints.take(delivery.event, pages):
            log.debug("a webhook delivery came again", event_id=delivery.event)

    async def _shake_hands(self, body: bytes, signature: str) -> HTTPStatus:
        """The first request of a subscription brings its token; anything else unsigned is refused."""
        token = offered_token(body, signature)
        if token is None:
            log.warning("a webhook request without a valid signature was refused")
            return HTTPStatus.UNAUTHORIZED
        if self._token:
            # The operator decides, and has decided.
            log.warning("a webhook token came that is not the one of NOTION_WEBHOOK_TOKEN")
            return HTTPStatus.OK
        if await self._tokens.shake_hands(token):
            log.info(
                "Notion sent a webhook's verification token: `footnote check` shows it, paste it into Notion"
            )
        else:
            log.warning(
                "another webhook token came while one is in use; `footnote check` shows what to do if you "
                "made the subscription again"
            )
        return HTTPStatus.OK
