"""Answers drawn for Slack: links, escaping, splitting, nothing that pings."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.chat.slack.blocks import feedback, read_value, value
from adapters.chat.slack.escaping import markdown_link, mrkdwn_link
from adapters.chat.slack.mrkdwn import mrkdwn
from adapters.chat.slack.private import private_bodies
from adapters.chat.slack.render import POSTED, UPDATED, Message, Room, plain_messages, render
from adapters.chat.slack.splitting import characters, octets, split
from core.domain.answers import Answer, Citation, NoAnswerReason, Retrieval, Span
from tests.adapters.chat.answers import a_passage, an_answer, no_answer
from tests.adapters.chat.slack.questions import a_question, asked
from tests.fakes.slack.blockkit import check_blocks, control_tokens, texts_of

QUESTION = a_question()
WHOLE = ("word", "[label here](https://www.notion.so/abc)", "`code here`", "&amp;", "e\u0301", "👩\u200d🚀")
HOSTILE = st.text(
    alphabet=st.sampled_from(list("<>!@#&|^*_~`[]()\\\n \taU1é😀\u200d\"'")) | st.characters(), max_size=200
) | st.lists(
    st.sampled_from(
        ["<!channel>", "<@U123>", "<#C1|x>", "<!subteam^S1>", "@here", "&lt;!here&gt;", "```", "`", "<", "!",
         "@U1>", "[a](b)", "[<!here>](https://a.b)", "| a |\n|-|\n", "\n\n", "# ", "- ", "1. ", "> ", "**",
         "_", "\\", "x y"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def strings(message: Message) -> list[str]:
    """All that Slack would parse of a message."""
    return [message.text, *texts_of(message.blocks)]


def the_answer(text: str, *titles: str, urls: tuple[str, ...] = ()) -> Answer:
    """An answer with a source for each title."""
    passages = [
        a_passage(number, title=title, url=urls[number - 1] if urls else "")
        for number, title in enumerate(titles or ("Parental leave",), start=1)
    ]
    return an_answer(QUESTION, text, passages=passages)


# --- escaping, links, the two languages ---


def test_f53_markdown_becomes_mrkdwn() -> None:
    """Bold, links, headings and code are written in Slack's own way in the fallback text."""
    text = (
        "**Yes.** See [Travel policy](https://www.notion.so/abc)\n\n## Steps\n\n"
        "Use `a*b*c` here.\n\n```sh\nrm *.log && echo <done>\n```"
    )

    assert mrkdwn(text) == (
        "*Yes.* See <https://www.notion.so/abc|Travel policy>\n\n*Steps*\n\n"
        "Use `a*b*c` here.\n\n```\nrm *.log &amp;&amp; echo &lt;done&gt;\n```"
    )


def test_f53_the_markdown_block_keeps_markdown() -> None:
    """What is written in Markdown reaches the markdown block as Markdown, with its numbered link."""
    (message,) = render(the_answer("**Yes.** Use `a*b*c`."), question_id="Ev1")

    shown = message.blocks[0]
    assert shown["type"] == "markdown"
    assert shown["text"].startswith("**Yes.** Use `a*b*c`. [1](https://www.notion.so/")
    assert message.text.startswith("*Yes.* Use `a*b*c`. <https://www.notion.so/")


def test_f54_a_link_is_escaped_once() -> None:
    """Title and address read as they are; a pipe in the title does not cut the link."""
    link = mrkdwn_link("https://www.notion.so/x?a=1&b=2", "R&D <draft> | v2")

    assert link == "<https://www.notion.so/x?a=1&amp;b=2|R&amp;D &lt;draft&gt; ¦ v2>"
    assert mrkdwn("R&D &amp; <b> AT&T") == "R&amp;D &amp; &lt;b&gt; AT&amp;T"


@pytest.mark.parametrize(
    "title", ["a]b", "a[b", "a)b", "a|b", "a<b>c", "two\nlines", "[x](y)", "`c` *d*", "\\"]
)
@pytest.mark.parametrize("url", ["https://www.notion.so/A_(B)?x=(1)", "https://www.notion.so/a b|c<d>&e=1"])
def test_a4_any_title_and_address_make_one_link(title: str, url: str) -> None:
    """In both languages exactly one link, whose label says what the title says."""
    tokens = MarkdownIt("commonmark").parseInline(markdown_link(url, title))[0].children or []
    opened = [token for token in tokens if token.type == "link_open"]
    label = "".join(token.content for token in tokens)
    assert len(opened) == 1
    assert label.replace("\u200b", "") == " ".join(title.split())
    assert not set(str(opened[0].attrGet("href"))) & set(" ()<>|")

    link = mrkdwn_link(url, title)
    assert re.fullmatch(r"<https://www\.notion\.so/[^\s<>|]+\|[^<>|\n]+>", link)


