"""Groups of closely related pages with questions: one page of a group answers, or none does.

A line of ``groups/*.jsonl`` is {id, at_length?, pages: [{lang, title, heading, text}], answerable: [{q, lang,
page, answer, retold?}], unanswerable: [{q, lang, near, fix?, answer?, retold?}]}. ``answer`` is a stretch of
the page's text; no other page of the group answers that question. ``near`` is the page that a search for an
unanswerable question would find, and ``fix`` a line that, if it stood there, would answer it: ``answer`` is a
stretch of that line then. ``retold`` is true of what asks for the same as another question in words of its
own: out of a situation, as people do who do not know how the wiki puts it. ``at_length`` is true of groups
whose pages are as long as passages of an index, and whose answers are steps, lists and reasons as well as
facts.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.ports.reading import Writing

FOLDER = Path(__file__).parent / "groups"

HELD_OUT = 8
"""Every so many-th group is never taught from: what is measured and calibrated is measured on those."""


class Sort(StrEnum):
    """How a question is put, and what answers it."""

    PLAIN = "plain"
    """As the page puts it; a short fact of a short page."""
    RETOLD = "retold"
    """The same in words of its own."""
    AT_LENGTH = "at length"
    """Either way; often several lines of a long page."""


@dataclass(frozen=True, slots=True)
class GroupPage:
    """One page, of the size of a passage."""

    lang: str
    title: str
    heading: str | None
    text: str

    @property
    def writing(self) -> Writing:
        """The page as the reader is given it."""
        return Writing(self.title if self.heading is None else f"{self.title} > {self.heading}", self.text)


@dataclass(frozen=True, slots=True)
class GroupQuestion:
    """A question; ``page`` is the one that answers, or the nearest to it where none does.

    ``answer`` is a stretch of that page, or of ``missing``: the line that the page would need. Both are null
    where nothing on the page could answer.
    """

    text: str
    lang: str
    page: int
    answer: str | None
    missing: str | None = None
    sort: Sort = Sort.PLAIN

    @property
    def is_answerable(self) -> bool:
        """Whether a page of the group answers."""
        return self.answer is not None and self.missing is None


@dataclass(frozen=True, slots=True)
class Group:
    """Pages on one subject, or of one small wiki, and what is asked about them."""

    id: str
    pages: tuple[GroupPage, ...]
    questions: tuple[GroupQuestion, ...]

    @property
    def is_held_out(self) -> bool:
        """Whether the group is for measuring; by its name, so that it stays so when others are added."""
        return zlib.crc32(self.id.encode()) % HELD_OUT == 0


def read_groups(files: Sequence[Path] | None = None) -> tuple[Group, ...]:
    """All groups.

    Raises:
        ValueError: a line is not of the form, or an answer does not stand in its page.
    """
    chosen = sorted(FOLDER.glob("*.jsonl")) if files is None else files
    return tuple(_group(line) for file in chosen for line in file.read_text("utf-8").splitlines())


def _group(line: str) -> Group:
    read = json.loads(line)
    pages = tuple(GroupPage(one["lang"], one["title"], one["heading"], one["text"]) for one in read["pages"])
    answered = [
        GroupQuestion(one["q"], one["lang"], one["page"], one["answer"], sort=_sort(read, one))
        for one in read["answerable"]
    ]
    for one in answered:
        if not one.answer or one.answer not in pages[one.page].text:
            raise ValueError(f"{read['id']}: the answer of {one.text!r} is no part of page {one.page}")
    others = [
        GroupQuestion(
            one["q"],
            one["lang"],
            one["near"],
            one.get("answer"),
            one.get("fix"),
            sort=_sort(read, one),
        )
        for one in read["unanswerable"]
    ]
    for one in others:
        if one.missing is not None and (not one.answer or one.answer not in one.missing):
            raise ValueError(f"{read['id']}: the answer of {one.text!r} is no part of its line")
    return Group(read["id"], pages, (*answered, *others))


def _sort(group: Mapping[str, object], question: Mapping[str, object]) -> Sort:
    if group.get("at_length"):
        return Sort.AT_LENGTH
    return Sort.RETOLD if question.get("retold") else Sort.PLAIN
