"""What Footnote adds to an answer about its sources, in the asker's language."""

from collections.abc import Mapping
from enum import StrEnum


class Note(StrEnum):
    """A fixed remark. ``OUTDATED`` has the place ``{date}``."""

    UNSUPPORTED = "unsupported"
    """Behind a sentence that no source supports, where such sentences are shown."""
    OUTDATED = "outdated"
    OTHERWISE = "otherwise"
    """Before a quote from another page that contradicts the answer."""


_NOTES: Mapping[str, tuple[str, str, str]] = {
    # In the order of Note.
    "en": (
        "no source found for this",
        "Possibly outdated: last edited on {date}.",
        "Another page says otherwise:",
    ),
    "de": (
        "dafür fand sich keine Quelle",
        "Möglicherweise veraltet: zuletzt bearbeitet am {date}.",
        "Auf einer anderen Seite steht es anders:",
    ),
    "ru": (
        "источник для этого не найден",
        "Возможно, устарело: последнее изменение {date}.",
        "На другой странице сказано иначе:",
    ),
    "fr": (
        "aucune source trouvée",
        "Peut-être obsolète : dernière modification le {date}.",
        "Une autre page dit autre chose :",
    ),
    "es": (
        "no se encontró ninguna fuente",
        "Posiblemente desactualizado: última edición el {date}.",
        "Otra página dice algo distinto:",
    ),
    "it": (
        "nessuna fonte trovata",
        "Forse non aggiornato: ultima modifica il {date}.",
        "Un’altra pagina dice diversamente:",
    ),
    "pt": (
        "nenhuma fonte encontrada",
        "Possivelmente desatualizado: última edição em {date}.",
        "Outra página diz o contrário:",
    ),
    "nl": (
        "hiervoor is geen bron gevonden",
        "Mogelijk verouderd: laatst bewerkt op {date}.",
        "Op een andere pagina staat het anders:",
    ),
    "pl": (
        "nie znaleziono źródła",
        "Być może nieaktualne: ostatnia zmiana {date}.",
        "Inna strona mówi co innego:",
    ),
    "uk": (
        "джерела для цього не знайдено",
        "Можливо, застаріло: остання зміна {date}.",
        "На іншій сторінці сказано інакше:",
    ),
    "tr": (
        "bunun için kaynak bulunamadı",
        "Güncel olmayabilir: son düzenleme {date}.",
        "Başka bir sayfada farklı yazıyor:",
    ),
    "zh": (
        "未找到出处",
        "可能已过时：最后编辑于 {date}。",
        "另一页面的说法不同：",
    ),
    "ja": (
        "出典が見つかりません",
        "古い可能性があります（最終更新 {date}）。",
        "別のページには異なる記述があります。",
    ),
}

FALLBACK = "en"


def note(which: Note, language: str) -> str:
    """The remark in the language, or in English."""
    return _NOTES.get(language, _NOTES[FALLBACK])[tuple(Note).index(which)]
