"""What each stage of the ranking is worth, on every golden set: ``python -m tests.bench.fusion [SET ...]``.

Pages are cut by the product's chunker and embedded by the bundled model (kept by text hash in
``~/.cache/footnote-bench``), words are stemmed by embedded PostgreSQL; everything else happens in memory with
the pure functions of `core.services`. Prints nDCG@10 with 95 % bootstrap intervals, and precision, recall and
MRR at 3; ranks count distinct sections.
"""

import asyncio
import hashlib
import math
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import asyncpg
import numpy as np
import numpy.typing as npt

from adapters.embedders.e5_engine import E5Engine
from adapters.sources.sample import SampleSource
from bot.embedded import embedded_postgres
from core.domain.documents import Chunk, Page, PlacedPage
from core.services import background, bm25, languages
from core.services.background import Vectors
from core.services.chunking import ChunkSettings, chunk_page
from core.services.evidence import Asked, Found, gather
from core.services.fusion import Evidence, FusionSettings, fuse
from core.services.grams import gram_counts
from core.services.relevance import Signs, answerable, margin, missing_identifiers
from core.services.splitting import sentences
from core.services.typical_questions import questions_about, typical_questions
from core.services.words import keywords
from tests.bench.datasets import SETS, GoldenQuestion, GoldenSet, sample_questions

HOME = Path.home() / ".cache" / "footnote-bench"
POOL = 50
"""Candidates of each side and passage language."""
RRF_K = 60
CONFIGURATIONS = {"en": "english", "de": "german", "ru": "russian"}
Section = tuple[str, str]
Scores = Mapping[int, float]


class Vectoriser:
    """The bundled model with its vectors kept on disk by text."""

    def __init__(self) -> None:
        HOME.mkdir(parents=True, exist_ok=True)
        self._kept = sqlite3.connect(HOME / "vectors.db")
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
        self._model = E5Engine.installed()

    def embed(self, texts: Sequence[str], *, questions: bool) -> Vectors:
        """One row for each text."""
        keys = [hashlib.sha256(f"{questions}\x1f{text}".encode()).digest() for text in texts]
        found = {key: vector for key in set(keys) if (vector := self._look_up(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        waiting = sorted(new.items(), key=lambda one: len(one[1]))
        for start in range(0, len(waiting), 64):
            batch = waiting[start : start + 64]
            vectors = (self._model.query if questions else self._model.passage)([text for _, text in batch])
            for (key, _), vector in zip(batch, vectors, strict=True):
                found[key] = vector.copy()
                self._kept.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, vector.tobytes()))
            self._kept.commit()
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 384), np.float32)

    def _look_up(self, key: bytes) -> npt.NDArray[np.float32] | None:
        row = self._kept.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)


async def stems(address: str, texts: Sequence[tuple[str, str]]) -> list[dict[str, int]]:
    """The stemmed terms of (language, text) pairs as PostgreSQL counts them."""
    connection = await asyncpg.connect(address)
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS unaccent")
        rows = await connection.fetch(
            """
            SELECT (SELECT array_agg(lexeme) FROM unnest(vector)) AS lexemes,
                   (SELECT array_agg(greatest(cardinality(positions), 1)) FROM unnest(vector)) AS counts
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (configuration, words, place)
            CROSS JOIN LATERAL to_tsvector(configuration::regconfig, unaccent(words)) AS vector
            ORDER BY place
            """,
            [CONFIGURATIONS.get(language, "simple") for language, _ in texts],
            [text for _, text in texts],
        )
    finally:
        await connection.close()
    return [dict(zip(row["lexemes"] or (), row["counts"] or (), strict=True)) for row in rows]


