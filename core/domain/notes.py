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
    CHANGED = "changed"
    """On an answer that was given before its source changed."""


_NOTES: Mapping[str, tuple[str, str, str, str]] = {
    # In the order of Note.
    "en": (
        "no source found for this",
        "Possibly outdated: last edited on {date}.",
        "Another page says otherwise:",
        "The source has changed since this answer was given.",
    ),
    "de": (
        "dafür fand sich keine Quelle",
        "Möglicherweise veraltet: zuletzt bearbeitet am {date}.",
        "Auf einer anderen Seite steht es anders:",
        "Die Quelle hat sich geändert, seit diese Antwort gegeben wurde.",
    ),
    "ru": (
        "источник для этого не найден",
        "Возможно, устарело: последнее изменение {date}.",
        "На другой странице сказано иначе:",
        "Источник изменился с тех пор, как был дан этот ответ.",
    ),
    "fr": (
        "aucune source trouvée",
        "Peut-être obsolète : dernière modification le {date}.",
        "Une autre page dit autre chose :",
        "La source a changé depuis cette réponse.",
    ),
    "es": (
        "no se encontró ninguna fuente",
        "Posiblemente desactualizado: última edición el {date}.",
        "Otra página dice algo distinto:",
        "La fuente ha cambiado desde que se dio esta respuesta.",
    ),
    "it": (
        "nessuna fonte trovata",
        "Forse non aggiornato: ultima modifica il {date}.",
        "Un’altra pagina dice diversamente:",
        "La fonte è cambiata da quando è stata data questa risposta.",
    ),
    "pt": (
        "nenhuma fonte encontrada",
        "Possivelmente desatualizado: última edição em {date}.",
        "Outra página diz o contrário:",
        "A fonte mudou desde que esta resposta foi dada.",
    ),
    "nl": (
        "hiervoor is geen bron gevonden",
        "Mogelijk verouderd: laatst bewerkt op {date}.",
        "Op een andere pagina staat het anders:",
        "De bron is gewijzigd sinds dit antwoord is gegeven.",
    ),
    "pl": (
        "nie znaleziono źródła",
        "Być może nieaktualne: ostatnia zmiana {date}.",
        "Inna strona mówi co innego:",
        "Źródło zmieniło się od czasu tej odpowiedzi.",
    ),
    "uk": (
        "джерела для цього не знайдено",
        "Можливо, застаріло: остання зміна {date}.",
        "На іншій сторінці сказано інакше:",
        "Джерело змінилося, відколи було дано цю відповідь.",
    ),
    "tr": (
        "bunun için kaynak bulunamadı",
        "Güncel olmayabilir: son düzenleme {date}.",
        "Başka bir sayfada farklı yazıyor:",
        "Bu yanıt verildikten sonra kaynak değişti.",
    ),
    "zh": (
        "未找到出处",
        "可能已过时：最后编辑于 {date}。",
        "另一页面的说法不同：",
        "给出此回答后，来源已更改。",
    ),
    "ja": (
        "出典が見つかりません",
        "古い可能性があります（最終更新 {date}）。",
        "別のページには異なる記述があります。",
        "この回答のあとで出典が変更されました。",
    ),
}

FALLBACK = "en"


def note(which: Note, language: str) -> str:
    """The remark in the language, or in English."""
    return _NOTES.get(language, _NOTES[FALLBACK])[tuple(Note).index(which)]
