"""Golden sets: one JSON object a line, each a question and the sections that answer it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.ids import InvalidIdError, PageId, parse_page_id
from core.errors import InvalidInputError

PROBLEMS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Section:
    """A ranked place: a page and the heading that stands above the passage, empty before any heading."""

    page_id: PageId
    page_title: str
    heading: str
    chunk_id: str = ""


@dataclass(frozen=True, slots=True)
class Relevant:
    """One right place. Names a page by id or title, and where it matters the heading; or one chunk."""

    page_id: PageId | None = None
    page_title: str | None = None
    heading: str | None = None
    chunk_id: str | None = None

    def matches(self, section: Section) -> bool:
        """Whether finding the section is finding this; without a heading any section of the page is."""
        if self.chunk_id is not None:
            return self.chunk_id == section.chunk_id
        if self.page_id is not None:
            same_page = self.page_id == section.page_id
        else:
            same_page = _folded(self.page_title) == _folded(section.page_title)
        return same_page and (self.heading is None or _folded(self.heading) == _folded(section.heading))


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One line of a golden set. ``page_lang`` is empty where the set does not tell it."""

    id: str
    question: str
    lang: str
    relevant: tuple[Relevant, ...]
    answerable: bool
    page_lang: str = ""


def read_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """All questions of the file.

    Raises:
        InvalidInputError: the file cannot be read, or lines are malformed; names up to five of them.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"cannot read {path}: it is not UTF-8") from error
    return parse_golden(lines, name=str(path))


def parse_golden(lines: Iterable[str], *, name: str) -> tuple[GoldenQuestion, ...]:
    """As `read_golden`, from lines; ``name`` is what messages call them."""
    questions: list[GoldenQuestion] = []
    problems: list[str] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(json.loads(line))
            if question.id in seen:
                raise ValueError(f"id {question.id!r} occurs twice")
        except (ValueError, TypeError, AttributeError) as error:
            problems.append(f"line {number}: {error}")
            continue
        seen.add(question.id)
        questions.append(question)
    if problems:
        shown = "\n".join(f"  {problem}" for problem in problems[:PROBLEMS_SHOWN])
        left = len(problems) - PROBLEMS_SHOWN
        more = f"\n  and {left} more" if left > 0 else ""
        raise InvalidInputError(f"{name} is not a golden set:\n{shown}{more}")
    if not questions:
        raise InvalidInputError(f"{name} holds no questions")
    return tuple(questions)


def _question(value: Mapping[str, Any]) -> GoldenQuestion:
    if not isinstance(value, dict):
        raise TypeError("expected an object")
    for field in ("id", "question"):
        if not isinstance(value.get(field), (str, int)) or not str(value[field]).strip():
            raise ValueError(f"{field!r} is missing")
    relevant = tuple(_relevant(entry) for entry in value.get("relevant") or ())
    answerable = value.get("answerable", bool(relevant))
    if not isinstance(answerable, bool):
        raise TypeError("'answerable' must be true or false")
    if answerable and not relevant:
        raise ValueError("an answerable question needs 'relevant' entries")
    return GoldenQuestion(
        id=str(value["id"]),
        question=str(value["question"]),
        lang=str(value.get("lang") or ""),
        relevant=relevant,
        answerable=answerable,
        page_lang=str(value.get("page_lang") or ""),
    )


def _relevant(entry: Mapping[str, Any]) -> Relevant:
    page_id = entry.get("page_id")
    title = entry.get("page_title")
    chunk_id = entry.get("chunk_id")
    if page_id is None and title is None and chunk_id is None:
        raise ValueError("a relevant entry needs page_id, page_title or chunk_id")
    try:
        parsed = parse_page_id(str(page_id)) if page_id is not None else None
    except InvalidIdError as error:
        raise ValueError(str(error)) from None
    heading = entry.get("heading")
    return Relevant(
        page_id=parsed,
        page_title=None if title is None else str(title),
        heading=None if heading is None else str(heading),
        chunk_id=None if chunk_id is None else str(chunk_id),
    )


def _folded(text: str | None) -> str:
    return " ".join((text or "").casefold().split())
