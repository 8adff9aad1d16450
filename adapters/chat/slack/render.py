"""Answers as Slack messages: numbered links in Markdown, a list of sources, a plain fallback. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from adapters.chat.slack import blocks
from adapters.chat.slack.blocks import Block
from adapters.chat.slack.escaping import escaped, inert, markdown_link
from adapters.chat.slack.mrkdwn import mrkdwn
from adapters.chat.slack.splitting import Size, characters, octets, split
from adapters.chat.slack.texts import Text, say
from core.domain.answers import Answer, Citation, NoAnswer, Outcome
from core.domain.phrases import Phrase, no_answer_text, phrase


@dataclass(frozen=True, slots=True)
class Room:
    """How much one message may hold: of Markdown, of all that blocks show, and of ``text``; in ``size``."""

    markdown: int
    blocks: int
    text: int
    size: Size


POSTED = Room(markdown=9_000, blocks=12_000, text=3_000, size=characters)
"""A new message: 12,000 characters of Markdown, and about 13,200 over all blocks, buttons included."""

UPDATED = Room(markdown=3_000, blocks=3_600, text=3_800, size=octets)
"""An edit: texts above 4,000 bytes are refused (``msg_too_long``)."""

REFUSED_BLOCKS = frozenset(
    {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "block_mismatch"}
)
"""Errors of a message that Slack would take in a plainer or shorter form."""

LEAST_TEXT = 100
"""Less of an answer than this is not worth showing before its sources."""

FIELD_LENGTH = 2_900
"""Characters of one section in the plainest form; Slack refuses more than 3,000."""


@dataclass(frozen=True, slots=True)
class Message:
    """One Slack message: ``text`` in mrkdwn for notifications and old clients, ``blocks`` for the others."""

    text: str
    blocks: tuple[Block, ...]


def render(
    outcome: Outcome, *, question_id: str, room: Room = POSTED, private: bool = False
) -> tuple[Message, ...]:
    """The messages that show an outcome, in order; the last one has the sources and the buttons.

    ``private`` ones have no "ask an expert": nobody else sees the thread.
    """
    match outcome:
        case Answer():
            return _answer(outcome, question_id=question_id, room=room, private=private)
        case NoAnswer():
            return (_no_answer(outcome, question_id=question_id, private=private),)
        case _:
            assert_never(outcome)


def answer_markdown(answer: Answer) -> str:
    """The answer's text with a numbered link after each supported stretch; inert."""
    cited = {citation.number: citation for citation in answer.citations}
    text = ""
    for span in answer.spans:
        body = span.text.rstrip()
        text += body
        if links := _links(span.cites, cited):
            text += f"{_gap(text)}{links}"
        text += span.text[len(body) :]
    if answer.degraded:
        text += f"\n\n_{phrase(Phrase.DEGRADED, answer.language)}_"
    return inert(text.strip())


