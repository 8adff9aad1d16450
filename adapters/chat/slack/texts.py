"""What the Slack adapter says by itself, in the asker's language if it is one of these, else in English."""

import re
from collections.abc import Mapping
from enum import StrEnum


class Text(StrEnum):
    """A fixed text; those with braces are filled by `say`."""

    HOW_TO = "how_to"
    SEARCHING = "searching"
    WRITING = "writing"
    FAILED = "failed"
    GAVE_UP = "gave_up"
    RESTARTING = "restarting"
    NOT_TAKEN = "not_taken"
    NOT_HERE = "not_here"
    GOOD = "good"
    BAD = "bad"
    ASK_EXPERT = "ask_expert"
    EXPERT_CALLED = "expert_called"
    NO_EXPERT = "no_expert"
    SHARE = "share"
    QUESTION_GONE = "question_gone"
    SHARED = "shared"
    NOT_SHARED = "not_shared"
    SHARE_EXPIRED = "share_expired"
    CANNOT_POST = "cannot_post"
    THANKS = "thanks"
    WHY_BAD = "why_bad"
    SEND = "send"
    CANCEL = "cancel"
    KEPT = "kept"
    NOTHING_TO_KEEP = "nothing_to_keep"
    ADMINS_ONLY = "admins_only"
    ALREADY = "already"
    EXPERT_ASKED = "expert_asked"
    YOU_ASKED = "you_asked"


FALLBACK = "en"
_SEPARATOR = re.compile("[-_]")

