"""Golden sets for measuring retrieval, in one form: pages to index, and questions with what answers them.

XQuAD and the documentation set are read from the folder that FOOTNOTE_BENCH_DATA names (``xquad/`` and
``anthropic-docs-rag/`` below it); the sample set is part of the tests. Nothing is copied.

``python -m tests.bench.datasets xquad:de > golden.jsonl`` writes the questions of a set as lines for
``footnote eval``: {id, question, lang, relevant: [{page_id, page_title, heading?}], answerable}.
"""

import json
import os
import random
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from core.domain.documents import Block, BlockKind, Page, PageRef
from core.domain.ids import PageId

XQUAD_LANGUAGES = ("en", "de", "ru")
LONG_WORD = 5
"""Letters from which a word is mistyped."""
_NAMES = uuid.UUID("7d0a1c52-6f0e-4f6a-9a0e-0f0a5c3b9e11")
_GOLDEN = Path(__file__).parent.parent / "golden"


class Relevant(TypedDict):
    """One place that answers; ``heading`` is the last of its path, null or absent for the page as such."""

    page_id: str
    page_title: str
    heading: str | None


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One line of a golden set."""

    id: str
    question: str
    lang: str
    relevant: tuple[Relevant, ...]
    answerable: bool = True
    kind: str = ""

    def as_line(self) -> str:
        """The question as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Pages and the questions asked about them; ``name`` is how it appears in tables."""

    name: str
    pages: tuple[Page, ...]
    questions: tuple[GoldenQuestion, ...]


def data_folder() -> Path:
    """The folder with the data sets.

    Raises:
        LookupError: FOOTNOTE_BENCH_DATA names no folder.
    """
    named = os.environ.get("FOOTNOTE_BENCH_DATA", "")
    if not named or not Path(named).is_dir():
        raise LookupError("Set FOOTNOTE_BENCH_DATA to the folder that holds xquad/ and anthropic-docs-rag/.")
    return Path(named)


def read_xquad(language: str) -> list[dict[str, Any]]:
    """The articles as the file has them: title, paragraphs of context and qas."""
    articles: list[dict[str, Any]] = _json(data_folder() / "xquad" / f"xquad.{language}.json")["data"]
    return articles


def xquad(*, pages: Sequence[str], questions: str) -> GoldenSet:
    """XQuAD: each paragraph is a page, titled as its article.

    ``pages`` are the languages indexed together, ``questions`` the language asked in. Relevant is the
    paragraph in the language of the question if that is indexed, else in the indexed ones.
    """
    indexed = tuple(page for language in pages for page in _xquad_pages(language))
    answer_in = (questions,) if questions in pages else tuple(pages)
    asked = tuple(
        GoldenQuestion(
            id=f"xquad-{questions}-{entry['id']}",
            question=entry["question"],
            lang=questions,
            relevant=tuple(
                Relevant(page_id=_xquad_id(language, article, number), page_title=title, heading=None)
                for language in answer_in
            ),
        )
        for article, title, number, paragraph in _paragraphs(questions)
        for entry in paragraph["qas"]
    )
    same = tuple(pages) == (questions,)
    return GoldenSet(f"xquad {questions}" + ("" if same else f" on {'+'.join(pages)}"), indexed, asked)


def mistyped(golden: GoldenSet) -> GoldenSet:
    """Every fourth question, with a letter swapped, dropped or doubled in every second long word."""
    draw = random.Random(7)
    questions = tuple(
        replace(one, id=f"{one.id}-typo", question=_mistype(one.question, draw))
        for one in golden.questions[::4]
    )
    return replace(golden, name=f"{golden.name}, mistyped", questions=questions)


def _mistype(text: str, draw: random.Random) -> str:
    words = text.split()
    long = [place for place, word in enumerate(words) if sum(map(str.isalpha, word)) >= LONG_WORD]
    for place in draw.sample(long, (len(long) + 1) // 2):
        word, at = words[place], draw.randrange(1, LONG_WORD - 1)
        words[place] = draw.choice(
            [
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + word[at + 1 :],
                word[: at + 1] + word[at:],
            ]
        )
    return " ".join(words)


def xquad_mosaic() -> GoldenSet:
    """XQuAD with each article in one language only, asked in all of them: a wiki of many languages."""
    languages = {article: XQUAD_LANGUAGES[at % 3] for at, article in enumerate(_articles())}
    pages = tuple(
        page
        for language in XQUAD_LANGUAGES
        for page in _xquad_pages(language, only={one for one, kept in languages.items() if kept == language})
    )
    questions = tuple(
        GoldenQuestion(
            id=f"mosaic-{language}-{entry['id']}",
            question=entry["question"],
            lang=language,
            relevant=(
                Relevant(
                    page_id=_xquad_id(languages[article], article, number), page_title=title, heading=None
                ),
            ),
            kind="lookup" if languages[article] == language else "cross-language",
        )
        for language in XQUAD_LANGUAGES
        for article, title, number, paragraph in _paragraphs(language)
        for entry in paragraph["qas"]
    )
    return GoldenSet("xquad mosaic", pages, questions)


def documentation() -> GoldenSet:
    """anthropic-docs-rag: each URL a page, each of its chunks a section under its heading."""
    folder = data_folder() / "anthropic-docs-rag"
    sections = _json(folder / "anthropic_docs.json")
    by_url: dict[str, list[dict[str, str]]] = {}
    for section in sections:
        by_url.setdefault(section["chunk_link"].partition("#")[0], []).append(section)
    pages = tuple(
        Page(
            PageRef(id=_page_id(url), title=_title_of(url), url=url),
            tuple(block for section in parts for block in _section_blocks(section)),
        )
        for url, parts in by_url.items()
    )
    place = {section["chunk_link"]: section for section in sections}
    questions = tuple(
        GoldenQuestion(
            id=f"docs-{entry['id']}",
            question=entry["question"],
            lang="en",
            relevant=tuple(
                Relevant(
                    page_id=_page_id(link.partition("#")[0]),
                    page_title=_title_of(link.partition("#")[0]),
                    heading=heading_of(place[link]),
                )
                for link in entry["correct_chunks"]
            ),
        )
        for entry in _json(folder / "docs_evaluation_dataset.json")
    )
    return GoldenSet("documentation", pages, questions)


def sample_questions() -> tuple[GoldenQuestion, ...]:
    """The golden questions about the sample workspace, whose pages `adapters.sources.sample` reads."""
    return tuple(
        GoldenQuestion(
            id=line["id"],
            question=line["question"],
            lang=line["lang"],
            relevant=tuple(line["relevant"]),
            answerable=line["answerable"],
            kind=line["kind"],
        )
        for line in map(json.loads, (_GOLDEN / "sample.jsonl").read_text(encoding="utf-8").splitlines())
    )


def heading_of(section: dict[str, str]) -> str:
    """The heading of a documentation chunk, made unique within its page by its anchor where it is empty."""
    return " ".join(section["chunk_heading"].split()) or section["chunk_link"].partition("#")[2]


def _section_blocks(section: dict[str, str]) -> Iterator[Block]:
    yield Block(BlockKind.HEADING, heading_of(section), level=1)
    for paragraph in section["text"].split("\n\n"):
        if text := paragraph.strip():
            yield Block(BlockKind.PARAGRAPH, text)


def _title_of(url: str) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1].replace("-", " ").capitalize()


def _xquad_pages(language: str, only: set[str] | None = None) -> Iterator[Page]:
    for article, title, number, paragraph in _paragraphs(language):
        if only is None or article in only:
            identifier = PageId(_xquad_id(language, article, number))
            yield Page(
                PageRef(
                    id=identifier, title=title, url=f"https://www.notion.so/{identifier.replace('-', '')}"
                ),
                (Block(BlockKind.PARAGRAPH, paragraph["context"]),),
            )


def _paragraphs(language: str) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    for article in read_xquad(language):
        for number, paragraph in enumerate(article["paragraphs"]):
            yield article["title"], article["title"].replace("_", " "), number, paragraph


def _articles() -> list[str]:
    return list(dict.fromkeys(article for article, _, _, _ in _paragraphs("en")))


def _xquad_id(language: str, article: str, number: int) -> str:
    return _page_id(f"xquad/{language}/{article}/{number}")


def _page_id(name: str) -> PageId:
    return PageId(str(uuid.uuid5(_NAMES, name)))


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _mistyped_xquad(language: str) -> GoldenSet:
    return mistyped(xquad(pages=(language,), questions=language))


SETS: dict[str, Callable[[], GoldenSet]] = {
    **{f"xquad:{one}": partial(xquad, pages=(one,), questions=one) for one in XQUAD_LANGUAGES},
    **{f"xquad:{one}>en": partial(xquad, pages=("en",), questions=one) for one in ("de", "ru")},
    **{f"xquad:{one}>all": partial(xquad, pages=XQUAD_LANGUAGES, questions=one) for one in XQUAD_LANGUAGES},
    **{f"xquad:{one}~typos": partial(_mistyped_xquad, one) for one in XQUAD_LANGUAGES},
    "xquad:mosaic": xquad_mosaic,
    "docs": documentation,
}
"""Every set by the name it is asked for with; ``de>en`` asks in German about English pages, ``de~typos`` with
typing errors."""


def main(arguments: Sequence[str]) -> int:
    """Print a set's questions, one line each."""
    if len(arguments) != 1 or arguments[0] not in (*SETS, "sample"):
        print(f"usage: python -m tests.bench.datasets {{{','.join((*SETS, 'sample'))}}}", file=sys.stderr)  # noqa: T201 - a command
        return 2
    questions = sample_questions() if arguments[0] == "sample" else SETS[arguments[0]]().questions
    for question in questions:
        print(question.as_line())  # noqa: T201 - its output
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
