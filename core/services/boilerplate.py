"""Lines that stand on many pages and say nothing about any of them (inventory X24).

A block is dropped from the passages only if it is nothing but such a line: prose that mentions one stays. The
text of the whole page keeps them all, so nothing that anybody wrote becomes unfindable by its words.
"""

import re

from core.domain.documents import BlockKind

LONGEST = 160
"""Characters; a longer block says something of its own."""

_WORDS_OF_A_HOLDER = 8
"""Years and a name: "© 2019 2024 Example Water Works GmbH"."""

_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.QUOTE})

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_SIGNS = re.compile(r"[^\w©/'’]+")

_RIGHTS = (
    "all rights reserved",
    "alle rechte vorbehalten",
    "все права защищены",
    "tous droits réservés",
    "todos los derechos reservados",
    "tutti i diritti riservati",
    "todos os direitos reservados",
    "alle rechten voorbehouden",
    "wszelkie prawa zastrzeżone",
    "všechna práva vyhrazena",
    "усі права захищені",
)

_SAYINGS = frozenset(
    [
        # Ways around a page.
        "back to top", "to top", "back to home", "go back", "back", "next page", "previous page", "next",
        "previous", "table of contents", "on this page", "contents", "skip to content", "print this page",
        "zum seitenanfang", "nach oben", "zurück nach oben", "zurück zur übersicht", "zurück", "weiter",
        "inhaltsverzeichnis", "auf dieser seite", "inhalt", "seite drucken",
        "наверх", "к началу страницы", "назад", "вперёд", "далее", "содержание", "оглавление",
        "на этой странице",
        # What tools write below or into pages.
        "was this page helpful", "was this article helpful", "edit this page", "share this page",
        "war diese seite hilfreich", "seite bearbeiten", "была ли эта страница полезна",
        "made with notion", "created with notion", "type something", "type here", "add text here",
        "type '/' for commands", "click to add text", "text hier eingeben", "hier text eingeben",
        "введите текст", "empty page", "this page is intentionally left blank",
        "diese seite wurde absichtlich leer gelassen", "страница намеренно оставлена пустой",
    ]
)  # fmt: skip  # a table

_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|pagina|strona|strana|стр|страница|сторінка|p|s)?\s*\d{1,4}"
    r"\s*(?:of|von|de|di|van|z|из|/)\s*\d{1,4}"
    r"|(?:page|seite|página|pagina|strona|strana|стр|страница|сторінка)\s*\d{1,4}"
)
_COPYRIGHT = re.compile(r"(?:copyright\s*)?(?:©|\bc\b)?\s*(?:copyright)?.*\b(?:19|20)\d{2}\b.*")
_FILLER = re.compile(r"lorem ipsum dolor sit amet\b.*")


def is_boilerplate(text: str, kind: BlockKind) -> bool:
    """Whether a block is nothing but a notice, a way around the page, a page number or filler text."""
    if kind not in _KINDS or len(text) > LONGEST:
        return kind in _KINDS and _FILLER.match(_plain(text[:LONGEST])) is not None
    plain = _plain(text)
    if not plain:
        return False
    if plain in _SAYINGS or _PAGE_NUMBER.fullmatch(plain) or _FILLER.match(plain):
        return True
    return _is_notice(plain)


def _is_notice(plain: str) -> bool:
    """A line of rights; one that says who holds them in prose of its own is longer than a line."""
    if any(saying in plain for saying in _RIGHTS):
        rest = plain
        for saying in _RIGHTS:
            rest = rest.replace(saying, " ")
        return len(rest.split()) <= _WORDS_OF_A_HOLDER
    starts = plain.startswith(("©", "copyright "))
    return starts and _COPYRIGHT.fullmatch(plain) is not None and len(plain.split()) <= _WORDS_OF_A_HOLDER


def _plain(text: str) -> str:
    """Words alone, in lower case; links by their names."""
    return " ".join(_SIGNS.sub(" ", _LINK.sub(r"\1", text)).casefold().split())
