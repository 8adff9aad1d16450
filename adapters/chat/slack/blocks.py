"""The Block Kit pieces that messages are made of. Pure; every limit of Slack's is kept here."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.chat.slack.escaping import mrkdwn_link, plain
from adapters.chat.slack.splitting import characters
from adapters.chat.slack.texts import Text, say
from core.domain.answers import Citation
from core.domain.documents import UNTITLED
from core.domain.phrases import Phrase, phrase

Block = dict[str, Any]
"""One block as Slack takes it."""

FEEDBACK = "footnote_feedback"
EXPERT = "footnote_expert"
SHARE = "footnote_share"
AGAIN = "footnote_again"
REASON = "footnote_reason"
KEEP = "footnote_keep"
ANSWER_THIS = "footnote_answer_this"
RESYNC = "footnote_resync"

CONTEXT_ELEMENTS = 4
"""In one context block; Slack takes ten, and this keeps a block below what a message of its own holds."""

CONTEXT_LENGTH = 2000
"""Characters of one context element; Slack takes 3,000 in a text object, and this leaves room."""

LABEL_LENGTH = 150
SHORT_LABEL_LENGTH = 60
"""In the fallback text, which has to hold all sources beside the answer."""

VALUE_LENGTH = 2000
MAX_SOURCES = 20


def markdown(text: str) -> Block:
    """Text in Markdown; all such blocks of a message together may hold 12,000 characters."""
    return {"type": "markdown", "text": text}


def section(text: str) -> Block:
    """Text in mrkdwn, at most 3,000 characters."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def context(*lines: str) -> Block:
    """Small grey text in mrkdwn."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": line} for line in lines]}


def button(label: str, *, action: str, value: str = "", style: str = "") -> dict[str, Any]:
    """A button; labels are cut at 75 characters."""
    made: dict[str, Any] = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": plain(label, limit=75)},
    }
    return made | ({"value": value} if value else {}) | ({"style": style} if style else {})


def buttons(*elements: dict[str, Any]) -> Block:
    """A row of buttons."""
    return {"type": "actions", "elements": list(elements)}


def source_lines(
    citations: Sequence[Citation], language: str, *, label_length: int = LABEL_LENGTH
) -> tuple[str, ...]:
    """``1. <url|Title › Section> · edited 2026-03-01``, one for each source."""
    return tuple(_source_line(one, language, label_length) for one in citations[:MAX_SOURCES])


def sources(citations: Sequence[Citation], language: str) -> list[Block]:
    """The list of sources in as few context blocks and elements as their lengths allow."""
    if not citations:
        return []
    texts = [f"*{phrase(Phrase.SOURCES, language)}*"]
    for line in source_lines(citations, language):
        joined = f"{texts[-1]}\n{line}"
        if characters(joined) <= CONTEXT_LENGTH:
            texts[-1] = joined
        else:
            texts.append(line)
    return [
        context(*texts[begin : begin + CONTEXT_ELEMENTS]) for begin in range(0, len(texts), CONTEXT_ELEMENTS)
    ]


def feedback(question_id: str, language: str, *, page: str = "") -> Block:
    """Slack's own thumbs; ``page`` is the one whose editor is asked after a bad one."""
    return {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": FEEDBACK,
                "positive_button": _thumb(Text.GOOD, "good", question_id, language, page),
                "negative_button": _thumb(Text.BAD, "bad", question_id, language, page),
            }
        ],
    }


def value(**fields: str) -> str:
    """What a button carries back, as JSON; fields that do not fit are left out, last first."""
    kept = dict(fields)
    while kept and characters(packed := json.dumps(kept, ensure_ascii=False)) > VALUE_LENGTH:
        kept.popitem()
    return packed if kept else ""


def read_value(text: str) -> Mapping[str, str]:
    """The fields of a button's value; none of them if it is not ours."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return {str(key): str(one) for key, one in found.items()} if isinstance(found, dict) else {}


def reason_modal(*, question_id: str, language: str) -> dict[str, Any]:
    """Asks what was wrong with an answer."""
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": value(question=question_id, language=language),
        "title": _plain("Footnote"),
        "submit": _plain(say(Text.SEND, language)),
        "close": _plain(say(Text.CANCEL, language)),
        "blocks": [
            {
                "type": "input",
                "block_id": "reason",
                "label": _plain(say(Text.WHY_BAD, language)),
                "element": {
                    "type": "plain_text_input",
                    "action_id": "reason",
                    "multiline": True,
                    "max_length": 1000,
                },
            }
        ],
    }


def _source_line(citation: Citation, language: str, label_length: int) -> str:
    label = citation.title.strip() or UNTITLED
    if citation.heading and citation.heading != citation.title:
        label = f"{label} › {citation.heading}"
    if len(label) > label_length:
        label = label[: label_length - 1].rstrip() + "…"
    line = f"{citation.number}. {mrkdwn_link(citation.url, label)}"
    if characters(line) > CONTEXT_LENGTH:
        # No text object holds such an address.
        line = f"{citation.number}. {mrkdwn_link('', label)}"
    if citation.last_edited is not None:
        line += f" · {phrase(Phrase.LAST_EDITED, language)} {citation.last_edited:%Y-%m-%d}"
    return line


def _thumb(label: Text, verdict: str, question_id: str, language: str, page: str) -> dict[str, Any]:
    return {
        "text": _plain(say(label, language)),
        "accessibility_label": say(label, language),
        "value": value(verdict=verdict, question=question_id, language=language, page=page),
    }


def _plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": plain(text, limit=24)}
