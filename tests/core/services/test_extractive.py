"""Answers by quoting: the nearest sentences, each with its source, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from markdown_it import MarkdownIt

from core.domain.answers import Answer, Reading
from core.domain.models import ModelProfile, Vector
from core.errors import UnavailableError
from core.services.citing import Cited
from core.services.extractive import LONGEST, MOST_QUOTES, ExtractiveWriter, Quote, compose
from core.services.units import units_of
from tests.core.services.found import WordEmbedder, a_passage, a_retrieval, page_url, under


def text_of(cited: Cited) -> str:
    """The text with plain ``[n]`` marks."""
    return "".join(span.text + "".join(f" [{number}]" for number in span.cites) for span in cited.spans)


async def test_the_nearest_sentence_is_quoted_and_cited() -> None:
    """Of a passage only what answers is given."""
    passage = a_passage(1, "The office is old. You have 28 vacation days. Coffee is free.")
    cited = await ExtractiveWriter(WordEmbedder()).write(a_retrieval(passage))

    assert text_of(cited) == "> You have 28 vacation days. [1]"
    assert cited.citations[0].passage == passage
    assert cited.citations[0].quote == "You have 28 vacation days."


async def test_words_are_enough_without_embedder() -> None:
    """No embedder, or one that fails, leaves the words to decide."""
    retrieval = a_retrieval(a_passage(1, "The office is old. You have 28 vacation days. Coffee is free."))

    for writer in (ExtractiveWriter(None), ExtractiveWriter(WordEmbedder(error=UnavailableError("down")))):
        assert text_of(await writer.write(retrieval)) == "> You have 28 vacation days. [1]"


async def test_every_quote_has_its_source() -> None:
    """Sentences of two pages are two quotes with two numbers, in the passages' order."""
    retrieval = a_retrieval(
        a_passage(1, "You have 28 vacation days."), a_passage(2, "You have five vacation days more.")
    )
    cited = await ExtractiveWriter(None).write(retrieval)

    assert text_of(cited) == "> You have 28 vacation days. [1]\n\n> You have five vacation days more. [2]"


async def test_the_same_sentence_is_quoted_once() -> None:
    """Overlapping chunks and copies repeat themselves, the answer does not."""
    retrieval = a_retrieval(
        a_passage(1, "You have 28 vacation days.", chunk=1),
        a_passage(1, "You have 28 vacation days.", chunk=2),
        a_passage(2, "You have 28 vacation days."),
    )

    assert text_of(await ExtractiveWriter(None).write(retrieval)) == "> You have 28 vacation days. [1]"


async def test_an_answer_has_an_upper_length() -> None:
    """Few quotes, and not more characters than a person reads."""
    sentences = " ".join(f"Vacation days in year {year} are {year} days long." for year in range(2000, 2040))
    retrieval = a_retrieval(*[a_passage(page, sentences) for page in range(1, 5)])
    cited = await ExtractiveWriter(None).write(retrieval)

    assert len([span for span in cited.spans if span.cites]) <= MOST_QUOTES
    assert len(text_of(cited)) <= LONGEST + 50


async def test_a_lead_in_says_that_the_language_differs() -> None:
    """A German question answered from an English page gets a German lead-in and the English quote."""
    retrieval = a_retrieval(
        a_passage(1, "You have 28 vacation days."), text="Wie viele Urlaubstage habe ich?", language="de"
    )
    cited = await ExtractiveWriter(None).write(retrieval)

    assert text_of(cited) == (
        "Im Wiki steht dazu, in einer anderen Sprache:\n\n> You have 28 vacation days. [1]"
    )
    assert cited.spans[0].cites == ()


async def test_no_lead_in_without_need() -> None:
    """Neither in the same language nor where one of them is unknown."""
    same = a_retrieval(a_passage(1, "You have 28 vacation days."))
    unknown = a_retrieval(a_passage(1, "You have 28 vacation days."), language="")

    assert text_of(await ExtractiveWriter(None).write(same)).startswith(">")
    assert text_of(await ExtractiveWriter(None).write(unknown)).startswith(">")


def test_no_lead_in_above_a_quote_in_the_askers_language() -> None:
    """A German quote on top is not announced as one in another language, whatever follows it."""
    retrieval = a_retrieval(
        a_passage(1, "Alle haben 28 Urlaubstage im Jahr.", language="de"),
        a_passage(2, "Everybody has 28 vacation days a year."),
        text="Wie viele Urlaubstage habe ich?",
        language="de",
    )
    quotes = [
        Quote(unit=next(iter(units_of(passage.candidate.body))), source=source, place=0, score=1.0)
        for source, passage in enumerate(retrieval.passages)
    ]

    cited = compose(quotes, retrieval)

    assert text_of(cited).startswith("> Alle haben 28 Urlaubstage im Jahr. [1]")
    assert "Everybody has" in text_of(cited)