@dataclass(frozen=True)
class Bench:
    """One golden set, indexed in memory."""

    name: str
    chunks: tuple[Chunk, ...]
    questions: tuple[GoldenQuestion, ...]
    vectoriser: Vectoriser
    address: str

    @cached_property
    def sections(self) -> list[Section]:
        """Of each chunk its page and last heading."""
        return [(one.page_id, one.heading_path[-1].text if one.heading_path else "") for one in self.chunks]

    @cached_property
    def languages(self) -> list[str]:
        """Of each chunk the language of its page's text."""
        text: dict[str, str] = {}
        for chunk in self.chunks:
            text[chunk.page_id] = text.get(chunk.page_id, "") + "\n" + chunk.body
        of_page = {page: languages.detect(words) for page, words in text.items()}
        return [of_page[chunk.page_id] for chunk in self.chunks]

    @cached_property
    def vectors(self) -> Vectors:
        """Of each chunk."""
        return self.vectoriser.embed([one.text_to_embed for one in self.chunks], questions=False)

    @cached_property
    def sentences(self) -> tuple[Vectors, list[int]]:
        """The vectors of all sentences in order of chunk, and where those of each chunk begin."""
        parts = [[sentence for sentence, _ in sentences(one.body)] or [one.body] for one in self.chunks]
        vectors = self.vectoriser.embed([sentence for own in parts for sentence in own], questions=False)
        return vectors, list(accumulate((len(own) for own in parts), initial=0))

    @cached_property
    def background(self) -> background.Background:
        """Learned from the index itself."""
        asked_in = {one.lang for one in self.questions} | set(self.languages)
        titles = [one.breadcrumb.rsplit(" > ", 1)[-1] for one in self.chunks]
        titles += [one.heading_path[-1].text for one in self.chunks if one.heading_path]
        return background.learn(
            self.vectors,
            self.languages,
            {one: self._asked(typical_questions(one)) for one in asked_in},
            {one: self._asked(questions_about(titles, one)) for one in asked_in},
        )

    @cached_property
    def terms(self) -> list[dict[str, int]]:
        """Stems of each chunk."""
        pairs = [(spoken, one.text_to_embed) for spoken, one in zip(self.languages, self.chunks, strict=True)]
        return asyncio.run(stems(self.address, pairs))

    @cached_property
    def asked_terms(self) -> list[dict[str, int]]:
        """Stems of each question."""
        return asyncio.run(stems(self.address, [(one.lang, one.question) for one in self.questions]))

    @cached_property
    def runs(self) -> dict[str, Mapping[str, int]]:
        """Runs of letters by text."""
        return {one.text_to_embed: gram_counts(one.text_to_embed) for one in self.chunks}

    @cached_property
    def known(self) -> tuple[bm25.TermStatistics, bm25.TermStatistics]:
        """Statistics of stems and runs."""
        return bm25.statistics(self.terms), bm25.statistics(self.runs.values())

    @cached_property
    def holding(self) -> dict[str, list[int]]:
        """Which chunks hold a stem."""
        places: dict[str, list[int]] = {}
        for place, terms in enumerate(self.terms):
            for term in terms:
                places.setdefault(term, []).append(place)
        return places

    @cached_property
    def asked(self) -> Vectors:
        """The vectors of the questions."""
        return self._asked([one.question for one in self.questions])

    def _asked(self, texts: Sequence[str]) -> Vectors:
        return self.vectoriser.embed(texts, questions=True)

    def by_words(self, number: int) -> Scores:
        """BM25 of the stems."""
        terms = self.asked_terms[number]
        places = {place for term in terms for place in self.holding.get(term, ())}
        return {place: bm25.score(terms, self.terms[place], self.known[0]) for place in places}

    def by_vectors(self, number: int) -> Scores:
        """Raw cosines."""
        return dict(enumerate((self.vectors @ self.asked[number]).tolist()))

    def candidates(self, number: int) -> list[int]:
        """What a store would return: the best of each side, by vectors in each language."""
        cosines, words = self.by_vectors(number), self.by_words(number)
        pool = set(best(words, POOL))
        for spoken in set(self.languages):
            own = {place: cosines[place] for place in cosines if self.languages[place] == spoken}
            pool |= set(best(own, POOL))
        return sorted(pool)

    def evidence(self, number: int) -> dict[int, Evidence]:
        """All that is known of the candidates for one question."""
        question, pool = self.questions[number], self.candidates(number)
        vectors, first = self.sentences
        terms = self.asked_terms[number]
        found = [
            Found(
                text=self.chunks[place].text_to_embed,
                language=self.languages[place],
                vector=self.vectors[place],
                sentences=vectors[first[place] : first[place + 1]],
                stems=bm25.share(terms, self.terms[place], self.known[0]),
            )
            for place in pool
        ]
        gathered = gather(
            Asked(question.question, question.lang, self.asked[number]),
            found,
            background=self.background,
            runs=self.known[1],
        )
        return dict(zip(pool, gathered, strict=True))


