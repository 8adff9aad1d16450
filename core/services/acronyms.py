"""What the wiki's own short forms stand for: "ABC (Alpha Beta Co)" and "Alpha Beta Co (ABC)".

Definitions are read from passages that the asker may see anyway, so none is learned of a page behind a scope.
A short form and its long one belong together if the letters of the short one are found in the long one from
back to front, the first at the beginning of a word (Schwartz and Hearst, 2003).
"""

import re
from collections.abc import Iterable, Mapping

from core.services.tokens import fold

MOST_ADDED = 3
"""Long or short forms added to one question."""

_SHORT = r"[^\W\d_a-zа-яёіїєґ][\w&/.-]{1,9}"
_SHORT_FIRST = re.compile(rf"(?<!\w)({_SHORT})\s*[(（]([^()（）\n]{{3,80}})[)）]")
_LONG_FIRST = re.compile(
    rf"(?<![\w'’-])((?:[^\W_][\w'’-]*[ \u00a0]){{1,8}}[^\W_][\w'’-]*)\s*[(（]({_SHORT})[)）]"
)
_WORDS = re.compile(r"[^\W_]+")
_CAPITALS = 2


def definitions(texts: Iterable[str]) -> Mapping[str, str]:
    """Long forms by short form, the first definition of each."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _SHORT_FIRST.finditer(text):
            short, long = match.group(1), match.group(2).strip()
            if _is_short(short) and (whole := _long_form(short, long)) == long:
                found.setdefault(short, whole)
        for match in _LONG_FIRST.finditer(text):
            long, short = match.group(1), match.group(2)
            if _is_short(short) and (whole := _long_form(short, long)):
                found.setdefault(short, whole)
    return found


def added(question: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """The other forms of what the question names, in order of definition: they may be searched as well."""
    asked = _spoken(question)
    forms: dict[str, None] = {}
    for short, long in known.items():
        has_short = re.search(rf"(?<!\w){re.escape(short)}(?:s|'s|’s)?(?!\w)", question) is not None
        has_long = _spoken(long) in asked
        if has_short is not has_long:
            forms[long if has_short else short] = None
    return tuple(forms)[:MOST_ADDED]


def _spoken(text: str) -> str:
    """The words alone, a blank before and behind each."""
    return f" {' '.join(_WORDS.findall(fold(text)))} "


def _is_short(word: str) -> bool:
    return sum(letter.isupper() for letter in word) >= _CAPITALS and not word.endswith((".", "-", "/", "&"))


def _long_form(short: str, text: str) -> str:
    """The end of the text that spells the short form out; empty where none does."""
    letters = [letter for letter in fold(short) if letter.isalnum()]
    # Folding may change how many letters there are (ß), so the places are those of the folded text.
    words = text.split()
    lowered = fold(" ".join(words))
    place = len(lowered)
    for number, letter in enumerate(reversed(letters)):
        is_first = number == len(letters) - 1
        place -= 1
        while place >= 0 and not (
            lowered[place] == letter and (not is_first or place == 0 or not lowered[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return ""
    skipped = len(lowered[:place].split())
    form = " ".join(words[skipped:])
    # As many words as letters and a few small ones between them; more is a sentence that happens to fit.
    most = min(len(letters) + 5, 2 * len(letters))
    return form if 1 < len(form.split()) <= most else ""
