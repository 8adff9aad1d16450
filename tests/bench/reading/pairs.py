"""What the reader is shown: a question with a page that answers it, or with one that does not.

The same page is shown with the line that a question lacked and without it, and with the line that answered
and without that, so that neither the page nor the question gives the verdict away (Kaushik et al., 2020,
arXiv:1909.12434: counterfactually augmented data). Of other pages those are shown above all which the model,
as it was, takes to be near: they are what a search brings.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tests.bench.reading.edits import beside, with_line, without
from tests.bench.reading.groups import Group, GroupPage, GroupQuestion, Sort

RIVALS, STRANGERS = 3, 60
"""The nearest of so many drawn is shown: of the group's other pages, and of other groups' pages. Among more
strangers there would too often be one that answers."""

NOISE = 0.3
"""How often a page that answers is shown with a line that another question lacked."""

SORTS: Mapping[Sort, float] = {Sort.PLAIN: 0.25, Sort.RETOLD: 0.35, Sort.AT_LENGTH: 0.4}
"""How often the question is of each sort, as far as there are any."""

BESIDE, LONGEST = 0.5, 900
"""How often another page of the group is shown in one text with it, and how many characters that may have:
pages here have 280 on average, passages of an index up to 600."""


class Relation(StrEnum):
    """What a page is to a question."""

    ANSWERS = "answers"
    MENDED = "mended"
    """It answers with the line that was missing."""
    NEAR = "near"
    """It is the nearest to a question that none answers."""
    AMISS = "amiss"
    """The nearest, with a line that another question lacked."""
    CUT = "cut"
    """It answered before a line was taken out."""
    SIBLING = "sibling"
    """Another page of the group answers."""
    FAR = "far"
    """None of the group answers, and another is nearer."""
    STRANGE = "strange"
    """It is of another group."""


SHARES: Mapping[Relation, float] = {
    Relation.ANSWERS: 0.24,
    Relation.MENDED: 0.18,
    Relation.NEAR: 0.18,
    Relation.AMISS: 0.09,
    Relation.CUT: 0.06,
    Relation.SIBLING: 0.13,
    Relation.FAR: 0.05,
    Relation.STRANGE: 0.07,
}
"""How often each is shown."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a page; ``answer`` is where in the page's text it is answered, in characters."""

    question: str
    page: GroupPage
    relation: Relation
    answer: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Nearness:
    """Unit vectors: of each group's questions, and of its pages, a row each."""

    questions: Sequence[npt.NDArray[np.float32]]
    pages: Sequence[npt.NDArray[np.float32]]


Asked = tuple[int, int]
"""The places of a group, and of a question in it."""


