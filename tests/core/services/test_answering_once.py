"""Equal questions in several processes are answered once."""

import asyncio
from collections.abc import AsyncIterator

from adapters.caches.connecting import RedisConnection
from adapters.caches.leases import RedisLeases
from adapters.caches.redis import RedisCache
from core.domain.answers import Answer
from core.domain.models import Fingerprint
from core.ports import Prompt
from core.services.answering import Answering
from core.services.caching import AnswerCache, Making
from core.services.retriever import Retriever
from tests.core.services.answered import a_question
from tests.core.services.found import ScriptedIndex, WordEmbedder, a_hit

MAKING = Making(model="scripted", prompt="1", index=Fingerprint("f"))


class SlowModel:
    """Writes one grounded sentence after a while, and counts how often it was asked."""

    model = "scripted"
    context_tokens = 4096

    def __init__(self) -> None:
        self.calls = 0

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """A sentence of the first source."""
        assert prompt.user
        self.calls += 1
        await asyncio.sleep(0.2)
        yield "You have 28 vacation days [1]."


async def test_a16_twenty_equal_questions_in_four_processes_cost_one_generation(redis_url: str) -> None:
    """Each process has its own connection; what one of them writes, all of them answer."""
    model = SlowModel()
    connections = [RedisConnection(redis_url) for _ in range(4)]
    processes = [
        Answering(
            retriever=Retriever(
                index=ScriptedIndex(a_hit(body="You have 28 vacation days.")), embedder=WordEmbedder()
            ),
            generator=model,
            cache=AnswerCache(RedisCache(connection), MAKING),
            leases=RedisLeases(connection),
        )
        for connection in connections
    ]

    outcomes = await asyncio.gather(*(processes[n % 4].answer(a_question(asker=f"U{n}")) for n in range(20)))
    for connection in connections:
        await connection.close()

    assert model.calls == 1
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert {outcome.retrieval.question.asker for outcome in outcomes if outcome.retrieval} == {
        f"U{n}" for n in range(20)
    }
