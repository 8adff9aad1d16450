"""Words of a text as people mean them: C++, C#, ERR_42, user_id, v2.1, config.yml and #42 stay whole."""

import re
import unicodedata

_WORD = r"[^\W_]"
_TOKEN = re.compile(
    rf"""
    \#\d+\b                                        # an issue: #42
    | (?<![\d.,])\d{{1,3}}(?:[,'’]\d{{3}})+(?![\d.,'’]*\d)  # a number in groups: 1,000
    | \.?_{{0,8}}{_WORD}+                          # a word, .env included
      (?:(?:[._]+|[\-'’@]|::){_WORD}+)*            # ... with parts: user_id, v2.1, e-mail, l'équipe, a.b@c.de
      _*
      (?:\+\+|\#(?!\w))?                           # ... or a language's name: C++, C#
    """,
    re.VERBOSE,
)
UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003134f"
)
"""Signs of scripts written without spaces, as in a character class: Han, kana, Thai, Lao, Myanmar, Khmer."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_COMBINING = "Mn"
SHORTEST_ROOT = 4
LONGEST_ENDING = 3


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text in order, as written, compatibility forms unified.

    Runs of scripts without spaces are cut into overlapping pairs of characters, the usual stand-in for words.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(_unify(text)):
        found.extend(_cut_unspaced(match.group()))
    return tuple(found)


def parts(token: str) -> tuple[str, ...]:
    """The words inside a compound written with hyphens or apostrophes; empty where the token is one word.

    What has a dot, an underscore or a digit is an identifier and is not taken apart.
    """
    if is_identifier(token):
        return ()
    pieces = tuple(piece for piece in re.split(r"[-'’]", token) if piece)
    return pieces if len(pieces) > 1 else ()


def is_identifier(token: str) -> bool:
    """Whether a token names a thing exactly: it holds a digit or a sign that no plain word has."""
    return any(character.isdigit() or character in "._@:+#" for character in token)


def fold(token: str) -> str:
    """The form in which two spellings of a word are equal: case and accents removed."""
    decomposed = unicodedata.normalize("NFKD", token.casefold())
    return "".join(character for character in decomposed if unicodedata.category(character) != _COMBINING)


def same_root(first: str, second: str) -> bool:
    """Whether two folded words look like inflections of one: equal up to the last three letters of either.

    Identifiers must be equal.
    """
    if first == second:
        return True
    if is_identifier(first) or is_identifier(second):
        return False
    pairs = enumerate(zip(first, second, strict=False))
    common = next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))
    return common >= SHORTEST_ROOT and common >= max(len(first), len(second)) - LONGEST_ENDING


def word_forms(text: str) -> frozenset[str]:
    """Every folded word of a text: tokens, and the parts of compounds."""
    forms: set[str] = set()
    for token in tokens(text):
        forms.add(fold(token))
        forms.update(fold(piece) for piece in parts(token))
    return frozenset(forms)


def _unify(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _cut_unspaced(token: str) -> list[str]:
    cut: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(token):
        if before := token[end : run.start()].strip("-'_."):
            cut.append(before)
        cut.extend(_pairs(run.group()))
        end = run.end()
    if end == 0:
        return [token]
    if after := token[end:].strip("-'_."):
        cut.append(after)
    return cut


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
