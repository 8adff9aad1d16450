"""Rerankers behind HTTP, against a server that is as strict as the services are."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from aiohttp import web

from adapters.rerankers.http import HttpReranker
from adapters.transport import http_client
from core.errors import ConfigurationError, FootnoteError, RefusedError, UnavailableError

KEY = "secret"
PASSAGES = ("first", "second", "third")
SCORES = (0.1, 0.9, 0.5)
WANTED = {
    "/rerank": {"query", "texts", "truncate"},
    "/v2/rerank": {"model", "query", "documents"},
    "/v1/rerank": {"model", "query", "documents"},
}


@dataclass
class Service:
    """Answers in the order of the scores, as the services do, and refuses what they refuse."""

    url: str = ""
    keyed: bool = True
    answer: Any = None
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        """One request."""
        if self.keyed and request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"message": "invalid api token"}, status=401)
        payload = await request.json()
        self.asked.append(payload)
        if payload.keys() - {"return_documents"} != WANTED[request.path]:
            return web.json_response({"message": f"unexpected fields {sorted(payload)}"}, status=422)
        if self.answer is not None:
            return web.json_response(self.answer)
        score = "score" if request.path == "/rerank" else "relevance_score"
        rows = [
            {"index": place, score: SCORES[place]}
            for place in sorted(range(len(PASSAGES)), key=lambda place: -SCORES[place])
        ]
        if request.path == "/rerank":
            return web.json_response(rows)
        return web.json_response(
            {"data": rows} if payload["model"].startswith("rerank-2") else {"results": rows}
        )


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """A running service."""
    running = Service()
    application = web.Application()
    for path in WANTED:
        application.router.add_post(path, running.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    running.url = f"http://{host}:{port}"
    yield running
    await runner.cleanup()


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """The pooled client that all adapters share."""
    async with http_client() as opened:
        yield opened


@pytest.mark.parametrize(
    "setting", ["tei", "cohere:rerank-v3.5", "voyage:rerank-2.5", "jina:jina-reranker-v2-base-multilingual"]
)
async def test_scores_come_back_in_the_order_of_the_passages(
    setting: str, client: httpx.AsyncClient, service: Service
) -> None:
    """Whatever order the service answers in; each is asked in its own words."""
    reranker = HttpReranker(client, setting, base_url=service.url, api_key=KEY)

    assert await reranker.rerank("question", PASSAGES) == list(SCORES)
    [asked] = service.asked
    assert asked["query"] == "question"
    assert asked.get("texts", asked.get("documents")) == list(PASSAGES)
    assert reranker.model == setting


@pytest.mark.parametrize(
    "answer",
    [
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 1.0}] * 3},
        {"results": [{"index": at, "relevance_score": "high"} for at in range(3)]},
        {"results": [{"index": at, "relevance_score": 0.1} for at in range(4)]},
        {"results": None},
        {},
    ],
)
async def test_an_answer_without_a_score_for_each_is_none(
    answer: object, client: httpx.AsyncClient, service: Service
) -> None:
    """Missing, doubled, surplus and textual scores are an unavailable service."""
    service.answer = answer
    reranker = HttpReranker(client, "cohere:rerank-v3.5", base_url=service.url, api_key=KEY)

    with pytest.raises(UnavailableError, match="one score for each of 3"):
        await reranker.rerank("question", PASSAGES)


async def test_a_list_is_expected_of_tei_alone(client: httpx.AsyncClient, service: Service) -> None:
    """A proxy's object where a list should be is no answer."""
    service.answer = {"status": "fine"}
    reranker = HttpReranker(client, "tei", base_url=service.url, api_key=KEY)

    with pytest.raises(UnavailableError):
        await reranker.rerank("question", PASSAGES)


async def test_a_wrong_key_is_refused_without_being_shown(
    client: httpx.AsyncClient, service: Service
) -> None:
    """The message names the setting."""
    reranker = HttpReranker(client, "cohere:rerank-v3.5", base_url=service.url, api_key="wrong-key")

    with pytest.raises(RefusedError, match="RERANKER_API_KEY") as refused:
        await reranker.rerank("question", PASSAGES)
    assert "wrong-key" not in str(refused.value)


@pytest.mark.parametrize("setting", ["flash", "cohere", "cohere:", ":model", ""])
def test_settings_that_name_no_reranker_are_refused(setting: str) -> None:
    """The message lists what there is."""
    with pytest.raises(ConfigurationError, match="voyage:MODEL"):
        HttpReranker(httpx.AsyncClient(), setting)


def test_tei_needs_a_base_url() -> None:
    """There is no usual place for one's own server."""
    with pytest.raises(ConfigurationError, match="RERANKER_BASE_URL"):
        HttpReranker(httpx.AsyncClient(), "tei")


async def test_a_service_that_is_away_is_a_temporary_error(client: httpx.AsyncClient) -> None:
    """Nothing listens there."""
    reranker = HttpReranker(client, "tei", base_url="http://127.0.0.1:9")

    with pytest.raises(FootnoteError):
        await reranker.rerank("question", PASSAGES)