def plain_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same in the plainest form, for when Slack refuses blocks: mrkdwn sections below every limit."""
    pieces = [piece for message in messages for piece in _sections(message)]
    return tuple(Message(text=piece, blocks=(blocks.section(piece),)) for piece in pieces)


def notice(text: str) -> Message:
    """One line of our own, in mrkdwn that is already escaped."""
    return Message(text=text, blocks=(blocks.section(text),))


def _answer(answer: Answer, *, question_id: str, room: Room, private: bool) -> tuple[Message, ...]:
    pieces = split(answer_markdown(answer), limit=room.markdown, size=room.size) or ("…",)
    listed = blocks.sources(answer.citations, answer.language)
    short = blocks.SHORT_LABEL_LENGTH
    lines = "\n".join(blocks.source_lines(answer.citations, answer.language, label_length=short))
    messages = [_piece(piece, room=room) for piece in pieces]
    tail = [*listed, blocks.feedback(question_id, answer.language, page=_first_page(answer))]
    if answer.degraded and not private:
        tail.append(_expert(answer.language, question_id, answer))
    last = messages[-1]
    if _blocks_size(listed, room.size) + room.size(pieces[-1]) <= room.blocks:
        messages[-1] = Message(text=_with_sources(last.text, lines, room=room), blocks=(*last.blocks, *tail))
        return tuple(messages)
    # The sources get messages of their own rather than be cut.
    return (*messages, *_source_messages(listed, tail, text=_fitting_text(lines, room=POSTED)))


def _source_messages(listed: Sequence[Block], tail: Sequence[Block], *, text: str) -> tuple[Message, ...]:
    """Sources that are too many for the message before; ``tail`` begins with them and goes to the last."""
    groups: list[list[Block]] = [[]]
    for block in listed:
        if groups[-1] and _blocks_size([*groups[-1], block], characters) > POSTED.blocks:
            groups.append([])
        groups[-1].append(block)
    groups[-1] += tail[len(listed) :]
    return tuple(Message(text=text, blocks=tuple(group)) for group in groups)


def _no_answer(none: NoAnswer, *, question_id: str, private: bool) -> Message:
    text = escaped(no_answer_text(none.reason, none.language, wait=none.wait))
    shown: list[Block] = [blocks.section(text), blocks.feedback(question_id, none.language)]
    if not private:
        shown.append(_expert(none.language, question_id, None))
    return Message(text=text, blocks=tuple(shown))


def _expert(language: str, question_id: str, answer: Answer | None) -> Block:
    page = _first_page(answer) if answer is not None else ""
    return blocks.buttons(
        blocks.button(
            say(Text.ASK_EXPERT, language),
            action=blocks.EXPERT,
            value=blocks.value(question=question_id, language=language, page=page),
        )
    )


def _first_page(answer: Answer) -> str:
    return str(answer.citations[0].passage.candidate.page_id) if answer.citations else ""


def _links(numbers: Sequence[int], cited: Mapping[int, Citation]) -> str:
    return " ".join(markdown_link(cited[number].url, str(number)) for number in numbers)


def _gap(text: str) -> str:
    """What parts a link from the text before: a fence or a table ends with its own line."""
    last = text.rsplit("\n", 1)[-1].lstrip()
    return "\n\n" if last.startswith(("```", "~~~", "|")) else " "


def _piece(markdown: str, *, room: Room) -> Message:
    return Message(text=_fitting_text(mrkdwn(markdown), room=room), blocks=(blocks.markdown(markdown),))


def _with_sources(text: str, lines: str, *, room: Room) -> str:
    """The fallback keeps its sources: the text before them is what gets shorter."""
    if not lines:
        return text
    left = room.text - room.size(lines) - 2
    if left < LEAST_TEXT:
        return _fitting_text(lines, room=room)
    return f"{_shortened(text, limit=left, size=room.size)}\n\n{lines}"


def _fitting_text(text: str, *, room: Room) -> str:
    return _shortened(text, limit=room.text, size=room.size)


def _shortened(text: str, *, limit: int, size: Size) -> str:
    if size(text) <= limit:
        return text
    ending = "\n…"
    return split(text, limit=limit - size(ending), size=size)[0] + ending


def _blocks_size(listed: Sequence[Block], size: Size) -> int:
    return sum(size(element["text"]) for block in listed for element in block["elements"])


def _sections(message: Message) -> tuple[str, ...]:
    """The message's whole text in mrkdwn pieces, made of its blocks, so that nothing of it is lost."""
    parts: list[str] = []
    for block in message.blocks:
        match block["type"]:
            case "markdown":
                for piece in split(block["text"], limit=FIELD_LENGTH // 2):
                    parts.extend(split(mrkdwn(piece), limit=FIELD_LENGTH))
            case "section":
                parts.append(block["text"]["text"])
            case "context":
                parts.extend(element["text"] for element in block["elements"])
            case _:
                pass
    return tuple(parts)
