"""Words cut into runs of letters: finds compounds, inflections, typing errors and names in another script.

"Vertretung" shares most of its runs with "Vertretungsplan", "faeture" some with "feature", and "Аллен", once
written in Latin letters, all of them with "Allen". No stemmer is needed, so it works in every language.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache

from core.services.tokens import UNSPACED

SIZE = 4
"""Letters in a run, the marks of a word's ends included. 3 finds more noise, 5 misses more inflections."""

UNSPACED_SIZE = 2
"""Characters in a run of a script written without spaces, where a word is often no longer."""

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
"""A name in Latin letters or a number amid signs written without spaces is a word of its own."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_EDGE = "_"

_LATIN = str.maketrans(
    dict(zip("абвгдезиклмнопрстуфхцыэіїґ", "abvgdeziklmnoprstufhcieiig", strict=True))
    | {"й": "i", "ё": "e", "ж": "zh", "ч": "ch", "ш": "sh", "щ": "sh", "ю": "u", "я": "a", "є": "e"}
    | {"ъ": "", "ь": ""}
    | dict(zip("αβγδεζηικλμνξοπρστυφχωςθψ", "abgdeziiklmnxoprstufhosts", strict=True))
)
"""Cyrillic and Greek in Latin letters, roughly as names are spelled; accents are gone before."""

_SOUNDS = (
    ("sch", "sh"), ("ck", "k"), ("ph", "f"), ("th", "t"), ("kh", "h"), ("tz", "c"), ("ts", "c"),
    ("qu", "kv"), ("x", "ks"), ("w", "v"), ("j", "i"), ("y", "i"), ("ß", "ss"), ("ee", "i"), ("oo", "u"),
)  # fmt: skip
_DOUBLED = re.compile(r"([a-z])\1")


def fold_sounds(text: str) -> str:
    """Lower case, no accents, Latin letters, and one spelling for sounds that languages spell differently."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign)).translate(_LATIN)
    for spelled, sound in _SOUNDS:
        plain = plain.replace(spelled, sound)
    return _DOUBLED.sub(r"\1", plain)


def gram_counts(text: str) -> Counter[str]:
    """How often each run of letters occurs in a text; runs never reach over the end of a word."""
    counts: Counter[str] = Counter()
    for word in _WORD.findall(fold_sounds(text)):
        counts.update(_runs(word))
    return counts


def count_runs(wanted: Collection[str], text: str) -> tuple[dict[str, int], int]:
    """How often each wanted run occurs in a text, and how many runs the text has in all.

    What `gram_counts` would say of those runs, except that overlapping repetitions of one run count once.
    It takes a fraction of the time, above all for a text that was asked about lately.
    """
    words, number = _spelled(text)
    counts = {run: words.count(run) for run in wanted}
    return {run: occurrences for run, occurrences in counts.items() if occurrences}, number


@lru_cache(maxsize=8192)
def _spelled(text: str) -> tuple[str, int]:
    """The words of a text with their marks, and the number of their runs."""
    words: list[str] = []
    number = 0
    for word in _WORD.findall(fold_sounds(text)):
        size, marked = _cut(word)
        words.append(marked)
        number += max(1, len(marked) - size + 1)
    return " ".join(words), number


def _runs(word: str) -> Iterator[str]:
    size, marked = _cut(word)
    if len(marked) <= size:
        yield marked
        return
    for at in range(len(marked) - size + 1):
        yield marked[at : at + size]


def _cut(word: str) -> tuple[int, str]:
    """How long the runs of a word are, and the word with the marks of its ends."""
    if _UNSPACED.search(word):
        return UNSPACED_SIZE, word
    return SIZE, f"{_EDGE}{word}{_EDGE}"
