"""Whether a source states a fact, however it spells it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from core.services.facts import Clock, Date, Fact, Literal, Named, squeezed
from core.services.locale_words import Unit
from core.services.quantities import Number

HOUR = 60


@dataclass(frozen=True, slots=True)
class Said:
    """The facts of a source, ready to be asked for; ``text`` is its letters and digits alone."""

    numbers: tuple[Number, ...] = ()
    dates: tuple[Date, ...] = ()
    clocks: frozenset[int] = frozenset()
    named: frozenset[tuple[str, int]] = frozenset()
    literals: frozenset[str] = frozenset()
    text: str = ""

    def holds(self, fact: Fact) -> bool:
        """Whether the source says so."""
        match fact:
            case Number():
                return self._has_number(fact)
            case Date():
                return self._has_date(fact)
            case Clock():
                return self._has_clock(fact)
            case Named():
                return (fact.kind, fact.number) in self.named
            case Literal():
                return self._has_literal(fact)
            case _:
                assert_never(fact)

    def _has_number(self, fact: Number) -> bool:
        if any(_same(fact, other) for other in self.numbers):
            return True
        may_be_hours = fact.unit is None or fact.unit.base == "time"
        if may_be_hours and any(Decimal(minutes) / HOUR in fact.readings for minutes in self.clocks):
            return True
        return fact.unit is None and f"v{squeezed(fact.text)}" in self.literals

    def _has_date(self, fact: Date) -> bool:
        for date in self.dates:
            if fact.days & date.days and (fact.year is None or date.year is None or fact.year == date.year):
                return True
        # "from 3 to 7 May" names 3 May without a word for it.
        return any(("month", month) in self.named and self._has_bare(day) for month, day in fact.days) and (
            fact.year is None or self._has_bare(fact.year)
        )

    def _has_bare(self, number: int) -> bool:
        return any(Decimal(number) in other.readings and other.unit is None for other in self.numbers)

    def _has_clock(self, fact: Clock) -> bool:
        if fact.minutes in self.clocks:
            return True
        hour = Decimal(fact.minutes) / HOUR
        return any(
            hour in other.readings and (other.unit is None or other.unit.base == "time")
            for other in self.numbers
        )

    def _has_literal(self, fact: Literal) -> bool:
        return fact.key in self.literals or (len(fact.key) > 3 and fact.key in self.text)  # noqa: PLR2004 - shorter ones stand in any text


def said_by(text: str, facts: Iterable[Fact]) -> Said:
    """What a source says, from its text and its facts."""
    facts = tuple(facts)
    numbers = [one for one in facts if isinstance(one, Number)]
    dates = [one for one in facts if isinstance(one, Date)]
    named = {(one.kind, one.number) for one in facts if isinstance(one, Named)}
    for date in dates:
        named |= {("month", month) for month, _day in date.days}
        numbers += [Number(date.text, frozenset((Decimal(day),))) for _month, day in date.days]
        if date.year is not None:
            numbers.append(Number(date.text, frozenset((Decimal(date.year),))))
    return Said(
        numbers=tuple(numbers),
        dates=tuple(dates),
        clocks=frozenset(one.minutes for one in facts if isinstance(one, Clock)),
        named=frozenset(named),
        literals=frozenset(one.key for one in facts if isinstance(one, Literal)),
        text=squeezed(text),
    )


def _same(fact: Number, other: Number) -> bool:
    if fact.unit is None or other.unit is None:
        return bool(fact.readings & other.readings)
    if not _comparable(fact.unit, other.unit):
        return False
    mine = {value * fact.unit.factor for value in fact.readings}
    theirs = {value * other.unit.factor for value in other.readings}
    return bool(mine & theirs)


def _comparable(first: Unit, second: Unit) -> bool:
    if first.base == second.base:
        return True
    bases = {first.base.partition(":")[0], second.base.partition(":")[0]}
    return bases == {"money"} and "money" in (first.base, second.base)
