"""What the Discord adapter says by itself, in the asker's language if it is one of these, else in English."""

from collections.abc import Mapping
from enum import StrEnum


class Text(StrEnum):
    """A fixed text; those with braces are filled by `say`."""

    HOW_TO = "how_to"
    FAILED = "failed"
    GAVE_UP = "gave_up"
    RESTARTING = "restarting"
    NOT_HERE = "not_here"
    NOTHING_TO_ANSWER = "nothing_to_answer"
    ASKED = "asked"
    OPEN = "open"
    GOOD = "good"
    BAD = "bad"
    CONTINUE = "continue"
    YOUR_QUESTION = "your_question"
    ASK_EXPERT = "ask_expert"
    EXPERT_CALLED = "expert_called"
    NO_EXPERT = "no_expert"
    THANKS = "thanks"
    WHY_BAD = "why_bad"
    KEPT = "kept"
    NOTHING_TO_KEEP = "nothing_to_keep"
    ADMINS_ONLY = "admins_only"
    EXPERT_WAS_CALLED = "expert_was_called"
    SHARE = "share"
    ASK_AGAIN = "ask_again"


FALLBACK = "en"

_TEXTS: Mapping[str, Mapping[Text, str]] = {
    "en": {
        Text.HOW_TO: (
            "Hello! Ask me a question and I answer from our Notion pages, with links to the paragraphs. "
            "For example: “How do I book leave?” Use `/ask`, mention me, or write to me directly."
        ),
        Text.FAILED: "Sorry, that did not work just now. Please try again in a minute. (id {id})",
        Text.GAVE_UP: "Sorry, I could not answer this after several attempts. Please ask again. (id {id})",
        Text.RESTARTING: "I am being restarted. The answer follows here as soon as I am back.",
        Text.NOT_HERE: "Sorry, I may not answer questions here.",
        Text.NOTHING_TO_ANSWER: "There is no text in that message that I could answer.",
        Text.ASKED: "asked",
        Text.OPEN: "Open",
        Text.GOOD: "Good answer",
        Text.BAD: "Bad answer",
        Text.CONTINUE: "Continue",
        Text.YOUR_QUESTION: "Your next question",
        Text.ASK_EXPERT: "Ask an expert",
        Text.EXPERT_CALLED: (
            "{expert}, can you help with the question above? When somebody has answered it, choose Apps › "
            "“Keep as answer” in that message's menu, and the page's owner gets it as a suggestion."
        ),
        Text.NO_EXPERT: "No expert is configured for this. An administrator can name one (DISCORD_EXPERT).",
        Text.THANKS: "Thank you!",
        Text.WHY_BAD: "What was wrong or missing?",
        Text.KEPT: "Thank you! It is kept as a suggestion for the page's owner.",
        Text.NOTHING_TO_KEEP: (
            "I know of no question that this answers. Choose it on a reply to my answer, or in its thread."
        ),
        Text.ADMINS_ONLY: "Sorry, only administrators of this server may do that.",
        Text.EXPERT_WAS_CALLED: "Somebody has been asked about this already.",
        Text.SHARE: "Answer for everybody",
        Text.ASK_AGAIN: "I do not have the whole question any more. Please ask it again with `/ask`.",
    },
    "de": {
        Text.HOW_TO: (
            "Hallo! Stell mir eine Frage, und ich antworte aus unseren Notion-Seiten, mit Links zu den "
            "Absätzen. Zum Beispiel: „Wie beantrage ich Urlaub?“ Nimm `/ask`, erwähne mich oder schreib mir."
        ),
        Text.FAILED: "Das hat gerade leider nicht geklappt. Bitte versuche es gleich noch einmal. (id {id})",
        Text.GAVE_UP: (
            "Das konnte ich trotz mehrerer Versuche nicht beantworten. Bitte frage noch einmal. (id {id})"
        ),
        Text.RESTARTING: "Ich werde neu gestartet. Die Antwort folgt hier, sobald ich zurück bin.",
        Text.NOT_HERE: "Hier darf ich leider keine Fragen beantworten.",
        Text.NOTHING_TO_ANSWER: "In dieser Nachricht steht kein Text, auf den ich antworten könnte.",
        Text.ASKED: "fragt",
        Text.OPEN: "Öffnen",
        Text.GOOD: "Gute Antwort",
        Text.BAD: "Schlechte Antwort",
        Text.CONTINUE: "Weiterfragen",
        Text.YOUR_QUESTION: "Deine nächste Frage",
        Text.ASK_EXPERT: "Fachleute fragen",
        Text.EXPERT_CALLED: (
            "{expert}, kannst du bei der Frage oben helfen? Wenn sie beantwortet ist, wähle im Menü der "
            "Nachricht Apps › „Keep as answer“: Sie geht als Vorschlag an die Verantwortlichen der Seite."
        ),
        Text.NO_EXPERT: "Dafür ist niemand hinterlegt. Die Administration kann jemanden eintragen.",
        Text.THANKS: "Danke!",
        Text.WHY_BAD: "Was war falsch oder hat gefehlt?",
        Text.KEPT: "Danke! Das geht als Vorschlag an die Verantwortlichen der Seite.",
        Text.NOTHING_TO_KEEP: "Ich kenne keine Frage an mich, die das beantwortet.",
        Text.ADMINS_ONLY: "Das dürfen leider nur Administratoren dieses Servers.",
        Text.EXPERT_WAS_CALLED: "Dazu wurde schon jemand gefragt.",
        Text.SHARE: "Für alle antworten",
        Text.ASK_AGAIN: "Ich habe die ganze Frage nicht mehr. Bitte stelle sie noch einmal mit `/ask`.",
    },
    "ru": {
        Text.HOW_TO: (
            "Здравствуйте! Задайте вопрос, и я отвечу по нашим страницам Notion со ссылками на абзацы. "
            "Например: «Как оформить отпуск?» Команда `/ask`, упоминание или личное сообщение."
        ),
        Text.FAILED: "К сожалению, сейчас не получилось. Попробуйте через минуту. (id {id})",
        Text.GAVE_UP: "Не удалось ответить после нескольких попыток. Спросите ещё раз. (id {id})",
        Text.RESTARTING: "Меня перезапускают. Ответ появится здесь, как только я вернусь.",
        Text.NOT_HERE: "К сожалению, здесь я не могу отвечать на вопросы.",
        Text.NOTHING_TO_ANSWER: "В этом сообщении нет текста, на который я мог бы ответить.",
        Text.ASKED: "спрашивает",
        Text.OPEN: "Открыть",
        Text.GOOD: "Хороший ответ",
        Text.BAD: "Плохой ответ",
        Text.CONTINUE: "Спросить ещё",
        Text.YOUR_QUESTION: "Ваш следующий вопрос",
        Text.ASK_EXPERT: "Спросить эксперта",
        Text.EXPERT_CALLED: (
            "{expert}, поможете с вопросом выше? Когда ответ появится, выберите в меню сообщения "
            "«Приложения» › «Keep as answer», и владелец страницы получит его как предложение."
        ),
        Text.NO_EXPERT: "Эксперт не назначен. Администратор может его указать (DISCORD_EXPERT).",
        Text.THANKS: "Спасибо!",
        Text.WHY_BAD: "Что было неверно или чего не хватило?",
        Text.KEPT: "Спасибо! Владелец страницы получит это как предложение.",
        Text.NOTHING_TO_KEEP: "Я не знаю вопроса ко мне, на который это отвечает.",
        Text.ADMINS_ONLY: "Это могут делать только администраторы этого сервера.",
        Text.EXPERT_WAS_CALLED: "Об этом уже спросили.",
        Text.SHARE: "Ответить для всех",
        Text.ASK_AGAIN: "Полного вопроса у меня больше нет. Задайте его ещё раз через `/ask`.",
    },
}


def say(text: Text, language: str, **filled: str) -> str:
    """The text in a language (``de``, ``de-DE``), with its braces filled."""
    spoken = _TEXTS.get(language.split("-", maxsplit=1)[0].lower(), _TEXTS[FALLBACK])
    return spoken[text].format(**filled)
