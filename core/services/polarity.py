"""Whether a text says something or denies it: words of negation and what they are about. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from core.services.stopwords import stop_words, word_set
from core.services.tokens import fold

_CUES: Mapping[str, str] = {
    "en": (
        r"no|not|cannot|\w+n['’]t|never|none|nobody|nothing|nowhere|neither|nor|without|except|forbidden"
        r"|prohibited|disallowed|unless|absence|lack(?:s|ing)?"
    ),
    "de": (
        r"nicht|kein(?:e[nmrs]?)?|nie|niemals|niemand\w*|nichts|nirgends|weder|ohne|außer|ausgenommen|verboten"
        r"|untersagt|unzulässig"
    ),
    "ru": r"не|нет|нельзя|без|кроме|никогда|никто|никому|ничего|ничто|ни|запрещ\w+|исключая|отсутств\w+",
    "uk": r"не|немає|нема|без|крім|ніколи|ніхто|нічого|ні|заборон\w+",
    "pl": r"nie|bez|nigdy|nikt|nic|żad\w+|oprócz|zabron\w+",
    "fr": r"pas|jamais|aucun\w*|rien|sans|personne|sauf|interdit\w*",
    "es": r"no|nunca|jamás|ningun\w+|ningún|nadie|nada|sin|tampoco|salvo|excepto|prohibid\w+",
    "it": r"non|mai|nessun\w*|niente|nulla|senza|tranne|vietat\w+",
    "pt": r"não|nunca|nenhum\w*|ninguém|nada|sem|exceto|proibid\w+",
    "nl": r"niet|geen|nooit|niemand|niets|zonder|behalve|verboden",
    "sv": r"inte|ej|ingen|inget|inga|aldrig|utan|förbjud\w+",
    "cs": r"není|nejsou|nikdy|nikdo|nic|žádn\w+|bez|kromě|zakáz\w+",
    "tr": r"değil|yok|hiç|asla|olmadan",
}
"""Words that deny; words of forbidding count too, since they contradict "allowed"."""

_COMPARISONS: Mapping[str, str] = {
    "en": (
        r"\b(?:no|not) (?:later|more|less|fewer|longer|sooner|earlier|only|least|exceed\w*|over|under|above"
        r"|below|before|until|just)\b|\bnot (?:to )?exceed\w*|\bno matter\b|\bif not\b|\bor not\b|\bwhy not\b"
    ),
    "de": (
        r"\bnicht (?:mehr als|weniger als|länger als|später als|früher als|nur|unter|über|vor|erst)\b"
        r"|\bnichts (?:als|anderes)\b|\bob oder nicht\b"
    ),
    "ru": (
        r"\bне (?:меньше|более|больше|менее|поздн?ее|позже|дольше|выше|ниже|раньше|ранее|только|превыша\w+"
        r"|дороже|дешевле|старше|младше|короче|реже|чаще)\b"
    ),
    "uk": r"\bне (?:менше|більше|пізніше|довше|вище|нижче|раніше|лише|тільки)\b",
    "pl": r"\bnie (?:mniej|więcej|później|dłużej|wcześniej|tylko)\b",
    "fr": r"\bpas (?:plus|moins|seulement|avant)\b",
    "es": r"\bno (?:más|menos|solo|sólo|antes)\b",
    "it": r"\bnon (?:più|meno|solo|oltre)\b",
    "pt": r"\bnão (?:mais|menos|só|apenas)\b",
    "nl": r"\bniet (?:meer|minder|langer|later|eerder|alleen) ",
}
"""Negations that set a bound: "no later than" denies nothing."""

_AGREEING = frozenset(("ru", "uk", "pl", "cs", "es", "it", "pt"))
_AGREEING_WORDS = re.compile(
    r"ни|никто|никому|никогда|ничего|ничто|ні|ніхто|нічого|ніколи|nigdy|nikt|nic|żad\w+|nikdy|nikdo|žádn\w+"
    r"|nunca|jamás|ningun\w+|ningún|nadie|nada|mai|nessun\w*|niente|nulla|nenhum\w*|ninguém",
    re.IGNORECASE,
)
"""Words that stand beside another negation without undoing it: "никто не знает" denies once."""

_PREPOSITIONS = word_set("without ohne без sans sin senza sem zonder bez utan except außer кроме sauf salvo")

_CLAUSE = re.compile(
    r"(?:[,;:!?()–—]|(?<!\d)\.)\s+|(?<!\s)\s+[-–—]\s+|(?<!\s)\s+(?:and|und|и|or|oder|или|but|aber|но|а|et|y|e|en|oraz|і|та|ou|o)\s+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
LONGEST_FILLER = 4
"""Letters; where a clause has stop words only, longer ones are what it is about: "ohne zu fragen"."""

NEARBY = 4
"""Content words that a negation is taken to be about, on each side of it within its clause."""


@dataclass(frozen=True, slots=True)
class Denial:
    """The folded content words that one word of negation is about."""

    about: frozenset[str]


def clauses(text: str) -> tuple[str, ...]:
    """The parts of a sentence that say something of their own; single words stay with what comes before."""
    parts: list[str] = []
    for part in _CLAUSE.split(text):
        if parts and len(_WORD.findall(part)) < 2:  # noqa: PLR2004 - a single word
            parts[-1] = f"{parts[-1]} {part}"
        elif part.strip():
            parts.append(part.strip())
    return tuple(parts)


def denials(text: str, language: str) -> tuple[Denial, ...]:
    """Every negation of a text in that language, or in English where none is known for it."""
    found: list[Denial] = []
    for clause in clauses(_comparisons(language).sub(" ", text)):
        found.extend(_in_clause(clause, language))
    return tuple(found)


def _in_clause(clause: str, language: str) -> Iterator[Denial]:
    words = _WORD.findall(clause)
    cues = [at for at, word in enumerate(words) if _cue(language).fullmatch(word)]
    if language in _AGREEING:
        plain = [at for at in cues if not _AGREEING_WORDS.fullmatch(words[at])]
        # "без" stands for itself; beside "не" the others only agree.
        cues = plain or cues[:1]
    for at in cues:
        before, after = words[:at], words[at + 1 :]
        if words[at].lower() in _PREPOSITIONS:
            before = []
        about = (*_content(before, language)[-NEARBY:], *_content(after, language)[:NEARBY])
        yield Denial(about=frozenset(about))


def _content(words: list[str], language: str) -> list[str]:
    stop = stop_words(language)
    spoken = [word for word in words if not _cue(language).fullmatch(word)]
    kept = [fold(word) for word in spoken if word.lower() not in stop]
    return kept or [fold(word) for word in spoken if len(word) > LONGEST_FILLER]


@cache
def _cue(language: str) -> re.Pattern[str]:
    return re.compile(_CUES.get(language, _CUES["en"]), re.IGNORECASE)


@cache
def _comparisons(language: str) -> re.Pattern[str]:
    return re.compile(_COMPARISONS.get(language, r"(?!)"), re.IGNORECASE)
