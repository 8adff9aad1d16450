"""What Footnote itself says, in the asker's language: fixed sentences that need no model."""

from collections.abc import Mapping
from enum import StrEnum
from math import ceil

from core.domain.answers import NoAnswerReason


class Phrase(StrEnum):
    """A fixed text. ``LEAD_IN`` stands before quotes in another language than the question's."""

    LEAD_IN = "lead_in"
    SOURCES = "sources"
    LAST_EDITED = "last_edited"
    DEGRADED = "degraded"
    SOURCE_CHANGED = "source_changed"
    ASK_AGAIN = "ask_again"


FALLBACK = "en"

_NO_ANSWER: Mapping[str, tuple[str, str, str, str, str, str]] = {
    # In the order of NoAnswerReason.
    "en": (
        "I did not find an answer to that in the wiki.",
        "There is nothing in the wiki that may be shown here.",
        "The wiki has not been read yet. Please try again after the first sync.",
        "What would you like to know? Please ask a question.",
        "That question is too long for me. Please ask it in at most 2,000 characters.",
        "You have asked a lot in a short time. Please ask again in {minutes} min.",
    ),
    "de": (
        "Dazu habe ich im Wiki keine Antwort gefunden.",
        "Im Wiki gibt es nichts, was hier gezeigt werden darf.",
        "Das Wiki ist noch nicht eingelesen. Bitte versuche es nach der ersten Synchronisierung wieder.",
        "Was möchtest du wissen? Bitte stelle eine Frage.",
        "Diese Frage ist mir zu lang. Bitte stelle sie mit höchstens 2.000 Zeichen.",
        "Das waren viele Fragen in kurzer Zeit. Bitte frag in {minutes} Min. wieder.",
    ),
    "ru": (
        "В вики я не нашёл ответа на этот вопрос.",
        "В вики нет ничего, что можно показать здесь.",
        "Вики ещё не прочитана. Попробуйте ещё раз после первой синхронизации.",
        "Что вы хотите узнать? Задайте, пожалуйста, вопрос.",
        "Этот вопрос слишком длинный. Задайте его, пожалуйста, не длиннее 2000 знаков.",
        "За короткое время было много вопросов. Спросите, пожалуйста, снова через {minutes} мин.",
    ),
    "fr": (
        "Je n’ai pas trouvé de réponse à cette question dans le wiki.",
        "Le wiki ne contient rien qui puisse être montré ici.",
        "Le wiki n’a pas encore été lu. Réessayez après la première synchronisation.",
        "Que souhaitez-vous savoir ? Posez une question, s’il vous plaît.",
        "Cette question est trop longue. Posez-la en 2 000 caractères au plus, s’il vous plaît.",
        "Beaucoup de questions en peu de temps. Reposez la vôtre dans {minutes} min, s’il vous plaît.",
    ),
    "es": (
        "No he encontrado en la wiki una respuesta a esa pregunta.",
        "En la wiki no hay nada que se pueda mostrar aquí.",
        "La wiki todavía no se ha leído. Vuelve a intentarlo después de la primera sincronización.",
        "¿Qué te gustaría saber? Haz una pregunta, por favor.",
        "Esa pregunta es demasiado larga. Hazla en un máximo de 2000 caracteres, por favor.",
        "Han sido muchas preguntas en poco tiempo. Vuelve a preguntar dentro de {minutes} min.",
    ),
    "it": (
        "Nel wiki non ho trovato una risposta a questa domanda.",
        "Nel wiki non c’è nulla che si possa mostrare qui.",
        "Il wiki non è ancora stato letto. Riprova dopo la prima sincronizzazione.",
        "Che cosa vorresti sapere? Fai una domanda, per favore.",
        "Questa domanda è troppo lunga. Falla in al massimo 2000 caratteri, per favore.",
        "Sono state molte domande in poco tempo. Riprova tra {minutes} min.",
    ),
    "pt": (
        "Não encontrei na wiki uma resposta a essa pergunta.",
        "Não há nada na wiki que possa ser mostrado aqui.",
        "A wiki ainda não foi lida. Tente de novo depois da primeira sincronização.",
        "O que gostaria de saber? Faça uma pergunta, por favor.",
        "Essa pergunta é longa demais. Faça-a em até 2000 caracteres, por favor.",
        "Foram muitas perguntas em pouco tempo. Pergunte de novo dentro de {minutes} min.",
    ),
    "nl": (
        "Daar heb ik in de wiki geen antwoord op gevonden.",
        "Er staat niets in de wiki dat hier getoond mag worden.",
        "De wiki is nog niet ingelezen. Probeer het na de eerste synchronisatie opnieuw.",
        "Wat wil je weten? Stel een vraag.",
        "Die vraag is te lang. Stel hem in hoogstens 2000 tekens.",
        "Dat waren veel vragen in korte tijd. Vraag het over {minutes} min. nog eens.",
    ),
    "pl": (
        "Nie znalazłem w wiki odpowiedzi na to pytanie.",
        "W wiki nie ma niczego, co można tu pokazać.",
        "Wiki nie zostało jeszcze wczytane. Spróbuj ponownie po pierwszej synchronizacji.",
        "Co chcesz wiedzieć? Zadaj pytanie.",
        "To pytanie jest za długie. Zadaj je w najwyżej 2000 znakach.",
        "To było dużo pytań w krótkim czasie. Zapytaj ponownie za {minutes} min.",
    ),
    "uk": (
        "У вікі я не знайшов відповіді на це запитання.",
        "У вікі немає нічого, що можна тут показати.",
        "Вікі ще не прочитано. Спробуйте ще раз після першої синхронізації.",
        "Що ви хочете дізнатися? Поставте, будь ласка, запитання.",
        "Це запитання задовге. Поставте його, будь ласка, не довшим за 2000 знаків.",
        "За короткий час було багато запитань. Запитайте, будь ласка, знову через {minutes} хв.",
    ),
    "tr": (
        "Wiki’de bu sorunun yanıtını bulamadım.",
        "Wiki’de burada gösterilebilecek bir şey yok.",
        "Wiki henüz okunmadı. İlk eşitlemeden sonra yeniden deneyin.",
        "Ne öğrenmek istersiniz? Lütfen bir soru sorun.",
        "Bu soru çok uzun. Lütfen en fazla 2000 karakterle sorun.",
        "Kısa sürede çok soru soruldu. Lütfen {minutes} dk. sonra yeniden sorun.",
    ),
    "zh": (
        "我在维基中没有找到这个问题的答案。",
        "维基中没有可以在这里显示的内容。",
        "维基尚未读取。请在首次同步后再试。",
        "您想了解什么？请提出一个问题。",
        "这个问题太长了。请用不超过 2000 个字符提问。",
        "短时间内的提问太多了。请在 {minutes} 分钟后再问。",
    ),
    "ja": (
        "その質問への答えはWikiに見つかりませんでした。",
        "ここで表示できる内容はWikiにありません。",
        "Wikiはまだ読み込まれていません。最初の同期のあとでもう一度お試しください。",
        "何をお知りになりたいですか。質問を入力してください。",
        "質問が長すぎます。2000文字以内でお願いします。",
        "短い時間に多くの質問がありました。{minutes}分後にもう一度お試しください。",
    ),
}

