"""Drafts of a misbehaving model: only retrieved passages are cited, only they are linked."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.domain.answers import Citation, Passage
from core.services.citing import Cited, EmptyDraftError, checked, number, preview, says_something
from tests.core.services.found import a_passage, block_id, page_id, page_url

SOURCES = (
    a_passage(1, "The office opens at eight. It is closed on Fridays."),
    a_passage(2, "Call the portal at https://vpn.acme.example/start to connect."),
    a_passage(3, "Ask Mara."),
)


def cite(draft: str, sources: Sequence[Passage]) -> Cited:
    """A draft as it is shown where no sentence is looked at for support."""
    pieces = checked(draft, sources)
    if not says_something(pieces):
        raise EmptyDraftError
    return number(pieces, sources)


def written(draft: str) -> str:
    """The checked text with plain ``[n]`` marks."""
    return "".join(
        span.text + "".join(f"[{number}]" for number in span.cites) for span in cite(draft, SOURCES).spans
    )


def cited_pages(draft: str) -> list[str]:
    """The pages cited, in order of their numbers."""
    return [citation.passage.candidate.page_id for citation in cite(draft, SOURCES).citations]


def linked(markdown: str) -> list[str]:
    """What a CommonMark parser takes for links, images or addresses in a text."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    return [
        str(token.attrs.get("href") or token.attrs.get("src"))
        for token in inline
        if token.type in ("link_open", "image")
    ]


@pytest.mark.parametrize(
    ("draft", "expected", "pages"),
    [
        ("It opens at eight [1].", "It opens at eight[1].", [1]),
        ("It opens at eight. [1]", "It opens at eight.[1]", [1]),
        ("Both [1, 2] say so.", "Both[1][2] say so.", [1, 2]),
        ("Both [1][2] say so.", "Both[1][2] say so.", [1, 2]),
        ("Both [1] [2] say so.", "Both[1][2] say so.", [1, 2]),
        ("Both [1], [2] say so.", "Both[1][2] say so.", [1, 2]),
        ("Both [1; 2] say so.", "Both[1][2] say so.", [1, 2]),
        ("All [1-3] say so.", "All[1][2][3] say so.", [1, 2, 3]),
        ("All [1–3].", "All[1][2][3].", [1, 2, 3]),
        ("It opens【1】.", "It opens[1].", [1]),
        ("It opens【1†source】.", "It opens[1].", [1]),
        ("It opens[^1].", "It opens[1].", [1]),
        ("It opens [^1][^2].", "It opens[1][2].", [1, 2]),
        (r"It opens \[1\].", "It opens[1].", [1]),
        ("It opens [Source 1].", "It opens[1].", [1]),
        ("It opens [source: 1].", "It opens[1].", [1]),
        ("Es öffnet [Quelle 1].", "Es öffnet[1].", [1]),
        ("It opens (Source 1).", "It opens[1].", [1]),
        ("It opens (see [1]).", "It opens[1].", [1]),
        ("It opens ([1]).", "It opens[1].", [1]),
        ("It opens ([1], [2]).", "It opens[1][2].", [1, 2]),
        ("[1] It opens.", "[1] It opens.", [1]),
        ("Twice [1] and [1].", "Twice[1] and[1].", [1]),
        ("Same mark [1][1].", "Same mark[1].", [1]),
    ],
)
def test_a1_markers_of_all_shapes_are_understood(draft: str, expected: str, pages: list[int]) -> None:
    """However a model marks its source, the number is read."""
    assert written(draft) == expected
    assert cited_pages(draft) == [page_id(page) for page in pages]


def test_numbers_are_given_by_first_use() -> None:
    """The first source of the text is 1, whatever its place in the prompt."""
    assert (
        written("Mara knows [3]. It opens [1]. Mara again [3].")
        == "Mara knows[1]. It opens[2]. Mara again[1]."
    )
    assert cited_pages("Mara knows [3]. It opens [1].") == [page_id(3), page_id(1)]