def best(scores: Scores, number: int) -> list[int]:
    """The places of the best scores, equal ones in order of place."""
    return sorted(scores, key=lambda place: (-scores[place], place))[:number]


def rank_fusion(*sides: Scores) -> Scores:
    """Equal-weight reciprocal rank fusion."""
    fused: dict[int, float] = {}
    for side in sides:
        for rank, place in enumerate(best(side, 200), start=1):
            fused[place] = fused.get(place, 0.0) + 1 / (RRF_K + rank)
    return fused


Change = Callable[[Evidence], Evidence]
STAGES: dict[str, tuple[Change, FusionSettings]] = {
    "fusion": (lambda one: one, FusionSettings()),
    "- sentences": (lambda one: replace(one, best_sentence=None), FusionSettings()),
    "- letter runs": (lambda one: replace(one, grams=one.stems), FusionSettings()),
    "- stems": (lambda one: replace(one, stems=one.grams), FusionSettings()),
    "- own language first": (lambda one: one, FusionSettings(foreign_demotion=0.0)),
    "- words": (lambda one: one, FusionSettings(lexical_weight=0.0)),
}


def rankings(bench: Bench, number: int) -> dict[str, Scores]:
    """Every stage's scores for one question."""
    words, cosines = bench.by_words(number), bench.by_vectors(number)
    found = {"BM25": words, "vectors": cosines, "plain RRF": rank_fusion(words, cosines)}
    evidence, spoken = bench.evidence(number), bench.questions[number].lang
    for stage, (change, settings) in STAGES.items():
        scores = fuse(
            [change(one) for one in evidence.values()],
            question_language=spoken,
            spread=bench.background.spread,
            settings=settings,
        )
        found[stage] = dict(zip(evidence, scores, strict=True))
    return found


def distinct_sections(bench: Bench, scores: Scores, number: int = 10) -> list[Section]:
    """The best sections in order, each once."""
    return list(dict.fromkeys(bench.sections[place] for place in best(scores, 200)))[:number]


def figures(ranked: Sequence[Section], question: GoldenQuestion) -> tuple[float, float, float, float]:
    """nDCG@10, precision@3, recall@3 and MRR@3 of one ranking."""
    wanted = {(one["page_id"], one["heading"] or "") for one in question.relevant}
    hits = [section in wanted for section in ranked]
    gain = sum(1 / math.log2(at + 2) for at, hit in enumerate(hits) if hit)
    ideal = sum(1 / math.log2(at + 2) for at in range(min(len(wanted), 10)))
    first = next((at for at, hit in enumerate(hits[:3], start=1) if hit), 0)
    return gain / ideal, sum(hits[:3]) / 3, sum(hits[:3]) / len(wanted), 1 / first if first else 0.0


def probability(bench: Bench, number: int) -> float:
    """Whether the index answers a question, by its best passage."""
    question, evidence = bench.questions[number], bench.evidence(number)
    scores = fuse(list(evidence.values()), question_language=question.lang, spread=bench.background.spread)
    places = list(evidence)
    top = places[max(range(len(scores)), key=lambda at: (scores[at], -at))]
    figure = bench.background.stands_out(
        float(bench.vectors[top] @ bench.asked[number]),
        question_language=question.lang,
        passage_language=bench.languages[top],
    )
    lead = margin(scores, [bench.sections[place] for place in places])
    lacking = missing_identifiers(keywords(question.question, question.lang), bench.chunks[top].text_to_embed)
    return answerable(Signs(figure, lead, missing=bool(lacking)))