_PHRASES: Mapping[str, tuple[str, ...]] = {
    # In the order of Phrase.
    "en": (
        "The wiki says, in another language:",
        "Sources",
        "last edited",
        "Not everything could be searched or written as usual just now, so this answer is simpler.",
        "The source has changed since.",
        "Ask again",
    ),
    "de": (
        "Im Wiki steht dazu, in einer anderen Sprache:",
        "Quellen",
        "zuletzt bearbeitet",
        "Suchen oder Schreiben ging gerade nicht wie sonst; diese Antwort ist daher einfacher.",
        "Die Quelle hat sich seitdem geändert.",
        "Noch einmal fragen",
    ),
    "ru": (
        "Об этом в вики, на другом языке:",
        "Источники",
        "изменено",
        "Сейчас не удалось искать или писать как обычно, поэтому этот ответ проще.",
        "Источник с тех пор изменился.",
        "Спросить ещё раз",
    ),
    "fr": (
        "Le wiki dit, dans une autre langue :",
        "Sources",
        "dernière modification",
        "La recherche ou la rédaction habituelle est indisponible ; la réponse est donc plus simple.",
        "La source a changé depuis.",
        "Demander à nouveau",
    ),
    "es": (
        "La wiki dice, en otro idioma:",
        "Fuentes",
        "última edición",
        "Ahora no se ha podido buscar o redactar como siempre; la respuesta es más sencilla.",
        "La fuente ha cambiado desde entonces.",
        "Preguntar de nuevo",
    ),
    "it": (
        "Il wiki dice, in un’altra lingua:",
        "Fonti",
        "ultima modifica",
        "Ora non è stato possibile cercare o scrivere come al solito: la risposta è più semplice.",
        "La fonte è cambiata nel frattempo.",
        "Chiedi di nuovo",
    ),
    "pt": (
        "A wiki diz, em outra língua:",
        "Fontes",
        "última edição",
        "Agora não foi possível pesquisar ou escrever como de costume; a resposta é mais simples.",
        "A fonte mudou desde então.",
        "Perguntar de novo",
    ),
    "nl": (
        "De wiki zegt, in een andere taal:",
        "Bronnen",
        "laatst bewerkt",
        "Zoeken of schrijven ging nu niet zoals anders; dit antwoord is daarom eenvoudiger.",
        "De bron is sindsdien gewijzigd.",
        "Opnieuw vragen",
    ),
    "pl": (
        "W wiki napisano, w innym języku:",
        "Źródła",
        "ostatnia zmiana",
        "W tej chwili nie można było szukać lub pisać jak zwykle, dlatego ta odpowiedź jest prostsza.",
        "Źródło zmieniło się od tego czasu.",
        "Zapytaj ponownie",
    ),
    "uk": (
        "Про це у вікі, іншою мовою:",
        "Джерела",
        "змінено",
        "Зараз не вдалося шукати або писати як зазвичай, тому ця відповідь простіша.",
        "Джерело відтоді змінилося.",
        "Запитати ще раз",
    ),
    "tr": (
        "Wiki’de başka bir dilde şöyle yazıyor:",
        "Kaynaklar",
        "son düzenleme",
        "Şu anda her zamanki gibi aranamadı veya yazılamadı; bu yüzden bu yanıt daha basit.",
        "Kaynak o zamandan beri değişti.",
        "Yeniden sor",
    ),
    "zh": (
        "维基中的原文（其他语言）：",
        "来源",
        "最后编辑",
        "目前无法照常搜索或撰写，因此这个回答较为简单。",
        "来源此后已有更改。",
        "重新提问",
    ),
    "ja": (
        "Wikiには別の言語で次のように書かれています。",
        "出典",
        "最終更新",
        "現在、通常どおりの検索や作成ができないため、簡易な回答です。",
        "出典はその後変更されています。",
        "もう一度質問する",
    ),
}

LANGUAGES = frozenset(_NO_ANSWER)
"""Languages that Footnote itself speaks; English stands in for the others."""


def no_answer_text(reason: NoAnswerReason, language: str, *, wait: float = 0.0) -> str:
    """One polite sentence or two: why there is no answer, and for a limit how many seconds to wait."""
    text = _NO_ANSWER[_spoken(language)][tuple(NoAnswerReason).index(reason)]
    return text.replace("{minutes}", str(max(1, ceil(wait / 60))))


def phrase(which: Phrase, language: str) -> str:
    """A fixed text in the language, or in English."""
    return _PHRASES[_spoken(language)][tuple(Phrase).index(which)]


def _spoken(language: str) -> str:
    return language if language in _NO_ANSWER else FALLBACK
