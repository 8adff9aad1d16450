"""What our buttons carry back, in at most 100 characters: which one, for which question. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

PREFIX = "footnote"
TEMPLATE = re.compile(
    rf"{PREFIX}:(?P<button>[a-z]+):(?P<question>\d{{1,20}}):(?P<language>[a-z]{{0,3}})"
    r":(?P<about>[0-9a-f-]{0,36})(?::(?P<answer>\d{1,20}))?"
)
LENGTH = 100


class Button(StrEnum):
    """The buttons under an answer, and the modals they open."""

    GOOD = "good"
    BAD = "bad"
    CONTINUE = "continue"
    EXPERT = "expert"
    SHARE = "share"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a custom id says.

    ``about``: the asker for `CONTINUE`, the first source's page for `BAD` and `EXPERT`. ``answer``: the id of
    the message that answers, where the button is below another one.
    """

    button: Button
    question: str
    language: str
    about: str
    answer: str = ""


def button_id(button: Button, question: str, language: str, *, about: str = "", answer: str = "") -> str:
    """The custom id of a button. The ids of question and answer are snowflakes; ``about`` may be a page's."""
    made = f"{PREFIX}:{button}:{question}:{language[:2]}:{about}"
    return f"{made}:{answer}" if answer else made


def read_button_id(custom_id: str) -> Pressed | None:
    """What the id says; null if it is none of ours."""
    match = TEMPLATE.fullmatch(custom_id)
    if match is None or match["button"] not in tuple(Button):
        return None
    return Pressed(
        button=Button(match["button"]),
        question=match["question"],
        language=match["language"],
        about=match["about"],
        answer=match["answer"] or "",
    )