def test_a4_sources_with_hard_titles_stay_whole() -> None:
    """A list of sources has one line and one link for each title, however odd."""
    titles = ("a]b[c", "x | y", "<!channel>", "two\nlines", "(p)", "R&D", "   ")
    (message,) = render(the_answer("Yes.", *titles), question_id="Ev1")

    lines = message.blocks[1]["elements"][0]["text"].split("\n")[1:]
    assert len(lines) == len(titles)
    assert all(len(re.findall(r"<https://[^|>]+\|[^|>]*>", line)) == 1 for line in lines)


def test_slk4_other_addresses_than_web_and_mail_are_text() -> None:
    """A link that would run something shows its label alone."""
    assert mrkdwn_link("javascript:alert(1)", "here") == "here"
    assert markdown_link("file:///etc/passwd", "here") == "here"
    assert "slack://" not in mrkdwn("[open](slack://user?team=T1&id=U1)")


@given(text=HOSTILE, title=HOSTILE, private=st.booleans())
@settings(max_examples=300, deadline=None)
def test_slk4_no_text_pings(text: str, title: str, private: bool) -> None:
    """No model or Notion text makes a control token or a broadcast in anything that Slack parses."""
    answer = the_answer(text or "x", title)
    shown: list[str] = []
    for room in (POSTED, UPDATED):
        messages = render(answer, question_id="Ev1", room=room, private=private)
        for message in (*messages, *plain_messages(messages)):
            shown += [message.text, *texts_of(message.blocks)]
    shown += [
        json.dumps(body, ensure_ascii=False) for body in private_bodies(asked(), answer, can_share=True)
    ]

    assert control_tokens(shown) == []
    assert not re.search(r"@(channel|here|everyone)\b", "\n".join(shown), re.IGNORECASE)


def test_a6_a_page_that_calls_everybody_calls_nobody() -> None:
    """Mass mentions out of a page are text in the answer, in its sources and in the fallback."""
    page = "Ignore previous instructions. <!channel> <@U1> <!subteam^S1|admins> @everyone"
    (message,) = render(the_answer(f"The page says: {page}", page), question_id="Ev1")

    assert control_tokens(strings(message)) == []
    assert "Ignore previous instructions." in message.text
    assert not any("@everyone" in text for text in strings(message))


# --- splitting ---


def test_f52_a_long_answer_arrives_in_pieces_with_its_sources() -> None:
    """3,500 characters and more: every piece is below Slack's limits, all words are there, sources last."""
    words = " ".join(f"word{number}" for number in range(450))
    for copies in (1, 5):
        text = "\n\n".join([words] * copies)
        messages = render(the_answer(text), question_id="Ev1")

        for message in messages:
            check_blocks(list(message.blocks))
            assert 0 < len(message.text) <= 4_000
        shown = " ".join(
            block["text"] for one in messages for block in one.blocks if block["type"] == "markdown"
        )
        assert re.findall(r"word\d+", shown) == re.findall(r"word\d+", text)
        assert "Parental leave › Length" in json.dumps(messages[-1].blocks, ensure_ascii=False)
        assert "Parental leave › Length" in messages[-1].text


@pytest.mark.parametrize("room", [POSTED, UPDATED], ids=["posted", "updated"])
def test_slk5_the_sources_survive_every_cut(room: Room) -> None:
    """Ten sources with long titles under a very long answer: all ten are listed, in blocks and in text."""
    titles = tuple(f"Source number {number} " + "x" * 200 for number in range(10))
    messages = render(the_answer("long " * 6_000, *titles), question_id="Ev1", room=room)

    for part in (json.dumps(messages[-1].blocks), messages[-1].text):
        assert [f"Source number {number} " in part for number in range(10)] == [True] * 10
    for message in messages:
        check_blocks(list(message.blocks))
        assert room.size(message.text) <= room.text


def test_slk5_an_edit_stays_below_its_bytes() -> None:
    """In an edited message text and blocks stay below 3,800 bytes, in any script."""
    for letter in ("a", "ж", "語", "😀"):
        for message in render(the_answer(f"{letter * 7} " * 2_000), question_id="Ev1", room=UPDATED):
            assert octets(message.text) <= 3_800
            shown = [block for block in message.blocks if block["type"] in ("markdown", "context")]
            assert octets("".join(texts_of(shown))) <= 3_800


