"""Questions as people ask them at work, about nothing in particular: what all questions share for a model."""

from collections.abc import Mapping, Sequence

TYPICAL_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "How do I request access?",
        "Who is responsible for this?",
        "What is the deadline?",
        "How many people are on the team?",
        "Where can I find the document?",
        "When does it start?",
        "Why did this fail?",
        "How much does it cost?",
        "What does this term mean?",
        "Which version do we use?",
        "Can I change this myself?",
        "What happens if I am late?",
        "Who do I contact about problems?",
        "How long does it take?",
        "What are the steps to set it up?",
        "Is it allowed to share this with customers?",
        "What is the difference between the two?",
        "Which one should I choose?",
        "What was decided last year?",
        "How often is it updated?",
        "Do I need an approval?",
        "Where is the office located?",
        "What is the name of the person in charge?",
        "How can I report an error?",
    ),
    "de": (
        "Wie beantrage ich einen Zugang?",
        "Wer ist dafür zuständig?",
        "Bis wann ist die Frist?",
        "Wie viele Leute sind im Team?",
        "Wo finde ich das Dokument?",
        "Wann beginnt es?",
        "Warum ist das fehlgeschlagen?",
        "Wie viel kostet das?",
        "Was bedeutet dieser Begriff?",
        "Welche Version verwenden wir?",
        "Kann ich das selbst ändern?",
        "Was passiert, wenn ich zu spät komme?",
        "An wen wende ich mich bei Problemen?",
        "Wie lange dauert das?",
        "Welche Schritte sind zum Einrichten nötig?",
        "Darf man das mit Kunden teilen?",
        "Was ist der Unterschied zwischen den beiden?",
        "Welches soll ich wählen?",
        "Was wurde letztes Jahr beschlossen?",
        "Wie oft wird das aktualisiert?",
        "Brauche ich eine Genehmigung?",
        "Wo befindet sich das Büro?",
        "Wie heißt die verantwortliche Person?",
        "Wie kann ich einen Fehler melden?",
    ),
    "ru": (
        "Как запросить доступ?",
        "Кто за это отвечает?",
        "Какой крайний срок?",
        "Сколько человек в команде?",
        "Где найти документ?",
        "Когда это начинается?",
        "Почему это не сработало?",
        "Сколько это стоит?",
        "Что означает этот термин?",
        "Какую версию мы используем?",
        "Могу ли я изменить это сам?",
        "Что будет, если я опоздаю?",
        "К кому обращаться при проблемах?",
        "Сколько времени это занимает?",
        "Какие шаги нужны для настройки?",
        "Можно ли делиться этим с клиентами?",
        "В чём разница между ними?",
        "Какой вариант выбрать?",
        "Что было решено в прошлом году?",
        "Как часто это обновляется?",
        "Нужно ли согласование?",
        "Где находится офис?",
        "Как зовут ответственного?",
        "Как сообщить об ошибке?",
    ),
    "fr": (
        "Comment demander un accès ?",
        "Qui est responsable de cela ?",
        "Quelle est la date limite ?",
        "Combien de personnes y a-t-il dans l'équipe ?",
        "Où puis-je trouver le document ?",
        "Quand est-ce que cela commence ?",
        "Combien cela coûte-t-il ?",
        "Que signifie ce terme ?",
        "Quelle version utilisons-nous ?",
        "Puis-je le modifier moi-même ?",
        "Combien de temps cela prend-il ?",
        "Pourquoi cela a-t-il échoué ?",
    ),
    "es": (
        "¿Cómo solicito acceso?",
        "¿Quién es responsable de esto?",
        "¿Cuál es la fecha límite?",
        "¿Cuántas personas hay en el equipo?",
        "¿Dónde encuentro el documento?",
        "¿Cuándo empieza?",
        "¿Cuánto cuesta?",
        "¿Qué significa este término?",
        "¿Qué versión usamos?",
        "¿Puedo cambiarlo yo mismo?",
        "¿Cuánto tiempo tarda?",
        "¿Por qué ha fallado esto?",
    ),
    "it": (
        "Come richiedo l'accesso?",
        "Chi è responsabile di questo?",
        "Qual è la scadenza?",
        "Quante persone ci sono nel team?",
        "Dove trovo il documento?",
        "Quando inizia?",
        "Quanto costa?",
        "Che cosa significa questo termine?",
        "Quale versione usiamo?",
        "Posso modificarlo da solo?",
        "Quanto tempo ci vuole?",
        "Perché non ha funzionato?",
    ),
    "pt": (
        "Como peço acesso?",
        "Quem é responsável por isto?",
        "Qual é o prazo?",
        "Quantas pessoas há na equipe?",
        "Onde encontro o documento?",
        "Quando começa?",
        "Quanto custa?",
        "O que significa este termo?",
        "Qual versão usamos?",
        "Posso alterar isso sozinho?",
        "Quanto tempo demora?",
        "Por que isto falhou?",
    ),
    "nl": (
        "Hoe vraag ik toegang aan?",
        "Wie is hiervoor verantwoordelijk?",
        "Wat is de deadline?",
        "Hoeveel mensen zitten er in het team?",
        "Waar vind ik het document?",
        "Wanneer begint het?",
        "Hoeveel kost het?",
        "Wat betekent deze term?",
        "Welke versie gebruiken we?",
        "Kan ik dit zelf wijzigen?",
        "Hoe lang duurt het?",
        "Waarom is dit mislukt?",
    ),
    "pl": (
        "Jak poprosić o dostęp?",
        "Kto jest za to odpowiedzialny?",
        "Jaki jest termin?",
        "Ile osób jest w zespole?",
        "Gdzie znajdę dokument?",
        "Kiedy to się zaczyna?",
        "Ile to kosztuje?",
        "Co oznacza ten termin?",
        "Jakiej wersji używamy?",
        "Czy mogę to sam zmienić?",
        "Jak długo to trwa?",
        "Dlaczego to się nie udało?",
    ),
    "uk": (
        "Як запросити доступ?",
        "Хто за це відповідає?",
        "Який крайній термін?",
        "Скільки людей у команді?",
        "Де знайти документ?",
        "Коли це починається?",
        "Скільки це коштує?",
        "Що означає цей термін?",
        "Яку версію ми використовуємо?",
        "Чи можу я змінити це сам?",
        "Скільки часу це займає?",
        "Чому це не спрацювало?",
    ),
}
"""By language (ISO 639-1). None names a company, a product or a person; they cover the ways of asking.

Their mean vector is what all questions of a language have in common for a model, their best cosines against
an index are what chance alone gives. Languages that are missing use all of these together.
"""


TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "en": ("What is {}?", "How does {} work?", "Who is responsible for {}?", "When was {}?", "Where is {}?"),
    "de": ("Was ist {}?", "Wie funktioniert {}?", "Wer ist für {} zuständig?", "Wann war {}?", "Wo ist {}?"),
    "ru": ("Что такое {}?", "Как работает {}?", "Кто отвечает за {}?", "Когда было {}?", "Где находится {}?"),
    "fr": ("Qu'est-ce que {} ?", "Comment fonctionne {} ?", "Qui est responsable de {} ?", "Où est {} ?"),
    "es": ("¿Qué es {}?", "¿Cómo funciona {}?", "¿Quién es responsable de {}?", "¿Dónde está {}?"),
    "it": ("Che cos'è {}?", "Come funziona {}?", "Chi è responsabile di {}?", "Dove si trova {}?"),
    "pt": ("O que é {}?", "Como funciona {}?", "Quem é responsável por {}?", "Onde fica {}?"),
    "nl": ("Wat is {}?", "Hoe werkt {}?", "Wie is verantwoordelijk voor {}?", "Waar is {}?"),
    "pl": ("Co to jest {}?", "Jak działa {}?", "Kto odpowiada za {}?", "Gdzie jest {}?"),
    "uk": ("Що таке {}?", "Як працює {}?", "Хто відповідає за {}?", "Де знаходиться {}?"),
}
"""Questions about whatever is put in their place, by language."""

MOST_TITLES = 48
"""Titles asked about at most: their mean hardly moves with more, each costs an embedding."""


def typical_questions(language: str) -> tuple[str, ...]:
    """The questions of a language; of all languages together where it has none of its own."""
    known = TYPICAL_QUESTIONS.get(language)
    return known or tuple(question for one in TYPICAL_QUESTIONS.values() for question in one)


def questions_about(titles: Sequence[str], language: str) -> tuple[str, ...]:
    """Questions in one language about an index's own titles, whatever language those are in.

    At most `MOST_TITLES` titles, evenly spaced; none for a language without templates.
    """
    templates = TEMPLATES.get(language)
    named = [title for title in dict.fromkeys(title.strip() for title in titles) if title]
    if not templates or not named:
        return ()
    step = max(1, -(-len(named) // MOST_TITLES))
    chosen = named[::step]
    # Titles hold braces now and then, so nothing is formatted.
    return tuple(templates[at % len(templates)].replace("{}", title) for at, title in enumerate(chosen))
