"""Words cut into runs of letters: finds compounds, inflections, typing errors and names in another script.

"Vertretung" shares most of its runs with "Vertretungsplan", "faeture" some with "feature", and "Аллен", once
written in Latin letters, all of them with "Allen". No stemmer is needed, so it works in every language.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

SIZE = 4
"""Letters in a run, the marks of a word's ends included. 3 finds more noise, 5 misses more inflections."""

UNSPACED_SIZE = 2
"""Characters in a run of a script written without spaces, where a word is often no longer."""

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
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


def _runs(word: str) -> Iterator[str]:
    if _UNSPACED.search(word):
        size, marked = UNSPACED_SIZE, word
    else:
        size, marked = SIZE, f"{_EDGE}{word}{_EDGE}"
    if len(marked) <= size:
        yield marked
        return
    for at in range(len(marked) - size + 1):
        yield marked[at : at + size]
