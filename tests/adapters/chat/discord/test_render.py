"""Outcomes as Discord messages: limits, links, mentions, sources, buttons."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.chat.discord.components import view_of
from adapters.chat.discord.custom_ids import Button, Pressed, button_id, read_button_id
from adapters.chat.discord.render import (
    CONTENT_LENGTH,
    Layout,
    Plain,
    as_layouts,
    as_plain,
    asked_by,
    display_length,
    preview,
    render,
)
from core.domain.answers import NoAnswer, NoAnswerReason, Span
from tests.adapters.chat.discord.markdown_checks import cut_links, links, open_fence, pings, units
from tests.adapters.chat.replies import BLOCK_URL, a_reply, a_source
from tests.fakes.discord.forms import check_layout, check_message

QUESTION = "1576889477551357980"
ANYTHING = st.text(max_size=400)
HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "@everyone", "@here", "<@123456789012345678>", "<@!123456789012345678>",
                "<@&123456789012345678>", "<#123456789012345678>", "</ask:123456789012345678>",
                "<:x:123456789012345678>", "<t:1700000000:R>", "||", "```", "```py\n", "`", "**", "](", "[",
                "](<https://evil.example>)", "> ", "\n", "\n# ", "\n- ", "\n-# ", "https://evil.example/x",
                "[notion](https://evil.example)", "discord.gg/abc", "\\", "|a|b|\n|-|-|\n|1|2|\n",
            ]
        ),
        st.text(max_size=30),
    ),
    max_size=25,
).map("".join)  # fmt: skip


def texts_of(outcome_text: str) -> list[str]:
    """All texts of both forms of an answer."""
    reply = render(a_reply(Span(outcome_text, (1,))), question_id=QUESTION)
    layouts = [text for layout in as_layouts(reply) for text in (*layout.texts, layout.more_sources)]
    return [*layouts, *(plain.text for plain in as_plain(reply)), preview(outcome_text)]


@given(text=HOSTILE)
@example(text="Write @everyone and <@&123456789012345678> before deploys")
@example(text="`<@123456789012345678>` and ```\n@everyone\n```")
def test_f63_dsc4_nothing_in_an_answer_can_ping(text: str) -> None:
    """Neither in prose nor in code, whatever a page or a model writes."""
    assert [pings(shown) for shown in texts_of(text)] == [[] for _ in texts_of(text)]


@given(text=HOSTILE)
def test_a6_dsc4_no_token_of_discords_own_is_drawn(text: str) -> None:
    """Channels, commands, emoji and times of a page stay text."""
    for shown in texts_of(text):
        assert not any(f"<{sign}1" in shown for sign in "@#")
        assert "</ask" not in shown
        assert "<:x:" not in shown
        assert "<t:1" not in shown


@given(text=HOSTILE)
@example(text="x" * 9000)
@example(text="😀" * 4500)
@example(text="```py\n" + "y = 1\n" * 1500 + "```")
def test_dsc3_both_forms_are_within_all_limits(text: str) -> None:
    """The stand-in, as strict as Discord, takes every message of both forms."""
    reply = render(a_reply(Span(text, (1,))), question_id=QUESTION, header=asked_by("A**li**ce", text, "en"))

    for layout in as_layouts(reply):
        view = view_of(layout)
        assert view is not None
        check_layout(view.to_components())
        assert display_length(layout) <= 4000
    for plain in as_plain(reply):
        check_message({"content": plain.text})
        assert not open_fence(plain.text)
        assert cut_links(plain.text) == []


@pytest.mark.parametrize("length", [2001, 6500])
def test_f61_long_answers_come_whole_and_in_order_with_their_sources_last(length: int) -> None:
    """2,001 and 6,500 characters: pieces of at most 2,000, all of the text, whole links."""
    words = [f"word{number:05d}" for number in range(length // 10 + 1)]
    text = " ".join(words)[:length]
    sources = tuple(a_source(title=f"Page {number}") for number in range(1, 6))

    messages = as_plain(render(a_reply(Span(text, (1, 2, 3, 4, 5)), sources=sources), question_id=QUESTION))

    whole = "\n".join(message.text for message in messages)
    assert all(units(message.text) <= CONTENT_LENGTH for message in messages)
    assert [word for word in whole.split() if word.startswith("word")][: len(words) - 1] == words[:-1]
    assert all(f"Page {number}" in messages[-1].text for number in range(1, 6))
    assert len(links(whole)) == 10
    assert [address for _, address in links(whole)] == [BLOCK_URL] * 10
    assert [bool(message.buttons) for message in messages] == [False] * (len(messages) - 1) + [True]


def test_a10_a_long_answer_with_many_links_is_split_without_cutting_one() -> None:
    """Every stretch has its link, and every link is whole in some piece."""
    spans = [Span(f"Fact number {number} is a sentence of its own. ", (1,)) for number in range(60)]

    messages = as_plain(render(a_reply(*spans), question_id=QUESTION))

    assert len(messages) > 3
    assert all(units(message.text) <= 2000 for message in messages)
    assert sum(len(links(message.text)) for message in messages) == 61


def test_f65_every_link_is_written_so_that_it_makes_no_preview() -> None:
    """Five sources: each in angle brackets, in the text as in the list; bare addresses too."""
    sources = tuple(a_source(title=f"Page {number}") for number in range(1, 6))
    answer = a_reply(Span("See https://example.org/a for more.", (1, 2, 3, 4, 5)), sources=sources)

    (message,) = as_plain(render(answer, question_id=QUESTION))

    assert len(links(message.text)) == 10
    assert message.text.count("http") == message.text.count("<http")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a ] b", "a ) b"),
        ("a [ b", "a ( b"),
        ("a ) b", "a ) b"),
        ("a | b", r"a \| b"),
        ("a < b", r"a \< b"),
        ("a\nb", "a b"),
        ("**a**", r"\*\*a\*\*"),
        ("@everyone", "@\u200beveryone"),
    ],
)
def test_a4_any_title_makes_a_valid_link(title: str, shown: str) -> None:
    """Brackets, pipes, angle brackets and line ends of a title neither end nor break its link."""
    answer = a_reply(Span("Yes.", (1,)), sources=(a_source(title=title, heading_path=()),))

    (message,) = as_plain(render(answer, question_id=QUESTION))

    assert links(message.text)[-1] == (shown, BLOCK_URL)


def test_a4_parentheses_in_an_address_do_not_end_its_link() -> None:
    """They are encoded, in the text, in the list and in the button."""
    source = a_source(page_url="https://www.notion.so/Plan-(draft)-1", block_id=None)

    reply = render(a_reply(sources=(source,)), question_id=QUESTION)

    expected = "https://www.notion.so/Plan-%28draft%29-1"
    assert {address for _, address in links(as_plain(reply)[0].text)} == {expected}
    assert reply.sources[0].url == expected


def test_dsc4_a_link_cannot_pretend_to_lead_elsewhere() -> None:
    """Words that look like an address are broken; addresses of other kinds are no links at all."""
    answer = a_reply(
        Span("[https://bank.example](https://evil.example) [run](javascript:alert) [f](file:///etc/x)")
    )

    (message,) = as_plain(render(answer, question_id=QUESTION))

    shown = links(message.text)
    assert "https://bank.example" not in [label for label, _ in shown]
    assert not any(address.startswith(("javascript", "file")) for _, address in shown)


def test_dsc3_twenty_sources_stay_within_forty_components() -> None:
    """As many as there is room for have a button; the others are links in a list."""
    sources = tuple(a_source(title=f"Page {number} {'long ' * 25}") for number in range(1, 21))
    answer = a_reply(Span("Yes.", tuple(range(1, 21))), sources=sources, degraded=True)

    layouts = as_layouts(render(answer, question_id=QUESTION))

    listed = ""
    for layout in layouts:
        view = view_of(layout)
        assert view is not None
        check_layout(view.to_components())
        listed += "\n".join([*(one.line for one in layout.sections), layout.more_sources])
    assert all(f"Page {number} " in listed for number in range(1, 21))


def test_dsc3_a_text_near_the_limit_leaves_its_sources_to_a_message_of_their_own() -> None:
    """The sources are never cut to make room."""
    layouts = as_layouts(render(a_reply(Span("word " * 765, (1,))), question_id=QUESTION))

    assert [bool(layout.sections) for layout in layouts] == [False, True]
    assert layouts[-1].texts == ()


def test_dsc3_an_address_too_long_for_a_button_is_still_a_link() -> None:
    """Buttons take 512 characters, texts more."""
    source = a_source(page_url="https://www.notion.so/" + "a" * 600, block_id=None)

    (layout,) = as_layouts(render(a_reply(sources=(source,)), question_id=QUESTION))

    assert layout.sections == ()
    assert "a" * 600 in layout.more_sources


def test_the_buttons_name_the_question_and_fit_their_ids() -> None:
    """All a press needs after a restart is in the custom id."""
    reply = render(a_reply(degraded=True), question_id=QUESTION)

    pressed = [read_button_id(button.custom_id) for button in reply.buttons]
    assert [one.button.value for one in pressed if one] == ["good", "bad", "continue", "expert"]
    assert {one.question for one in pressed if one} == {QUESTION}
    assert all(len(button.custom_id) <= 100 for button in reply.buttons)


@pytest.mark.parametrize("reason", NoAnswerReason)
@pytest.mark.parametrize("language", ["en", "de", "ru", "ja"])
def test_a_refusal_is_one_message_with_an_expert_to_ask(reason: NoAnswerReason, language: str) -> None:
    """Whatever the reason and the language; in private nobody can be called; a limit has no buttons."""
    none = NoAnswer(reason=reason, language=language)
    is_limit = reason is NoAnswerReason.LIMIT_REACHED

    public, private = (render(none, question_id=QUESTION, private=private) for private in (False, True))

    assert len(as_layouts(public)) == len(as_plain(public)) == 1
    assert [len(public.buttons), len(private.buttons)] == ([0, 0] if is_limit else [4, 3])


def test_tables_headings_and_images_take_the_form_that_discord_draws() -> None:
    """Columns in a code block, three levels of headings, images as links."""
    table = "| a | b |\n|---|---|\n| 1 | *2* |"
    text = f"#### Deep\n\n{table}\n\n![plan](https://example.org/p.png)\n\n1. x\n   - y"

    (message,) = as_plain(render(a_reply(Span(text), sources=()), question_id=QUESTION))

    assert message.text == (
        "**Deep**\n\n```\na  b\n1  2\n```\n\n[plan](<https://example.org/p.png>)\n\n1. x\n   - y"
    )


def test_the_header_says_who_asked_and_pings_nobody_else() -> None:
    """A question can hold whatever its asker typed."""
    header = asked_by("<@123456789012345678> **x**", "Hi @everyone\n# <@&999999999999999999>", "en")

    assert header.startswith(r"-# **\<")
    assert " asked: Hi " in header
    assert pings(header) == []
    assert "\n" not in header


def test_messages_are_of_the_two_known_kinds() -> None:
    """Layouts for one form, plain texts for the other."""
    reply = render(a_reply(), question_id=QUESTION)

    assert all(isinstance(message, Layout) for message in as_layouts(reply))
    assert all(isinstance(message, Plain) for message in as_plain(reply))


def test_the_longest_ids_that_there_can_be_fit_a_custom_id() -> None:
    """Snowflakes of twenty digits, a page's id, a language of three letters: at most 100 characters."""
    longest = "9" * 20
    made = button_id(Button.CONTINUE, longest, "deu", about="f" * 36, answer=longest)

    assert len(made) <= 100
    assert read_button_id(made) == Pressed(
        button=Button.CONTINUE, question=longest, language="de", about="f" * 36, answer=longest
    )
    assert read_button_id(made[:-21]) is not None
    assert read_button_id(f"{made}0") is None
    assert read_button_id("footnote:admin:1:en:") is None
