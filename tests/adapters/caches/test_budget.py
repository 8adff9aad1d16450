"""What cached answers take in Redis, and what happens at the end of its memory."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import redis.asyncio

from adapters.caches.redis import PREFIX, RedisCache
from bot.embedded import embedded_redis
from core.domain.answers import Answer
from core.domain.models import Fingerprint
from core.services.caching import AnswerCache, Making
from core.services.packing import ANSWERS
from tests.adapters.chat.answers import a_passage, an_answer
from tests.core.services.answered import a_question

MAKING = Making(model="m", prompt="1", index=Fingerprint("f"))
TEXT = (
    "The office opens every morning and closes when the last person leaves, so please water plants near "
    "kitchen before you lock doors, windows and gates, since deliveries from suppliers arrive late."
)
WORDS = tuple(TEXT.split())


def an_answer_of_usual_size(number: int) -> Answer:
    """Five passages of 600 characters, of which three are cited."""
    dice = random.Random(number)
    passages = tuple(
        replace(
            one,
            candidate=replace(
                one.candidate, body=" ".join(dice.choice(WORDS) for _ in range(110))[:600], language="en"
            ),
        )
        for one in (a_passage(at) for at in range(1, 6))
    )
    question = a_question(f"Question {number}?")
    answer = an_answer(question, passages=passages[:3])
    return replace(answer, retrieval=replace(answer.retrieval, passages=passages, query=question.text))


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator["redis.asyncio.Redis"]:
    """A look past the cache."""
    opened = redis.asyncio.Redis.from_url(redis_url)
    yield opened
    await opened.aclose()


async def test_an_answer_takes_a_few_kilobytes(redis_url: str, client: "redis.asyncio.Redis") -> None:
    """Less than half of what it is, all overhead included: 256 MiB hold some 60,000 answers."""
    cache = RedisCache(redis_url)
    answers = AnswerCache(cache, MAKING)
    given = [an_answer_of_usual_size(number) for number in range(50)]
    for answer in given:
        assert await answers.keep(answer)
    taken = [await client.memory_usage(key) or 0 for key in await client.keys(f"{PREFIX}answer:*")]
    found = await answers.find(given[0].retrieval.question, generation=given[0].retrieval.generation)
    await cache.close()

    bare = sum(len(ANSWERS.pack(answer)) for answer in given) / len(given)
    assert len(taken) == len(given)
    assert sum(taken) / len(taken) < bare / 2
    assert sum(taken) / len(taken) < 4096
    assert found is not None
    assert found.citations == given[0].citations


async def test_the_memory_of_the_embedded_server_is_bounded(client: "redis.asyncio.Redis") -> None:
    """A quarter of a gibibyte, and what was not used for longest goes first."""
    memory = await client.info("memory")

    assert memory["maxmemory"] == 256 * 2**20
    assert memory["maxmemory_policy"] == "allkeys-lru"


async def test_at_the_end_of_its_memory_redis_forgets_what_was_not_asked_for_longest(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """New answers are kept, memory stays within its budget, and what is asked again and again stays."""
    home = tmp_path_factory.mktemp("redis")
    with embedded_redis(home) as url:
        own = redis.asyncio.Redis.from_url(url)
        used = (await own.info("memory"))["used_memory"]
        await own.config_set("maxmemory", used + 2 * 2**20)
        await own.config_set("maxmemory-samples", 64)
        cache = RedisCache(url)
        answers = AnswerCache(cache, MAKING)
        often = an_answer_of_usual_size(0)
        await answers.keep(often)
        for number in range(1, 1500):
            assert await answers.keep(an_answer_of_usual_size(number))
            if number % 400 == 0:
                await asyncio.sleep(1.1)  # Redis tells ages by the second.
            if number % 20 == 0:
                asked = often.retrieval
                assert await answers.find(asked.question, generation=asked.generation) is not None
        memory = await own.info("memory")
        newest = an_answer_of_usual_size(1499).retrieval
        found = await answers.find(newest.question, generation=newest.generation)
        kept = await own.dbsize()
        await cache.close()
        await own.aclose()

    assert memory["used_memory"] <= memory["maxmemory"] * 1.05
    assert 100 < kept < 1400
    assert found is not None
