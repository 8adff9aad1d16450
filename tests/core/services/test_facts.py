"""Facts of texts, and that two spellings of one fact are equal."""

import pytest

from core.services.facts import Clock, Date, Literal, facts_of
from core.services.quantities import Number
from core.services.said import said_by


def holds(statement: str, source: str, languages: str = "en en") -> bool:
    """Whether every fact of the statement is in the source; ``languages`` are theirs, by a blank."""
    spoken, written = languages.split()
    said = said_by(source, facts_of(source, (written, spoken), is_source=True))
    return all(said.holds(fact) for fact in facts_of(statement, (spoken,)))


@pytest.mark.parametrize(
    ("statement", "source", "languages"),
    [
        ("It costs 1,200 euros.", "Es kostet 1.200 Euro.", "en de"),
        ("It costs €4,900.", "4900 euros", "en en"),
        ("Es kostet 4.900 €.", "It costs 4,900 euros.", "de en"),
        ("Стоит 3500 тенге.", "3 500 тенге", "ru ru"),
        ("38.5 hours", "38,5 Stunden", "en de"),
        ("The fee is 1.2 million.", "1,2 Millionen", "en de"),
        ("32 Cent pro kWh", "0,32 Euro je kWh", "de de"),
        ("on 3 May", "am 3. Mai", "en de"),
        ("on May 3rd", "03.05.2026", "en de"),
        ("am 3. Mai", "2026-05-03", "de en"),
        ("3 мая", "May 3, 2026", "ru en"),
        ("3 de mayo de 2026", "2026-05-03", "es en"),
        ("le 3 mai", "3. Mai", "fr de"),
        ("between 3 and 7 May", "from 3 to 7 May", "en en"),
        ("within two hours", "innerhalb von 2 Stunden", "en de"),
        ("within 120 minutes", "within two hours", "en en"),
        ("в течение двух часов", "within 2 hours", "ru en"),
        ("en deux heures", "in 2 hours", "fr en"),
        ("twenty-five days", "25 Tage", "en de"),
        ("a three-day week", "3 days a week", "en en"),
        ("half an hour", "30 minutes", "en en"),
        ("nach einer halben Stunde", "after 30 minutes", "de en"),
        ("за полчаса", "in 30 minutes", "ru en"),
        ("within three days", "72 hours", "en en"),
        ("six weeks", "42 Tage", "en de"),
        ("zwei Jahre", "24 months", "de en"),
        ("das 20-Fache", "das Zwanzigfache", "de de"),
        ("ab dem 4. Kalendertag", "from the fourth calendar day", "de en"),
        ("by 9 a.m.", "ab 09:00", "en de"),
        ("at 3 pm", "um 15 Uhr", "en de"),
        ("von 8 bis 18 Uhr", "08:00 to 18:00", "de en"),
        ("every Tuesday", "jeden Dienstag", "en de"),
        ("dienstags", "on Tuesdays", "de en"),
        ("по вторникам", "Tuesdays", "ru en"),
        ("im Januar", "в январе", "de ru"),
        ("20 percent", "20 %", "en en"),
        ("20 процентов", "20%", "ru en"),
        ("16 GB of memory", "16 gigabytes", "en en"),
        ("8 newton metres", "8 Newtonmeter", "en de"),
        ("Send SEV-1 to ops@example.org.", "SEV-1 goes to ops@example.org", "en en"),
        ("version 4.5.2.", "Текущая версия 4.5.2, следующая 4.6", "en ru"),
        ("Run `shipit scale`.", "Run `shipit scale` now", "en en"),
        ("One of the two may go.", "Both may go: one, then the second.", "en en"),
        ("a second opinion", "another opinion", "en en"),
    ],
)  # fmt: skip  # a table
def test_one_fact_in_two_spellings(statement: str, source: str, languages: str) -> None:
    """Numbers, dates, times, units and names of days are equal in every language's spelling."""
    assert holds(statement, source, languages)


@pytest.mark.parametrize(
    ("statement", "source", "languages"),
    [
        ("28 days", "30 days", "en en"),
        ("1,200 euros", "1,300 euros", "en en"),
        ("1.200 Euro", "1,2 Euro", "de de"),
        ("30 days", "30 minutes", "en en"),
        ("20 euros", "20 %", "en en"),
        ("20 euros", "20 tenge", "en en"),
        ("on 19 March", "on 9 March", "en en"),
        ("on 3 May", "on 5 March", "en en"),
        ("9 March 2027", "9 March 2026", "en en"),
        ("vier Stunden", "zwei Stunden", "de de"),
        ("четыре часа", "два часа", "ru ru"),
        ("at 9 a.m.", "at 21:00", "en en"),
        ("on Monday", "on Tuesday", "en en"),
        ("в январе", "в феврале", "ru ru"),
        ("ERR_77", "ERR_78", "en en"),
        ("at a@example.org", "at b@example.org", "en en"),
        ("see https://a.example/x", "see https://a.example/y", "en en"),
        ("run `rm -rf`", "run `ls`", "en en"),
    ],
)  # fmt: skip  # a table
def test_different_facts_are_told_apart(statement: str, source: str, languages: str) -> None:
    """A changed number, unit, currency, date, time, identifier or address is seen."""
    assert not holds(statement, source, languages)


def test_facts_are_of_their_kinds() -> None:
    """What is read out of one sentence."""
    kinds = {type(fact) for fact in facts_of("On 3 May at 09:30 pay 4 euros for BX-3.", ("en",))}
    assert kinds == {Date, Clock, Number, Literal}


@pytest.mark.parametrize("text", ["You may go for a march.", "One of us goes first.", "", "¿?"])
def test_plain_words_are_no_facts(text: str) -> None:
    """Articles, orders and verbs that look like months claim nothing."""
    assert facts_of(text, ("en",)) == ()
