"""Text from pages, titles and people made harmless inside a prompt: data, whatever it says."""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
_GAP = f"[\\s{_JOINERS}]*+"
_OPENING = "[<＜﹤〈‹《]"


def _spaced(word: str) -> str:
    """A word even where joiners or blanks were slipped between its letters."""
    return _GAP.join(re.escape(letter) for letter in word)


_TAGS = ("sources", "source", "question", "earlier", "system", "assistant", "user", "instructions")
_DELIMITER = re.compile(
    rf"{_OPENING}(?={_GAP}[/／]?{_GAP}(?:{'|'.join(_spaced(tag) for tag in _TAGS)})\b)", re.IGNORECASE
)
_CONTROL = re.compile(
    r"<\|(?P<special>[^|<>\n]{0,40})\|>|<<(?P<sys>/?SYS)>>|\[(?P<inst>/?INST)\]|<(?P<s>/?s)>"
    r"|<(?P<turn>(?:start|end)_of_turn)>|<(?P<think>/?think(?:ing)?)>",
    re.IGNORECASE,
)


def neutralised(text: str) -> str:
    """The text without anything that a model could take for the prompt's own structure (T30, U23, A6).

    Delimiters and control tokens get harmless brackets; invisible and direction-changing characters go.
    """
    visible = "".join(one for one in text if one in f"\n\t{_JOINERS}" or _is_visible(one))
    inert = _CONTROL.sub(
        lambda match: f"‹{next(group for group in match.groups() if group is not None)}›", visible
    )
    return _DELIMITER.sub("‹", inert)


def one_line(text: str) -> str:
    """The same for titles, headings and questions, which have no lines."""
    return " ".join(neutralised(text).split())


def quoted(text: str) -> str:
    """The same with each line quoted, so that no line starts like a role or a heading of the prompt."""
    return "\n".join(f"> {line}".rstrip() for line in neutralised(text).splitlines())


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
