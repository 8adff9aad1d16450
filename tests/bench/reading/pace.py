"""What reading costs, in time and memory: ``python -m tests.bench.reading.pace``."""

import asyncio
import statistics
import sys
from time import perf_counter

from adapters.readers.e5_reader import E5Reader
from core.services.reading import FIRST_READ, MOST_READ
from tests.bench.memory import peak
from tests.bench.product import say
from tests.bench.reading.groups import read_groups

QUESTIONS = 60


async def main() -> int:
    """Load, read, and print."""
    groups = [one for one in read_groups() if one.is_held_out]
    pages = [page.writing for group in groups for page in group.pages]
    asked = [question.text for group in groups for question in group.questions][:QUESTIONS]
    before = peak()
    async with E5Reader() as reader:
        started = perf_counter()
        await reader.read(asked[0], pages[:1])
        say(f"loaded in {perf_counter() - started:.1f} s, {peak() - before:.0f} MiB more at most")
        for count in (FIRST_READ, MOST_READ):
            seconds = []
            for at, question in enumerate(asked):
                started = perf_counter()
                await reader.read(question, pages[at : at + count])
                seconds.append(perf_counter() - started)
            middle, most = statistics.median(seconds), max(seconds)
            say(f"{count} passages: median {1000 * middle:.0f} ms, at most {1000 * most:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
