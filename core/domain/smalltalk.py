"""Greetings and thanks: said to the bot every day, and nothing that a wiki could answer."""

import re

MOST_WORDS = 6
"""A longer text says more than hello."""


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_SAID = _words(
    "hi hello hey hiya yo howdy thanks thank thx ty cheers ok okay cool great nice perfect awesome bye",
    "goodbye help",
    "hallo servus moin dank danke dankeschön merci tschüss tschüs super prima klasse hilfe",
    "привет здравствуйте здравствуй спасибо благодарю ок окей отлично понятно супер пока помощь привіт дякую",
    "bonjour salut bonsoir hola gracias olá obrigado obrigada ciao grazie cześć dzięki dziękuję merhaba",
    "teşekkürler 你好 谢谢 こんにちは ありがとう",
)
_BESIDE = _words(
    "there you u so very much a lot again all everyone team folks bot footnote for the that",
    "good morning afternoon evening alles klar gut guten guter morgen tag abend vielen lieben sehr schön dir",
    "euch ihnen für die добрый доброе день утро вечер большое вам тебе за всё все хорошо добрий дуже",
    "beaucoup bien muchas buenos buenas días tardes muito mille",
)
_GREETINGS = (
    *(
        "good morning",
        "good afternoon",
        "good evening",
        "guten morgen",
        "guten tag",
        "guten abend",
        "alles klar",
    ),
    *("добрый день", "доброе утро", "добрый вечер", "добрий день", "buenos días", "buenas tardes"),
)
_WORD = re.compile(r"[^\W_]+")


def asks_nothing(text: str) -> bool:
    """Whether a message has no words, or nothing but a greeting, thanks or a nod.

    >>> asks_nothing("Hi there!"), asks_nothing("vielen Dank 🙏"), asks_nothing("Thanks, and the gym?")
    (True, True, False)
    """
    words = _WORD.findall(text.casefold())
    if len(words) > MOST_WORDS or not all(word in _SAID or word in _BESIDE for word in words):
        return False
    said = f" {' '.join(words)} "
    return not words or not _SAID.isdisjoint(words) or any(f" {one} " in said for one in _GREETINGS)