_TEXTS: Mapping[str, Mapping[Text, str]] = {
    "en": {
        Text.HOW_TO: (
            "Hello! Ask me a question and I answer from our Notion pages, with links to the paragraphs. "
            "For example: “How do I book leave?” In a thread you can simply ask on."
        ),
        Text.SEARCHING: "is looking through the wiki…",
        Text.WRITING: "is writing…",
        Text.FAILED: "Sorry, that did not work just now. Please try again in a minute. (id {id})",
        Text.GAVE_UP: "Sorry, I could not answer this after several attempts. Please ask again. (id {id})",
        Text.RESTARTING: "I am being restarted. The answer follows here as soon as I am back.",
        Text.NOT_TAKEN: (
            "Sorry, I cannot note your question just now. It is brought to me again within minutes; "
            "if I stay silent, please ask again. (id {id})"
        ),
        Text.NOT_HERE: "Sorry, I may not answer questions here.",
        Text.GOOD: "Good answer",
        Text.BAD: "Bad answer",
        Text.ASK_EXPERT: "Ask an expert",
        Text.EXPERT_CALLED: (
            "{expert}, can you help with the question in this thread? When somebody has answered it, choose "
            "“Keep as answer” in that message's menu, and the page's owner gets it as a suggestion."
        ),
        Text.NO_EXPERT: "No expert is configured for this. An administrator can name one (SLACK_EXPERT).",
        Text.SHARE: "Share in channel",
        Text.QUESTION_GONE: "I no longer find the question. Please ask it anew.",
        Text.SHARED: "{person} asked: {question}",
        Text.NOT_SHARED: "This answer rests on pages that not everybody in this channel may see.",
        Text.SHARE_EXPIRED: "I no longer have this answer. Please ask again.",
        Text.CANNOT_POST: "Slack does not let me post there ({code}). Please invite me to the channel.",
        Text.THANKS: "Thank you!",
        Text.WHY_BAD: "What was wrong or missing?",
        Text.SEND: "Send",
        Text.CANCEL: "Cancel",
        Text.KEPT: "Thank you! It is kept as a suggestion for the page's owner.",
        Text.NOTHING_TO_KEEP: "I have not answered a question in this thread, so there is nothing to add to.",
        Text.ADMINS_ONLY: "Sorry, only administrators of this workspace may do that.",
        Text.ALREADY: "This was asked already; the answer is in its thread.",
        Text.EXPERT_ASKED: "Somebody has been asked in this thread already.",
        Text.YOU_ASKED: "You asked",
    },
    "de": {
        Text.HOW_TO: (
            "Hallo! Stell mir eine Frage, und ich antworte aus unseren Notion-Seiten, mit Links zu den "
            "Absätzen. Zum Beispiel: „Wie beantrage ich Urlaub?“ Im Thread kannst du einfach weiterfragen."
        ),
        Text.SEARCHING: "sucht im Wiki …",
        Text.WRITING: "schreibt …",
        Text.FAILED: "Das hat gerade leider nicht geklappt. Bitte versuche es gleich noch einmal. (id {id})",
        Text.GAVE_UP: (
            "Das konnte ich trotz mehrerer Versuche nicht beantworten. Bitte frage noch einmal. (id {id})"
        ),
        Text.RESTARTING: "Ich werde neu gestartet. Die Antwort folgt hier, sobald ich zurück bin.",
        Text.NOT_TAKEN: (
            "Deine Frage kann ich gerade leider nicht annehmen. Sie kommt in wenigen Minuten noch einmal zu "
            "mir; wenn ich still bleibe, frage bitte noch einmal. (id {id})"
        ),
        Text.NOT_HERE: "Hier darf ich leider keine Fragen beantworten.",
        Text.GOOD: "Gute Antwort",
        Text.BAD: "Schlechte Antwort",
        Text.ASK_EXPERT: "Fachleute fragen",
        Text.EXPERT_CALLED: (
            "{expert}, kannst du bei der Frage in diesem Thread helfen? Wenn sie beantwortet ist, wähle im "
            "Menü der Nachricht „Keep as answer“: Sie geht als Vorschlag an die Verantwortlichen der Seite."
        ),
        Text.NO_EXPERT: "Dafür ist niemand hinterlegt. Die Administration kann jemanden eintragen.",
        Text.SHARE: "Im Kanal teilen",
        Text.QUESTION_GONE: "Die Frage finde ich nicht mehr. Bitte stelle sie neu.",
        Text.SHARED: "{person} hat gefragt: {question}",
        Text.NOT_SHARED: "Diese Antwort beruht auf Seiten, die nicht alle in diesem Kanal sehen dürfen.",
        Text.SHARE_EXPIRED: "Diese Antwort habe ich nicht mehr. Bitte frage noch einmal.",
        Text.CANNOT_POST: "Slack lässt mich dort nichts posten ({code}). Bitte lade mich in den Kanal ein.",
        Text.THANKS: "Danke!",
        Text.WHY_BAD: "Was war falsch oder hat gefehlt?",
        Text.SEND: "Senden",
        Text.CANCEL: "Abbrechen",
        Text.KEPT: "Danke! Das geht als Vorschlag an die Verantwortlichen der Seite.",
        Text.NOTHING_TO_KEEP: "In diesem Thread habe ich keine Frage beantwortet.",
        Text.ADMINS_ONLY: "Das dürfen leider nur Administratoren dieses Workspace.",
        Text.ALREADY: "Das wurde schon gefragt; die Antwort steht im Thread.",
        Text.EXPERT_ASKED: "In diesem Thread wurde schon jemand gefragt.",
        Text.YOU_ASKED: "Deine letzten Fragen",
    },
    "ru": {
        Text.HOW_TO: (
            "Здравствуйте! Задайте вопрос, и я отвечу по нашим страницам Notion со ссылками на абзацы. "
            "Например: «Как оформить отпуск?» В треде можно просто спрашивать дальше."
        ),
        Text.SEARCHING: "ищет в вики…",
        Text.WRITING: "пишет…",
        Text.FAILED: "К сожалению, сейчас не получилось. Попробуйте через минуту. (id {id})",
        Text.GAVE_UP: "Не удалось ответить после нескольких попыток. Спросите ещё раз. (id {id})",
        Text.RESTARTING: "Меня перезапускают. Ответ появится здесь, как только я вернусь.",
        Text.NOT_TAKEN: (
            "К сожалению, сейчас я не могу принять вопрос. Он придёт ко мне ещё раз через несколько минут; "
            "если я промолчу, спросите, пожалуйста, снова. (id {id})"
        ),
        Text.NOT_HERE: "К сожалению, здесь я не могу отвечать на вопросы.",
        Text.GOOD: "Хороший ответ",
        Text.BAD: "Плохой ответ",
        Text.ASK_EXPERT: "Спросить эксперта",
        Text.EXPERT_CALLED: (
            "{expert}, поможете с вопросом в этом треде? Когда ответ появится, выберите в меню сообщения "
            "«Keep as answer», и владелец страницы получит его как предложение."
        ),
        Text.NO_EXPERT: "Эксперт не назначен. Администратор может его указать (SLACK_EXPERT).",
        Text.SHARE: "Показать в канале",
        Text.QUESTION_GONE: "Я больше не нахожу этот вопрос. Задайте его заново.",
        Text.SHARED: "{person} спрашивает: {question}",
        Text.NOT_SHARED: "Ответ опирается на страницы, которые в этом канале видны не всем.",
        Text.SHARE_EXPIRED: "Этого ответа у меня больше нет. Спросите, пожалуйста, ещё раз.",
        Text.CANNOT_POST: "Slack не даёт мне писать туда ({code}). Пригласите меня, пожалуйста, в канал.",
        Text.THANKS: "Спасибо!",
        Text.WHY_BAD: "Что было неверно или чего не хватило?",
        Text.SEND: "Отправить",
        Text.CANCEL: "Отмена",
        Text.KEPT: "Спасибо! Владелец страницы получит это как предложение.",
        Text.NOTHING_TO_KEEP: "В этом треде я не отвечал на вопросы.",
        Text.ADMINS_ONLY: "Это могут делать только администраторы этого рабочего пространства.",
        Text.ALREADY: "Это уже спрашивали; ответ в треде.",
        Text.EXPERT_ASKED: "В этом треде уже позвали эксперта.",
        Text.YOU_ASKED: "Вы спрашивали",
    },
}


LANGUAGES = tuple(_TEXTS)


def say(text: Text, language: str, **filled: str) -> str:
    """The text in a language (``de``, ``de-DE``), with its braces filled."""
    spoken = _TEXTS.get(_SEPARATOR.split(language)[0].lower(), _TEXTS[FALLBACK])
    return spoken[text].format(**filled)