async def test_code_that_answers_is_quoted_whole() -> None:
    """The fence survives quoting, and the mark stands behind it."""
    code = "```bash\nmake up\n\nmake migrate\n```"
    retrieval = a_retrieval(
        a_passage(1, f"To run the migrations:\n{code}"), text="How do I run the migrations?"
    )
    cited = await ExtractiveWriter(None).write(retrieval)

    tokens = MarkdownIt("commonmark").parse(text_of(cited))
    assert [token.content for token in tokens if token.type == "fence"] == ["make up\n\nmake migrate\n"]


async def test_a_table_row_is_quoted_with_its_header() -> None:
    """The row asked for, and none of the others."""
    table = "| Code | Meaning |\n| --- | --- |\n| ERR_42 | Clock is off |\n| ERR_77 | Too large |"
    retrieval = a_retrieval(a_passage(1, table), text="What does ERR_77 mean?")

    assert text_of(await ExtractiveWriter(None).write(retrieval)) == "> Code: ERR_77; Meaning: Too large [1]"


async def test_headings_tell_what_a_sentence_is_about() -> None:
    """Words of the heading speak for the sentences below it."""
    retrieval = a_retrieval(
        a_passage(2, "It is twelve.", **under("Parking")),
        a_passage(1, "It is 28.", **under("Vacation days")),
    )

    assert text_of(await ExtractiveWriter(None).write(retrieval)) == "> It is 28. [1]"


async def test_a1_f69_links_of_pages_are_no_links_of_the_answer() -> None:
    """A page's own links are spelled out as code; only sources are linked."""
    body = "Vacation days: see [Kranich](https://kranich.example/x) or https://other.example/y today."
    cited = await ExtractiveWriter(None).write(a_retrieval(a_passage(1, body)))

    assert text_of(cited) == (
        "> Vacation days: see Kranich (`https://kranich.example/x`) or `https://other.example/y` today. [1]"
    )


async def test_a_link_to_a_source_is_just_its_words() -> None:
    """What the number links to need not be spelled out."""
    body = f"Vacation days are on [this page]({page_url(1)})."

    assert text_of(await ExtractiveWriter(None).write(a_retrieval(a_passage(1, body)))) == (
        "> Vacation days are on this page. [1]"
    )


async def test_other_pages_of_the_wiki_are_just_their_words() -> None:
    """A page that was not retrieved is not linked, not even spelled out."""
    body = "Vacation days: see [Holidays](https://www.notion.so/Holidays-0123456789abcdef0123456789abcdef)."

    assert text_of(await ExtractiveWriter(None).write(a_retrieval(a_passage(1, body)))) == (
        "> Vacation days: see Holidays. [1]"
    )


async def test_brackets_in_a_page_are_no_citations() -> None:
    """A footnote of the page is escaped, so that it cannot pass for a source."""
    cited = await ExtractiveWriter(None).write(a_retrieval(a_passage(1, "Vacation days are 28 [7].")))

    assert text_of(cited) == r"> Vacation days are 28 \[7\]. [1]"
    assert cited.spans[-1].cites == (1,)


async def test_a6_markup_of_a_page_stays_inside_its_quote() -> None:
    """HTML, images and thinking tags of a page are not markup of the answer."""
    body = 'Vacation days <img src="https://evil.example/x.png"> are 28 ![x](https://evil.example/y.png).'
    text = text_of(await ExtractiveWriter(None).write(a_retrieval(a_passage(1, body))))

    assert "<img" not in text
    assert "![" not in text


async def test_the_answer_is_always_the_same() -> None:
    """Equal scores are decided by place."""
    retrieval = a_retrieval(*[a_passage(page, "Days. Days! Days?") for page in (3, 1, 2)])
    first = await ExtractiveWriter(WordEmbedder()).write(retrieval)

    for _ in range(3):
        assert await ExtractiveWriter(WordEmbedder()).write(retrieval) == first


async def test_citations_are_retrieved_passages() -> None:
    """The result fits into an answer, which refuses anything else."""
    retrieval = a_retrieval(a_passage(1), a_passage(2, "Vacation is good."))
    cited = await ExtractiveWriter(None).write(retrieval)

    answer = Answer(spans=cited.spans, citations=cited.citations, retrieval=retrieval, language="en")
    assert answer.citations