def test_a1_a_page_is_cited_once() -> None:
    """Two passages of one page have one number, that of the passage used first (X10)."""
    sources = (a_passage(1, "First.", chunk=1), a_passage(1, "Second.", chunk=2), a_passage(2, "Other."))

    cited = cite("Two [2], one [1], other [3].", sources)

    assert [citation.number for citation in cited.citations] == [1, 2]
    assert [citation.passage for citation in cited.citations] == [sources[1], sources[2]]
    assert [span.cites for span in cited.spans if span.cites] == [(1,), (1,), (2,)]
    assert cited.citations[0].url.endswith(block_id(2).replace("-", ""))


@pytest.mark.parametrize("number", ["0", "4", "7", "99", "1000", "12345"])
def test_a3_f69_unknown_numbers_are_removed(number: str) -> None:
    """A number that was not in the prompt is no source."""
    assert written(f"It opens at eight [{number}].").replace(f" [{number}]", "?") in {
        "It opens at eight.",
        "It opens at eight?.",
    }
    assert cited_pages(f"It opens at eight [{number}].") == []


def test_a3_known_numbers_survive_beside_unknown_ones() -> None:
    """Of a list only what exists is kept."""
    assert written("It opens [1, 7, 9].") == "It opens[1]."
    assert written("All [2-9].") == "All[1][2]."


def test_f69_invented_links_are_replaced_by_their_words() -> None:
    """The inventory's own example."""
    draft = "See [VPN guide](https://www.notion.so/made-up) and https://example.org/x [7]"

    assert written(draft) == "See VPN guide and"


EVIL = "https://evil.example/login"


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (f"Read [the guide]({EVIL}) now.", "Read the guide now."),
        (f'Read [the guide]({EVIL} "title") now.', "Read the guide now."),
        (f"Read [the guide](<{EVIL}>) now.", "Read the guide now."),
        (f"Read [the guide]({EVIL}?a=(b)) now.", "Read the guide now."),
        (f"Read [the [old] guide]({EVIL}) now.", "Read the [old] guide now."),
        (f"Read [the\nguide]({EVIL}) now.", "Read the\nguide now."),
        (f"Read [**the** `guide`]({EVIL}) now.", "Read **the** `guide` now."),
        (f"Read [[the guide]({EVIL})]({EVIL}) now.", "Read the guide now."),
        (f"Look: ![diagram]({EVIL}.png) here.", "Look: diagram here."),
        (f"Look: ![]({EVIL}.png) here.", "Look: here."),
        (f"Look: [![diagram]({EVIL}.png)]({EVIL}) here.", "Look: diagram here."),
        (f"Read <{EVIL}> now.", "Read now."),
        (f"Read <{EVIL}|the guide> now.", "Read the guide now."),
        (f"Read {EVIL} now.", "Read now."),
        (f"Read ({EVIL}) now.", "Read now."),
        (f"Read {EVIL}.", "Read."),
        ("Read www.evil.example/x now.", "Read now."),
        ("Read evil.example/login now.", "Read now."),
        ("Read [it](evil) now.", "Read it now."),
        ("Read [it](javascript:alert(1)) now.", "Read it now."),
        ("Read [it](/relative/path) now.", "Read it now."),
        ("Read [it](#fragment) now.", "Read it now."),
        ("Write to <mailto:a@evil.example> now.", "Write to now."),
        (f"Read [the guide][g] now.\n\n[g]: {EVIL}", "Read the guide now."),
        (f"Read [the guide][] now.\n\n[the guide]: {EVIL} 'x'", "Read the guide now."),
        (f"Read [the guide] now.\n\n[The Guide]: {EVIL}", "Read the guide now."),
        (f'Read <a href="{EVIL}">the guide</a> now.', "Read the guide now."),
        (f"Read <a class=x href={EVIL}>the guide</A> now.", "Read the guide now."),
        (f'Look <img src="{EVIL}.png"> here.', "Look here."),
        (f'Look <script src="{EVIL}">alert(1)</script> here.', "Look here."),
        (f'Look <iframe src="{EVIL}"></iframe> here.', "Look here."),
        ("Open slack://channel?id=1 now.", "Open now."),
        ("Open HTTPS://EVIL.EXAMPLE/X now.", "Open now."),
        (f"[{EVIL}]({EVIL})", None),
        (f"Read [1]({EVIL}) now.", "Read[1] now."),
        (f"It opens [^1].\n\n[^1]: {EVIL} the guide", "It opens[1]."),
        ("Read https://www.notion.so/0b4d7f5e000040008000000000000099 now.", "Read now."),
        (f"Read https://evil.example/{page_id(1).replace('-', '')} now.", "Read now."),
        (f"Read https://www.notion.so@evil.example/{page_id(1).replace('-', '')} now.", "Read now."),
        ("Read h\u200bttps://evil.example/x now.", "Read now."),
    ],
)
def test_a3_no_link_survives_that_is_no_source(draft: str, expected: str | None) -> None:
    """Inline, reference, shortcut, image, autolink, HTML, naked, disguised: the words stay, the link goes."""
    if expected is None:
        with pytest.raises(EmptyDraftError):
            cite(draft, SOURCES)
        return
    assert written(draft) == expected