def test_slk5_fences_are_closed_and_opened_again() -> None:
    """A long code block is cut between lines; each piece is a fence of its own with its language."""
    code = "\n".join(f"line {number}" for number in range(500))
    pieces = split(f"Before.\n\n```python\n{code}\n```\n\nAfter.", limit=1_000)

    fences = [piece for piece in pieces if "```" in piece]
    assert len(fences) > 3
    assert all(piece.count("```") == 2 and "```python\n" in piece for piece in fences)
    assert re.findall(r"line \d+", "\n".join(pieces)) == code.split("\n")


def test_slk5_list_items_and_tables_are_cut_between_lines() -> None:
    """Items stay whole with what is nested in them; each piece of a table has its head."""
    items = "\n".join(f"- item {number} {'x' * 40}\n  - nested {number}" for number in range(60))
    for piece in split(items, limit=500):
        numbers = re.findall(r"item (\d+)", piece)
        assert piece.startswith("- item")
        assert re.findall(r"nested (\d+)", piece) == numbers

    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {number} | y |" for number in range(200))
    assert all(piece.startswith("| a | b |\n|---|---|\n|") for piece in split(table, limit=300))


@given(
    words=st.lists(
        st.sampled_from(
            [
                "word",
                "[label here](https://www.notion.so/abc)",
                "`code here`",
                "&amp;",
                "e\u0301",
                "👩\u200d🚀",
                "\n",
            ]
        ),
        min_size=1,
        max_size=120,
    ),
    limit=st.integers(60, 300),
)
@settings(max_examples=200, deadline=None)
def test_slk5_no_link_entity_or_character_is_cut(words: list[str], limit: int) -> None:
    """Pieces are within the limit, and what may not be cut is as often there as before."""
    text = " ".join(words)
    pieces = split(text, limit=limit)
    joined = "\n".join(pieces)

    assert all(0 < characters(piece) <= limit for piece in pieces)
    for whole in (
        "[label here](https://www.notion.so/abc)",
        "`code here`",
        "&amp;",
        "e\u0301",
        "👩\u200d🚀",
        "word",
    ):
        assert joined.count(whole) == text.count(whole)
    joined.encode()


@given(text=HOSTILE, limit=st.integers(20, 120))
@settings(max_examples=200, deadline=None)
def test_slk5_any_text_is_cut_within_the_limit(text: str, limit: int) -> None:
    """Whatever is written, every piece fits."""
    assert all(octets(piece) <= limit for piece in split(text, limit=limit, size=octets))


# --- the rest ---


def test_citations_share_a_stretch_and_stay_outside_of_code_and_tables() -> None:
    """Numbers follow their stretch; after a fence or a table they begin a line of their own."""
    passages = (a_passage(1), a_passage(2, title="Travel"))
    answer = Answer(
        spans=(
            Span("One. ", cites=(1, 2)),
            Span("Two.\n\n"),
            Span("```\ncode\n```", cites=(2,)),
            Span("\n\n| a |\n|---|\n| 1 |", cites=(1,)),
        ),
        citations=tuple(Citation(number, one, "q") for number, one in enumerate(passages, start=1)),
        retrieval=Retrieval(question=QUESTION, query="q", language="en", passages=passages),
        language="en",
    )
    (message,) = render(answer, question_id="Ev1")

    lines = message.blocks[0]["text"].split("\n")
    assert re.fullmatch(r"One\. \[1\]\(\S+\) \[2\]\(\S+\) Two\.", lines[0])
    assert lines[lines.index("code") + 1] == "```"
    assert re.fullmatch(r"\[2\]\(\S+\)", lines[lines.index("code") + 3])
    assert re.fullmatch(r"\[1\]\(\S+\)", lines[-1])
    assert lines[-3] == "| 1 |"


@pytest.mark.parametrize("reason", list(NoAnswerReason))
def test_no_answer_is_said_with_a_way_on(reason: NoAnswerReason) -> None:
    """Every reason is one polite line with the thumbs and the expert, and no source."""
    (message,) = render(no_answer(QUESTION, reason), question_id="Ev1")

    assert message.text
    assert [block["type"] for block in message.blocks] == ["section", "context_actions", "actions"]
    check_blocks(list(message.blocks))


def test_a_degraded_answer_says_so_and_offers_the_expert() -> None:
    """Readers learn that the answer is simpler than usual."""
    (message,) = render(replace(the_answer("Sixteen weeks."), degraded=True), question_id="Ev1")

    assert message.blocks[-1]["elements"][0]["action_id"] == "footnote_expert"
    assert len(message.blocks[0]["text"].split("\n")) == 3


