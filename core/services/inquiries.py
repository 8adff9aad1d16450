"""A question made ready to be searched."""

from dataclasses import dataclass

from core.domain.questions import Question
from core.ports import WordQuery
from core.services.followups import language_of, standalone
from core.services.tokens import is_identifier
from core.services.words import keywords, read_operators, word_query

_AROUND = ".,:;!?\"'()"
"""Signs at the ends of a word that belong to the sentence."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is searched for: the standalone text, its language, its words and what it excludes."""

    question: Question
    text: str
    language: str
    words: WordQuery
    keywords: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def is_name(self) -> bool:
        """Whether it is names and nothing else, such as ``INC-308``: it asks for their page, not about it."""
        words = [word.strip(_AROUND) for word in self.text.split()]
        return bool(words) and all(is_identifier(word) or "-" in word for word in words)


def prepare(question: Question) -> Inquiry:
    """Language, words and operators of a question; earlier questions lend words to a short follow-up."""
    text = " ".join(standalone(question).replace("\x00", " ").split())
    language = language_of(question)
    return Inquiry(
        question=question,
        text=text,
        language=language,
        words=word_query(text, language),
        keywords=keywords(text, language),
        excluded=read_operators(text).excluded,
    )