def chunks_of(pages: Iterable[tuple[Page, Sequence[Page]]]) -> tuple[Chunk, ...]:
    """Every page with its ancestors, cut."""
    return tuple(
        chunk
        for page, ancestors in pages
        for chunk in chunk_page(
            PlacedPage(page.ref, tuple(one.ref for one in ancestors)), page.blocks, ChunkSettings()
        )
    )


async def sample_pages() -> list[tuple[Page, list[Page]]]:
    """The sample workspace with the ancestors of each page."""
    source = SampleSource()
    pages = {ref.id: await source.read(ref) async for ref in source.list_pages()}
    placed = []
    for page in pages.values():
        above: list[Page] = []
        parent = page.ref.parent_id
        while parent in pages:
            above.insert(0, pages[parent])
            parent = pages[parent].ref.parent_id
        placed.append((page, above))
    return placed


def report(bench: Bench, questions: Sequence[int], title: str) -> None:
    """Print one table."""
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    for number in questions:
        for stage, scores in rankings(bench, number).items():
            ranked = distinct_sections(bench, scores)
            rows.setdefault(stage, []).append(figures(ranked, bench.questions[number]))
    rng = np.random.default_rng(0)
    say(f"\n{title}: {len(questions)} questions, {len(bench.chunks)} chunks")
    say(f"{'':22} nDCG@10 [95 %]           P@3   R@3   MRR@3")
    for stage, values in rows.items():
        table = np.array(values)
        means = table[rng.integers(0, len(table), (1000, len(table))), 0].mean(axis=1)
        low, high = np.quantile(means, (0.025, 0.975))
        mean = table.mean(axis=0)
        say(f"{stage:22} {mean[0]:.4f}  [{low:.3f}-{high:.3f}]   {mean[1]:.3f} {mean[2]:.3f} {mean[3]:.3f}")


def report_refusals(bench: Bench) -> None:
    """Print how well the probability tells unanswerable questions apart."""
    figure = {number: probability(bench, number) for number in range(len(bench.questions))}
    answered = np.array([figure[at] for at, one in enumerate(bench.questions) if one.answerable])
    threshold = float(np.quantile(answered, 0.05))
    for kind in ("near-miss", "off-topic"):
        other = np.array([figure[at] for at, one in enumerate(bench.questions) if one.kind == kind])
        area = float((answered[:, None] > other).mean() + (answered[:, None] == other).mean() / 2)
        refused = float((other < threshold).mean())
        say(f"{kind}: area under the curve {area:.3f}, refused at 5 % false refusals {refused:.3f}")
    say(f"the probability below which 5 % of answerable questions lie: {threshold:.3f}")


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201 - a command's output


def main(arguments: Sequence[str]) -> int:
    """Measure the sets that are named, or all."""
    named = list(arguments) or [*SETS, "sample"]
    if unknown := [name for name in named if name not in (*SETS, "sample")]:
        say(f"unknown: {', '.join(unknown)}; there are {', '.join((*SETS, 'sample'))}")
        return 2
    vectoriser = Vectoriser()
    with embedded_postgres(HOME / "postgres") as address:
        for name in named:
            measure(name, vectoriser, address)
    return 0


def measure(name: str, vectoriser: Vectoriser, address: str) -> None:
    """Measure one set."""
    if name == "sample":
        bench = Bench(name, chunks_of(asyncio.run(sample_pages())), sample_questions(), vectoriser, address)
    else:
        golden: GoldenSet = SETS[name]()
        bench = Bench(
            name, chunks_of((page, ()) for page in golden.pages), golden.questions, vectoriser, address
        )
    groups: dict[str, list[int]] = {}
    for number, question in enumerate(bench.questions):
        if question.answerable:
            across = question.kind == "cross-language"
            groups.setdefault(f"{name} across languages" if across else name, []).append(number)
    for title, numbers in groups.items():
        report(bench, numbers, title)
    if any(not question.answerable for question in bench.questions):
        report_refusals(bench)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
