"""Answers as CommonMark, checked by reading them back with a CommonMark parser."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.chat.markdown import escape, link, render, render_sources, render_text
from core.domain.answers import NoAnswer, NoAnswerReason, Span
from core.domain.documents import Heading
from core.domain.phrases import LANGUAGES, no_answer_text
from tests.adapters.chat.replies import BLOCK_URL, PAGE_URL, a_reply, a_source


def inline_tokens(markdown: str) -> list[Token]:
    """Every inline token of a text, in order."""
    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    return [child for token in parser.parse(markdown) for child in token.children or ()]


def links(markdown: str) -> list[tuple[str, str]]:
    """The words and targets of all links that a parser sees."""
    found: list[tuple[str, str]] = []
    target: str | None = None
    words = ""
    for token in inline_tokens(markdown):
        if token.type == "link_open":
            target, words = str(token.attrs["href"]), ""
        elif token.type == "link_close" and target is not None:
            found.append((words, target))
            target = None
        elif target is not None:
            words += token.content
    return found


def test_a1_each_place_links_to_the_block_it_rests_on() -> None:
    """Numbers in the text are links; the list names title, section and date."""
    reply = render(a_reply(Span("You have 28 days.", (1,))))

    assert reply == (
        f"You have 28 days. [1]({BLOCK_URL})\n\n"
        "**Sources**\n\n"
        f"1. [Vacation › Days]({BLOCK_URL}) (last edited 2026-05-01)"
    )


def test_a_source_without_blocks_links_to_its_page() -> None:
    """An export has no block ids."""
    reply = a_reply(sources=(a_source(block_id=None, heading_path=(), last_edited=None),))

    assert render_sources(reply).splitlines()[-1] == f"1. [Vacation]({PAGE_URL})"


@pytest.mark.parametrize(
    "title",
    [
        "Guide [v2]",
        "a ] b [ c",
        "](https://evil.example)",
        "price | rules",
        "f(x) (draft)",
        "a < b <script>alert(1)</script>",
        "two\nlines\r\nand\ttabs",
        "**bold** _it_ `code` ~~gone~~",
        "back\\slash \\[",
        "![image](https://evil.example/x.png)",
        "<https://evil.example>",
        "1. first",
        "- dash",
        "# hash",
        "&amp; &copy;",
        "@everyone",
        "[x]: https://evil.example",
    ],
)
def test_a4_a5_titles_are_text_whatever_they_hold(title: str) -> None:
    """A title is read back as it was, in one link to the right place, and starts nothing else."""
    reply = a_reply(sources=(a_source(title=title, heading_path=(Heading(1, title),)),))

    shown = " ".join(title.split())
    assert links(render_sources(reply)) == [(f"{shown} › {shown}", BLOCK_URL)]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.notion.so/A_(draft)_0b4d7f5e000040008000000000000001",
        "https://www.notion.so/a b",
        "https://www.notion.so/<x>",
        'https://www.notion.so/"q"',
        "https://www.notion.so/x\ny",
        "https://www.notion.so/Ürlaub",
        "https://www.notion.so/a)](https://evil.example",
    ],
)
def test_a4_urls_never_end_a_link_early(url: str) -> None:
    """Parentheses, spaces and line breaks in an address stay inside the one link."""
    found = links(f"see {link('1', url)} there")

    assert [(words, unquote(target)) for words, target in found] == [("1", unquote(url))]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "//x.example"]
)
def test_addresses_that_are_not_of_the_web_are_no_links(url: str) -> None:
    """A source with a strange address is named and not linked."""
    assert links(link("1", url)) == []


def test_a2_no_answer_is_one_polite_sentence() -> None:
    """Nothing but the fixed text, in the asker's language."""
    outcome = NoAnswer(reason=NoAnswerReason.NO_RELEVANT_PAGES, language="de")

    assert render(outcome) == "Dazu habe ich im Wiki keine Antwort gefunden."


@pytest.mark.parametrize("reason", list(NoAnswerReason))
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a2_every_reason_is_said_in_every_language(reason: NoAnswerReason, language: str) -> None:
    """No language falls back to English where it has its own words; unknown ones do."""
    text = no_answer_text(reason, language)

    assert text
    assert (text == no_answer_text(reason, "en")) is (language == "en")
    assert no_answer_text(reason, "xx") == no_answer_text(reason, "") == no_answer_text(reason, "en")


def test_a2_the_languages_of_large_wikis_are_spoken() -> None:
    """Thirteen languages at least."""
    assert {"en", "de", "ru", "fr", "es", "it", "pt", "nl", "pl", "uk", "tr", "zh", "ja"} <= LANGUAGES


def test_labels_are_in_the_language_of_the_answer() -> None:
    """A German answer has German labels."""
    reply = render_sources(a_reply(language="de"))

    assert reply.startswith("**Quellen**")
    assert "(zuletzt bearbeitet 2026-05-01)" in reply


def test_a_degraded_answer_says_so() -> None:
    """The reader learns that the answer is simpler than usual."""
    assert "simpler" in render(a_reply(degraded=True))
    assert "simpler" not in render(a_reply())


def test_marks_behind_code_do_not_break_its_fence() -> None:
    """A mark starts a line of its own when the text ends with a line break."""
    reply = render_text(a_reply(Span("```\nmake up\n```\n", (1,)), Span("\n\nThen wait.")))

    tokens = MarkdownIt("commonmark").parse(reply)
    assert [token.content for token in tokens if token.type == "fence"] == ["make up\n"]
    assert links(reply) == [("1", BLOCK_URL)]


def test_several_marks_stand_apart() -> None:
    """Two sources of one sentence are two links."""
    second = a_source(page_url="https://www.notion.so/Other", block_id=None)
    reply = a_reply(Span("Both say so", (1, 2)), Span("."), sources=(a_source(), second))

    assert links(render_text(reply)) == [("1", BLOCK_URL), ("2", "https://www.notion.so/Other")]
    assert render_text(reply).endswith("(https://www.notion.so/Other).")


@given(st.text(min_size=1, max_size=80))
def test_escaped_text_is_read_back(text: str) -> None:
    """Any text shows as itself, on one line, behind any other text."""
    shown = " ".join(text.split()).replace("\x00", "\ufffd")
    tokens = inline_tokens(f"x {escape(text)} y")

    assert "".join(token.content for token in tokens) == f"x {shown} y"
    assert {token.type for token in tokens} <= {"text", "text_special"}
