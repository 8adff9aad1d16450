"""Answers as Discord messages: text with numbered links, sources, buttons; layouts or plain. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from adapters.chat.discord.custom_ids import Button, button_id
from adapters.chat.discord.escaping import escaped, link, plain, safe_url
from adapters.chat.discord.markup import discord_markdown
from adapters.chat.discord.splitting import characters, split
from adapters.chat.discord.texts import Text, say
from core.domain.answers import Answer, Citation, NoAnswer, Outcome
from core.domain.documents import UNTITLED
from core.domain.phrases import Phrase, no_answer_text, phrase

CONTENT_LENGTH = 2_000
"""Characters of a plain message of a bot."""

DISPLAY_LENGTH = 4_000
"""Characters over all text displays of a layout."""

COMPONENTS = 40
"""Components of a layout, nested ones included."""

BUTTON_URL_LENGTH = 512
TITLE_LENGTH = 150
QUESTION_LENGTH = 300
NAME_LENGTH = 50
MAX_SOURCES = 20

_MARGIN = 50
"""Left free in every message, so that a way of counting that we do not know refuses nothing."""

_FIXED_COMPONENTS = 12
"""Of a layout without its sources: header, text, separator, heading, the other sources, a row of five."""

_PER_SECTION = 3
"""A section is itself, its text and its button."""

SECTIONS = (COMPONENTS - _FIXED_COMPONENTS) // _PER_SECTION
"""Sources that get a button of their own; further ones are links in a list."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source as it is drawn: a line, and its button's address, empty where it is too long."""

    line: str
    url: str