@pytest.mark.parametrize(
    "draft",
    [
        f"It opens at eight ({page_url(1)}).",
        f"It opens at eight [Page 1]({page_url(1)}).",
        f"It opens at eight [Page 1]({SOURCES[0].url}).",
        f"It opens at eight <{page_url(1)}>.",
        f"It opens at eight [Page 1](https://www.notion.so/{page_id(1)}).",
        f"It opens at eight [Page 1](https://www.notion.so/acme/{page_id(1).replace('-', '')}?pvs=4).",
    ],
)
def test_a_link_to_a_source_becomes_its_citation(draft: str) -> None:
    """A model that links instead of numbering has cited all the same."""
    cited = cite(draft, SOURCES)

    assert [citation.passage for citation in cited.citations] == [SOURCES[0]]
    assert "http" not in "".join(span.text for span in cited.spans)


def test_an_address_that_a_source_states_is_kept_as_code() -> None:
    """The portal's address may be the answer; it is text to copy, not a link."""
    assert (
        written("Go to https://vpn.acme.example/start. [2]") == "Go to `https://vpn.acme.example/start`.[1]"
    )


@pytest.mark.parametrize(
    "code",
    ["`items[1]`", "``a [2] `b` ``", "```\nx = items[1]\ncurl https://evil.example\n```", "~~~sh\n[1]\n~~~"],
)
def test_code_is_left_alone(code: str) -> None:
    """Brackets and addresses in code are code."""
    assert written(f"Run\n{code}\n\nThen wait [1].") == f"Run\n{code}\n\nThen wait[1]."


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    """A draft that was cut inside code loses nothing."""
    assert written("Run this [1]:\n```\nitems[2]") == "Run this[1]:\n```\nitems[2]"


@pytest.mark.parametrize(
    "draft",
    [
        "Closed on Fridays [2? but we did not cite that; skip].",
        "Closed on Fridays [1, or was it 2?].",
        "Closed on Fridays [citation needed].",
        "Closed on Fridays [see the second source].",
        "Closed on Fridays 【2: not sure】.",
        "Closed on Fridays [source?].",
    ],
)
def test_f71_deliberation_is_no_citation(draft: str) -> None:
    """What a model mutters in a marker's place is removed."""
    assert written(draft) == "Closed on Fridays."


@pytest.mark.parametrize(
    "draft",
    [
        "<think>Which source? [2]</think>Closed on Fridays [1].",
        "<thinking>\nhm\n</thinking>\n\nClosed on Fridays [1].",
        "Which source? [2]\n</think>\nClosed on Fridays [1].",
        "Closed on Fridays [1]. <think>or not [3]",
        "<THINK>x</THINK >Closed on Fridays [1].",
    ],
)
def test_f71_thinking_is_not_shown(draft: str) -> None:
    """Reasoning in tags, closed or not, is no part of the answer."""
    assert written(draft) == "Closed on Fridays[1]."
    assert cited_pages(draft) == [page_id(1)]


@pytest.mark.parametrize(
    "text", ["- [ ] open task", "- [x] done", "costs [24/7 support] extra", "[draft] version", "a[i] and b"]
)
def test_other_brackets_are_text(text: str) -> None:
    """Not every bracket is a marker."""
    assert written(text) == text


@pytest.mark.parametrize(
    "draft", ["", "   ", "\n", "[1]", "<think>hm", "<think>hm</think>", "...", EVIL, "\u200b"]
)
def test_f68_nothing_to_show_is_an_error(draft: str) -> None:
    """An empty draft is never taken for an answer."""
    with pytest.raises(EmptyDraftError):
        cite(draft, SOURCES)