class Meanings:
    """An embedder of two dimensions that puts each text at a given cosine to every question."""

    profile = ModelProfile(name="multilingual-e5-small", dimensions=2, threshold=0.1, answer_confidence=0.2)

    def __init__(self, cosines: Mapping[str, float]) -> None:
        self._cosines = cosines

    async def embed_query(self, _text: str) -> Vector:
        """All questions are alike."""
        return np.array([1.0, 0.0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """As near as was settled."""
        cosines = [self._cosines[text] for text in texts]
        return [np.array([one, (1 - one * one) ** 0.5], dtype=np.float32) for one in cosines]


ILL = "Urlaubstage, an denen du krank warst, bekommst du zur\u00fcck."
RIGHT = "Everybody working full time has 30 days of paid vacation."


@pytest.mark.parametrize(
    ("foreign_cosine", "first"), [(0.84, "Vacation"), (0.80, "Krankmeldung")], ids=["nearer", "further"]
)
@pytest.mark.parametrize("scores", [(0.8, 0.2), (0.07, 0.1)], ids=["behind", "before"])
async def test_the_first_source_is_the_one_that_means_what_was_asked(
    foreign_cosine: float, first: str, scores: tuple[float, float]
) -> None:
    """A page that shares the question's words comes behind the one in another language that answers it.

    Whichever of the two was found first, and however little both are worth.
    """
    own = replace(a_passage(1, f"{ILL} Melde dich.", title="Krankmeldung", language="de"), score=scores[0])
    foreign = replace(a_passage(2, f"{RIGHT} Ask early.", title="Vacation", language="en"), score=scores[1])
    retrieval = a_retrieval(
        *sorted((own, foreign), key=lambda one: -one.score),
        text="Wie viele Urlaubstage habe ich?",
        language="de",
    )
    embedder = Meanings({ILL: 0.88, "Melde dich.": 0.7, RIGHT: foreign_cosine, "Ask early.": 0.7})

    cited = await ExtractiveWriter(embedder).write(retrieval)

    assert {one.passage.candidate.title for one in cited.citations} == {"Vacation", "Krankmeldung"}
    assert cited.citations[0].passage.candidate.title == first
    assert [span.cites for span in cited.spans if span.cites] == [(1,), (2,)]


async def test_a_figure_is_preferred_where_one_is_asked_for() -> None:
    """Two sentences say the question's words; the one with a number answers "how many"."""
    retrieval = a_retrieval(
        a_passage(1, "Vacation days are fun."), a_passage(2, "You have 28 vacation days.")
    )

    cited = await ExtractiveWriter(None).write(retrieval)

    assert text_of(cited) == "> You have 28 vacation days. [1]\n\n> Vacation days are fun. [2]"
    assert cited.citations[0].passage == retrieval.passages[1]


async def test_a_property_is_weighed_with_the_page_it_is_one_of() -> None:
    """A row of a database says "Opens: 06:30" of the branch in its title, and is quoted as it stands."""
    body = "Address: 12 King Street\nOpens: 06:30\nThe bread of the week is rye."
    retrieval = a_retrieval(a_passage(1, body, title="Luton"), text="When does Luton open?")
    embedder = Meanings(
        {
            "Luton: Opens: 06:30": 0.88,
            "Luton: Address: 12 King Street": 0.8,
            "The bread of the week is rye.": 0.8,
        }
    )

    cited = await ExtractiveWriter(embedder).write(retrieval)

    assert text_of(cited) == "> Opens: 06:30 [1]"


@pytest.mark.parametrize(("odds", "quoted"), [(1.0, "Bo opens the doors."), (-1.0, "Al opens the doors.")])
async def test_what_a_reader_points_at_is_quoted_first(odds: float, quoted: str) -> None:
    """Of sentences that say the same words; in the passage that likeliest answers, and in no other."""
    body = "Al opens the doors. Bo opens the doors."
    pointing = Reading(odds, start=body.index("Bo"), end=len(body))
    other = replace(a_passage(2, "Rye is bread."), reading=Reading(0.0, 0, 3), score=0.01)
    retrieval = a_retrieval(replace(a_passage(1, body), reading=pointing), other, text="Who opens the doors?")

    cited = await ExtractiveWriter(None).write(retrieval)

    assert text_of(cited).startswith(f"> {quoted}")