@dataclass(frozen=True, slots=True)
class ButtonSpec:
    """A button that comes back to us as an interaction with ``custom_id``."""

    label: str
    custom_id: str
    emoji: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply before it is cut into messages; ``header`` says who asked what, where that is needed."""

    text: str
    header: str = ""
    sources: tuple[Source, ...] = ()
    sources_title: str = ""
    buttons: tuple[ButtonSpec, ...] = ()
    open_label: str = "Open"


@dataclass(frozen=True, slots=True)
class Layout:
    """One message of components: texts, then sources with buttons, then a list of links, then buttons."""

    texts: tuple[str, ...]
    sections: tuple[Source, ...] = ()
    sources_title: str = ""
    more_sources: str = ""
    buttons: tuple[ButtonSpec, ...] = ()
    open_label: str = "Open"


@dataclass(frozen=True, slots=True)
class Plain:
    """One message of text, at most 2,000 characters, and its buttons."""

    text: str
    buttons: tuple[ButtonSpec, ...] = ()


Message = Layout | Plain


def render(
    outcome: Outcome,
    *,
    question_id: str,
    asker: str = "",
    header: str = "",
    private: bool = False,
    direct: bool = False,
) -> Reply:
    """The reply that shows an outcome.

    ``asker`` is the id of whoever asked, for the questions that follow. ``private`` replies and ``direct``
    messages have no "ask an expert": nobody else sees them. A private reply in a channel can be shared.
    """
    match outcome:
        case Answer():
            asks_expert = outcome.degraded and not direct and not private
            page = str(outcome.citations[0].passage.candidate.page_id) if outcome.citations else ""
            return Reply(
                text=answer_text(outcome),
                header=header,
                sources=tuple(_source(one, outcome.language) for one in outcome.citations[:MAX_SOURCES]),
                sources_title=f"**{phrase(Phrase.SOURCES, outcome.language)}**",
                buttons=_buttons(
                    question_id,
                    outcome.language,
                    asker=asker,
                    page=page,
                    asks_expert=asks_expert,
                    shares=private and not direct,
                ),
                open_label=plain(say(Text.OPEN, outcome.language), limit=40),
            )
        case NoAnswer():
            text = escaped(no_answer_text(outcome.reason, outcome.language, wait=outcome.wait))
            if outcome.is_private:
                # It says nothing that could be judged, and the next question would meet the same limit.
                return Reply(text=text, header=header)
            asks_expert = not direct and not private
            return Reply(
                text=text,
                header=header,
                buttons=_buttons(question_id, outcome.language, asker=asker, asks_expert=asks_expert),
            )
        case _:
            assert_never(outcome)


def asked_by(name: str, question: str, language: str) -> str:
    """Who asked what, for replies under which it does not show: by name, so that nobody is pinged."""
    who = escaped(plain(name, limit=NAME_LENGTH)) or "…"
    return f"-# **{who}** {say(Text.ASKED, language)}: {escaped(plain(question, limit=QUESTION_LENGTH))}"


def answer_text(answer: Answer) -> str:
    """The answer for Discord, with a numbered link after each supported stretch."""
    cited = {citation.number: citation for citation in answer.citations}
    text = ""
    for span in answer.spans:
        body = span.text.rstrip()
        text += body
        if links := _links(span.cites, cited):
            text += f"{_gap(text)}{links}"
        text += span.text[len(body) :]
    drawn = discord_markdown(text)
    if answer.degraded:
        drawn += f"\n\n*{escaped(phrase(Phrase.DEGRADED, answer.language))}*"
    return drawn.strip()


def as_layouts(reply: Reply) -> tuple[Layout, ...]:
    """Messages of components, in order; the last one has the sources and the buttons."""
    room = DISPLAY_LENGTH - _MARGIN
    pieces = split(reply.text, limit=room - characters(reply.header)) or ("…",)
    heads = [(reply.header,) if reply.header else ()] + [()] * (len(pieces) - 1)
    layouts = [Layout(texts=(*head, piece)) for head, piece in zip(heads, pieces, strict=True)]
    first, *others = _listings(reply)
    last = layouts[-1]
    if display_length(last) + display_length(first) > room:
        # The sources get a message of their own rather than be cut.
        return (*layouts, first, *others)
    return (*layouts[:-1], replace(first, texts=last.texts), *others)


def as_plain(reply: Reply) -> tuple[Plain, ...]:
    """Messages of text, in order; the last one ends with the sources and has the buttons."""
    room = CONTENT_LENGTH - _MARGIN
    listed = "\n".join((reply.sources_title, *(source.line for source in reply.sources)))
    pieces = list(split(reply.text, limit=room - characters(reply.header) - 1))
    if reply.header:
        pieces[:1] = ["\n".join([reply.header, *pieces[:1]])]
    if reply.sources:
        joined = f"{pieces[-1]}\n\n{listed}" if pieces else listed
        if characters(joined) <= room:
            pieces[-1:] = [joined]
        else:
            pieces.extend(split(listed, limit=room))
    pieces = pieces or ["…"]
    return (*(Plain(piece) for piece in pieces[:-1]), Plain(pieces[-1], buttons=reply.buttons))


def notice(text: str) -> Reply:
    """One line of our own, already escaped."""
    return Reply(text=text)


def preview(text: str) -> str:
    """An unfinished answer as the content of a message; ``text`` is Markdown as answers are written in."""
    drawn = split(discord_markdown(text), limit=CONTENT_LENGTH - _MARGIN)
    return f"{drawn[0]} …" if drawn else "…"


def display_length(layout: Layout) -> int:
    """Characters over all text displays."""
    lines = (source.line for source in layout.sections)
    return sum(map(characters, (*layout.texts, layout.sources_title, *lines, layout.more_sources)))


def _listings(reply: Reply) -> tuple[Layout, ...]:
    """The sources, with a button each while there is room, in as few messages as they fit; buttons last."""
    room = DISPLAY_LENGTH - _MARGIN
    made = [Layout(texts=(), sources_title=reply.sources_title if reply.sources else "")]
    for source in reply.sources:
        if display_length(made[-1]) + characters(source.line) + 1 > room:
            made.append(Layout(texts=()))
        made[-1] = _with_source(made[-1], source)
    made = [replace(layout, open_label=reply.open_label) for layout in made]
    return (*made[:-1], replace(made[-1], buttons=reply.buttons))


def _with_source(layout: Layout, source: Source) -> Layout:
    if source.url and len(layout.sections) < SECTIONS and not layout.more_sources:
        return replace(layout, sections=(*layout.sections, source))
    return replace(layout, more_sources=f"{layout.more_sources}\n{source.line}".strip())


def _buttons(
    question_id: str,
    language: str,
    *,
    asker: str,
    page: str = "",
    asks_expert: bool = False,
    shares: bool = False,
) -> tuple[ButtonSpec, ...]:
    def made(which: Button, emoji: str, label: str, about: str = "") -> ButtonSpec:
        return ButtonSpec(
            label=label, custom_id=button_id(which, question_id, language, about=about), emoji=emoji
        )

    shown = [
        made(Button.GOOD, "👍", ""),
        made(Button.BAD, "👎", "", page),
        made(Button.CONTINUE, "💬", say(Text.CONTINUE, language), asker),
    ]
    if asks_expert:
        shown.append(made(Button.EXPERT, "🙋", say(Text.ASK_EXPERT, language), page))
    if shares:
        shown.append(made(Button.SHARE, "📢", say(Text.SHARE, language)))
    return tuple(shown)


def _links(numbers: Sequence[int], cited: Mapping[int, Citation]) -> str:
    """In the Markdown of answers, so that the one way to Discord's is `discord_markdown`."""
    links = []
    for number in numbers:
        address = safe_url(cited[number].url)
        links.append(f"[{number}](<{address}>)" if address else str(number))
    return " ".join(links)


def _gap(text: str) -> str:
    """What parts a link from the text before: a fence or a table ends with its own line."""
    last = text.rsplit("\n", 1)[-1].lstrip()
    return "\n\n" if last.startswith(("```", "~~~", "|")) else " "


def _source(citation: Citation, language: str) -> Source:
    title = citation.title.strip() or UNTITLED
    label = title
    if citation.heading and citation.heading != citation.title:
        label = f"{title} › {citation.heading}"
    label = plain(label, limit=TITLE_LENGTH)
    when = ""
    if citation.last_edited is not None:
        when = f" · {phrase(Phrase.LAST_EDITED, language)} {citation.last_edited:%Y-%m-%d}"
    address = safe_url(citation.url)
    linked = f"{citation.number}. {link(citation.url, label)}{when}"
    return Source(line=linked, url=address if len(address) <= BUTTON_URL_LENGTH else "")