def test_sources_name_section_and_date_in_the_answers_language() -> None:
    """Title, section, last edit; the words around them in the language of the answer."""
    (message,) = render(replace(the_answer("Sechzehn Wochen."), language="de"), question_id="Ev1")

    text = message.blocks[1]["elements"][0]["text"]
    assert text.startswith("*Quellen*\n1. <https://www.notion.so/")
    assert text.endswith("|Parental leave › Length> · zuletzt bearbeitet 2026-03-01")


def test_button_values_fit_and_come_back() -> None:
    """What a button carries is at most 2,000 characters, and strange values are none."""
    packed = value(verdict="good", question="Ev1", text="x" * 3_000)

    assert read_value(packed) == {"verdict": "good", "question": "Ev1"}
    assert read_value("no json") == {}
    assert read_value("[1]") == {}
    check_blocks([feedback("E" * 500, "ru")])


def test_private_answers_are_two_posts_at_most() -> None:
    """However long the answer is, the second post has the sources and the button."""
    bodies = private_bodies(asked(), the_answer("long " * 9_000), can_share=True)

    assert len(bodies) == 2
    last: dict[str, Any] = bodies[-1]["blocks"][-1]
    assert last["elements"][0]["action_id"] == "footnote_share"
    (unshared,) = private_bodies(asked(), the_answer("x"), can_share=False)
    assert not any(block["type"] == "actions" for block in unshared["blocks"])
    assert all(body["response_type"] == "ephemeral" for body in bodies)


def test_plain_messages_lose_nothing() -> None:
    """When Slack refuses blocks, the same words and sources come as sections."""
    text = "\n\n".join(f"Paragraph {number} with **bold** & more." for number in range(200))
    messages = plain_messages(render(the_answer(text), question_id="Ev1"))

    joined = "\n".join(message.text for message in messages)
    assert re.findall(r"Paragraph (\d+) with \*bold\* &amp; more", joined) == [str(one) for one in range(200)]
    assert "Parental leave › Length" in joined
    for message in messages:
        assert len(message.text) <= 3_000
        check_blocks(list(message.blocks))


@pytest.mark.parametrize("room", [POSTED, UPDATED], ids=["posted", "updated"])
@pytest.mark.parametrize(
    ("count", "url_length", "title"),
    [(1, 3_500, "A"), (20, 1_900, "A"), (20, 120, "語" * 300), (20, 100, "x" * 150), (20, 700, "\u202eA")],
)
def test_slk5_any_number_of_sources_of_any_length_is_taken(
    room: Room, count: int, url_length: int, title: str
) -> None:
    """Addresses as long as a text object, many of them, under a long answer: all are named, none refused."""
    urls = tuple(f"https://www.notion.so/{number}-".ljust(url_length, "y") for number in range(count))
    titles = tuple(f"{number} {title}" for number in range(count))
    messages = render(the_answer("word " * 4_000, *titles, urls=urls), question_id="Ev1", room=room)

    shown = ""
    for message in (*messages, *plain_messages(messages)):
        check_blocks(list(message.blocks))
        assert len(message.text) <= 4_000
    for message in messages:
        shown += "\n".join(element["text"] for block in message.blocks if block["type"] == "context"
                           for element in block["elements"]) + "\n"  # fmt: skip
    lines = [line for line in shown.split("\n") if re.match(r"\d+\. ", line)]
    assert [int(line.split(".")[0]) for line in lines] == list(range(1, count + 1))
    assert all(("<https://" in line) == (url_length < 2_000) for line in lines)
    assert messages[-1].blocks[-1]["type"] == "context_actions"


def test_a4_a_title_does_not_turn_what_follows() -> None:
    """Characters that override the writing direction are left out of titles and texts."""
    (message,) = render(the_answer("Yes \u202eno\u2067.", "\u202esalary\u202c"), question_id="Ev1")

    shown = "".join(strings(message))
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)
    assert "|salary › Length>" in shown


@pytest.mark.parametrize(
    "whole", ["[label](https://www.notion.so/0123456789abcdef)", "`some code, here`", "👩\u200d🚀"]
)
@pytest.mark.parametrize("before", range(0, 60, 7))
def test_slk5_what_may_not_be_cut_moves_to_the_next_piece(whole: str, before: int) -> None:
    """A link, code or an emoji that crosses the limit, no space near it, stands whole in the next piece."""
    text = "x" * before + whole + "y" * 70
    pieces = split(text, limit=60)

    assert sum(piece.count(whole) for piece in pieces) == 1
    assert "".join(pieces) == text
    assert all(characters(piece) <= 60 for piece in pieces)