@pytest.mark.parametrize(
    "listing",
    [
        "Sources:\n[1] Page 1 - https://www.notion.so/x\n[2] Page 2",
        "**Sources**\n- [1] Page 1\n- [2] Page 2",
        "### Quellen\n1. [1] Page 1",
        "Sources: [1]",
        "References: [1], [3]",
        f"[1]: {EVIL}",
        f"Sources:\n[1]: {EVIL}",
    ],
)
def test_a_list_of_sources_at_the_end_is_dropped(listing: str) -> None:
    """The renderers draw one; the model's own would show twice."""
    assert written(f"It opens at eight [1].\n\n{listing}") == "It opens at eight[1]."


def test_sources_named_at_the_end_only_are_cited_there() -> None:
    """Numbers that stand nowhere else are kept behind the text."""
    assert written("It opens at eight.\n\nSources: [1], [2]") == "It opens at eight.[1][2]"


def test_endless_repetition_is_cut() -> None:
    """A loop is shown once."""
    loop = "The office opens at eight on weekdays [1]. "

    assert written("Hours: " + loop * 30) == "Hours: The office opens at eight on weekdays[1]."


def test_endless_lists_are_cut() -> None:
    """Numbers that count up do not hide a loop."""
    draft = "".join(f"{number}. Restart the service and wait.\n" for number in range(1, 60))

    assert written(draft) == "1. Restart the service and wait."


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n| --- | --- |\n| yes | yes |\n| yes | yes |\n| yes | yes |\n| yes | yes |",
        "-" * 200,
        "ha ha ha ha ha",
        "No.\nNo.\nNo.\nNo.\nNo.",
    ],
)
def test_honest_repetition_is_kept(text: str) -> None:
    """Tables, rulers and short lines may repeat."""
    assert written(f"Here:\n\n{text}\n\nDone [1].") == f"Here:\n\n{text}\n\nDone[1]."


def test_a_quote_names_the_sentence_that_was_meant() -> None:
    """Of the passage's sentences the one that shares most words with the statement."""
    citation: Citation = cite("On Fridays it is closed [1].", SOURCES).citations[0]

    assert citation.quote == "It is closed on Fridays."


def test_a_preview_shows_whole_sentences_only() -> None:
    """Half a link, half a marker and thinking are never shown while the answer is written."""
    draft = f"<think>hm [2]</think>It opens at eight [3]. Read [the guide]({EVIL}) and ask. Then"

    seen = [preview(draft[:end], SOURCES) for end in range(len(draft) + 1)]

    assert seen[-1] == "It opens at eight [1]. Read the guide and ask."
    assert not any("evil" in text or "hm" in text or "[3]" in text or "](" in text for text in seen)
    assert set(seen) == {"", "It opens at eight [1].", seen[-1]}


MARKUP = (
    "[", "](", ")", "]", "][", "[x]: ", "[x]", "(", "<", ">", "</a>", "<a href=", "![", "`", "```\n",
    "\\", '"', "\n", "\n\n", " ", "    ", "> ", "- ", "# ", "*", "|", "&#91;",
    "1", "[1]", "evil", EVIL, "www.evil.example",
)  # fmt: skip  # an alphabet


@settings(max_examples=300)
@given(st.lists(st.sampled_from(MARKUP), max_size=14).map("".join))
def test_a3_whatever_is_written_only_sources_are_cited(draft: str) -> None:
    """Random markup never becomes an unknown citation, and a CommonMark parser sees no link left."""
    try:
        cited = cite(draft, SOURCES)
    except EmptyDraftError:
        return
    numbers = {citation.number for citation in cited.citations}
    assert {number for span in cited.spans for number in span.cites} == numbers
    assert all(citation.passage in SOURCES for citation in cited.citations)
    assert linked("".join(span.text for span in cited.spans)) == []


@pytest.mark.parametrize(
    "unit", ["[", "](", "<a ", "![", "【", "`", "(", "[1", "<think>", "a" * 40 + " ", "[x]("]
)
def test_long_nonsense_takes_no_time(unit: str) -> None:
    """Patterns do not blow up on repeated openings: a thousand of them are read."""
    try:
        cite(unit * 1500, SOURCES)
    except EmptyDraftError:
        return
