"""A chat model that finds no answer in the sources, through both of its APIs and the whole answering path."""

from collections.abc import AsyncIterator

import httpx
import pytest

from adapters.caches.memory import MemoryCache
from adapters.generators.ollama import OllamaGenerator
from adapters.generators.openai_http import OpenAIGenerator
from adapters.generators.streaming import Pace
from adapters.transport import http_client
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Retrieval
from core.domain.models import Fingerprint
from core.services.answering import Answering
from core.services.caching import AnswerCache, Making
from core.services.refusals import Verdict
from core.services.retriever import Retriever
from tests.core.services.found import ScriptedIndex, WordEmbedder, a_hit, a_question
from tests.fakes.model import Cut, Failure, ModelServer, Reply, model_server

MODEL = "llama3.1:8b"
PACE = Pace(first=5.0, silence=5.0, total=10.0, pause=0.001, longest_pause=0.05)
MARK = "NOT_IN_WIKI"

Chat = OllamaGenerator | OpenAIGenerator


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """The pooled client that all adapters share."""
    async with http_client() as opened:
        yield opened


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A model server without a script."""
    async with model_server(MODEL) as running:
        yield running


@pytest.fixture(params=[OllamaGenerator, OpenAIGenerator], ids=["ollama", "openai"])
def service(request: pytest.FixtureRequest, client: httpx.AsyncClient, server: ModelServer) -> Answering:
    """The answering service over one passage, judged worth reading, and the real adapter of a chat API."""
    generator: Chat = request.param(client, MODEL, base_url=server.url, pace=PACE)
    embedder = WordEmbedder()
    making = Making(model=MODEL, prompt="1", index=Fingerprint("f"))
    return Answering(
        retriever=Retriever(index=ScriptedIndex(a_hit(1, "You have 28 vacation days.")), embedder=embedder),
        generator=generator,
        embedder=embedder,
        cache=AnswerCache(MemoryCache(), making),
        judge=_willing,
    )


def _willing(_retrieval: Retrieval) -> Verdict:
    return Verdict(is_answerable=True, is_confident=True)


class Watching:
    """Keeps what is shown while the model writes."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def stage(self, name: str) -> None:
        """A stage shows no text."""

    async def text(self, so_far: str) -> None:
        """A preview."""
        self.shown.append(so_far)


def chats(server: ModelServer) -> int:
    """How often a chat was asked for."""
    return len(server.asked("/api/chat")) + len(server.asked("/v1/chat/completions"))


@pytest.mark.parametrize(
    "text",
    [MARK, f"{MARK}. " + "The sources speak of vacation days and of nothing else. " * 6],
    ids=["only the mark", "and goes on"],
)
async def test_a2_a_streamed_refusal_cites_and_shows_nothing(
    service: Answering, server: ModelServer, text: str
) -> None:
    """However the stream cuts the mark up, the outcome is the fixed refusal and no preview had the mark."""
    server.will(Reply(text, pieces=9))
    watching = Watching()

    outcome = await service.answer(a_question(), watching)

    assert isinstance(outcome, NoAnswer)
    assert outcome.reason is NoAnswerReason.NO_RELEVANT_PAGES
    assert watching.shown == []


async def test_a14_a_refusal_asked_for_again_at_once_costs_no_chat(
    service: Answering, server: ModelServer
) -> None:
    """The second asker gets the same refusal; the server saw one chat."""
    server.will(Reply(MARK))

    outcomes = [await service.answer(a_question()) for _ in range(2)]

    assert [type(outcome) for outcome in outcomes] == [NoAnswer, NoAnswer]
    assert chats(server) == 1


async def test_t15_a_model_may_think_of_refusing(service: Answering, server: ModelServer) -> None:
    """The mark among the thoughts, in the API's field for them or in the text, is no refusal."""
    server.will(
        Reply("You have 28 days [1].", thinking=f"Should I write {MARK}?"),
        Reply(f"<think>Write {MARK}? No.</think>You have 28 days [1]."),
    )

    outcomes = [await service.answer(a_question(text)) for text in ("How many days?", "Which days?")]

    assert [type(outcome) for outcome in outcomes] == [Answer, Answer]


@pytest.mark.parametrize(
    "trouble",
    [Cut("You have 28 days [1]. And", abruptly=True), Failure(400, "context length exceeded")],
    ids=["cut", "refused"],
)
async def test_a14_a_model_that_fails_is_replaced_by_quotes_not_by_a_refusal(
    service: Answering, server: ModelServer, trouble: Cut | Failure
) -> None:
    """Nobody read the passages, so what they say is quoted and marked as a makeshift, and nothing is kept."""
    server.will(*[trouble] * 8)

    first = await service.answer(a_question())
    second = await service.answer(a_question())

    for outcome in (first, second):
        assert isinstance(outcome, Answer)
        assert outcome.degraded
        assert not outcome.cached
        assert outcome.citations[0].passage.candidate.body == "You have 28 vacation days."