class Pairs:
    """Draws pairs from groups."""

    def __init__(self, groups: Sequence[Group], nearness: Nearness, draw: random.Random) -> None:
        self._groups = groups
        self._nearness = nearness
        self._draw = draw
        self._all_pages = [(at, page) for at, group in enumerate(groups) for page in range(len(group.pages))]

    def drawn(self, shares: Mapping[Relation, float]) -> Iterator[Pair]:
        """Pairs without end, in these shares; each question comes once before any comes again."""
        asked = {
            (kind, sort): self._round_and_round(self._asked(kind, sort)) for kind in shares for sort in Sort
        }
        while True:
            kind = self._draw.choices([*shares], [*shares.values()])[0]
            sort = self._draw.choices([*SORTS], [*SORTS.values()])[0]
            one = next(asked[kind, sort], None)
            pair = None if one is None else self._pair(kind, one)
            if pair is not None:
                yield pair

    def _asked(self, kind: Relation, sort: Sort) -> list[Asked]:
        """The questions of a sort which that kind of pair can be made of."""
        fits: Callable[[GroupQuestion], bool] = {
            Relation.ANSWERS: lambda one: one.is_answerable,
            Relation.CUT: lambda one: one.is_answerable,
            Relation.SIBLING: lambda one: one.is_answerable,
            Relation.MENDED: lambda one: one.missing is not None,
            Relation.NEAR: lambda one: not one.is_answerable,
            Relation.AMISS: lambda one: one.missing is not None,
            Relation.FAR: lambda one: not one.is_answerable,
            Relation.STRANGE: lambda _: True,
        }[kind]
        return [
            (at, number)
            for at, group in enumerate(self._groups)
            for number, one in enumerate(group.questions)
            if fits(one) and one.sort is sort
        ]

    def _round_and_round(self, asked: list[Asked]) -> Iterator[Asked]:
        while asked:
            yield from self._draw.sample(asked, len(asked))

    def _pair(self, kind: Relation, asked: Asked) -> Pair | None:
        """Null where this question allows none."""
        at, number = asked
        group = self._groups[at]
        question = group.questions[number]
        shown = (at, question.page)
        page: GroupPage | None = group.pages[question.page]
        if kind in {Relation.ANSWERS, Relation.MENDED}:
            return self._longer(self._answered(kind, group, question), shown, asked)
        if kind is Relation.AMISS:
            line = self._other_line(group, question)
            page = None if line is None else with_line(group.pages[question.page], line, self._draw)[0]
        elif kind is Relation.CUT:
            page = without(group.pages[question.page], question.answer or "")
        elif kind in {Relation.SIBLING, Relation.FAR}:
            others = [(at, one) for one in range(len(group.pages)) if one != question.page]
            shown = self._nearest(asked, self._draw.choices(others, k=RIVALS))
            page = self._page(shown)
        elif kind is Relation.STRANGE:
            drawn = self._draw.sample(self._all_pages, min(STRANGERS, len(self._all_pages)))
            shown = self._nearest(asked, [one for one in drawn if one[0] != at])
            page = self._page(shown)
        return None if page is None else self._longer(Pair(question.text, page, kind), shown, asked)

    def _longer(self, pair: Pair, shown: tuple[int, int], asked: Asked) -> Pair:
        """Sometimes with another page of the same group, which is none that answers."""
        question = self._groups[asked[0]].questions[asked[1]]
        answering = (asked[0], question.page) if question.is_answerable else shown
        places = [(shown[0], one) for one in range(len(self._groups[shown[0]].pages))]
        others = [one for one in places if one not in {shown, answering}]
        if not others or self._draw.random() >= BESIDE:
            return pair
        page, start = beside(pair.page, self._page(self._draw.choice(others)), self._draw)
        if len(page.text) > LONGEST:
            return pair
        answer = None if pair.answer is None else (pair.answer[0] + start, pair.answer[1] + start)
        return replace(pair, page=page, answer=answer)

    def _page(self, place: tuple[int, int]) -> GroupPage:
        return self._groups[place[0]].pages[place[1]]

    def _answered(self, kind: Relation, group: Group, question: GroupQuestion) -> Pair:
        page = group.pages[question.page]
        answer = question.answer or ""
        if self._draw.random() < NOISE and (line := self._other_line(group, question)):
            noisy, _ = with_line(page, line, self._draw)
            # A line may have come into the middle of an answer of several sentences.
            page = noisy if question.missing is not None or answer in noisy.text else page
        if question.missing is None:
            start = page.text.index(answer)
        else:
            page, start = with_line(page, question.missing, self._draw)
            start += question.missing.index(answer)
        return Pair(question.text, page, kind, (start, start + len(answer)))

    def _other_line(self, group: Group, question: GroupQuestion) -> str | None:
        """A line that another question lacked: best of the same page."""
        lines = [
            (one.page != question.page, one.missing)
            for one in group.questions
            if one is not question
            and one.missing is not None
            and one.answer != question.answer
            and (question.answer or "\n") not in one.missing
        ]
        best = min((is_elsewhere for is_elsewhere, _ in lines), default=True)
        return self._draw.choice([line for is_elsewhere, line in lines if is_elsewhere == best] or [None])

    def _nearest(self, asked: Asked, pages: Sequence[tuple[int, int]]) -> tuple[int, int]:
        wanted = self._nearness.questions[asked[0]][asked[1]]
        return max(pages, key=lambda one: float(self._nearness.pages[one[0]][one[1]] @ wanted))
