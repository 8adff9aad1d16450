"""Names that are written exactly are recognised in every usual spelling, and no other is taken for them."""

import pytest

from core.services.identifiers import codes, is_named, spellings


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        ("ERR_42", "see ERR_42."),
        ("ERR42", "see err-42 below"),
        ("err-42", "see ERR 42"),
        ("42", "42-year-old pumps"),
        ("42", "band 42."),
        ("42", "Ticket #42"),
        ("2024", "Q3/2024"),
        ("v2.1", "in version 2.1."),
        ("2.11", "in v2.11, that is"),
        ("db-prod-03", "db-prod-03.example.net"),
        ("AX7731", "part AX-7731/B"),
        ("ISO-27001", "by ISO 27001"),
        ("3.5mm", "a 3.5 mm plug"),
        ("1,000", "over 1000 euros"),
        ("12000", "over 12.000 euros"),
        ("C++", "C++, mostly"),
        ("c#", "written in C# 12"),
        ("#42", "fixed in #42"),
        ("foo::bar", "call foo::bar()"),
        ("E-55", "コードE-55は"),
    ],
)
def test_another_spelling_is_the_same_name(identifier: str, text: str) -> None:
    """Case, signs between letters and digits, thousands and the v of a version make no difference."""
    assert is_named(identifier, text)


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        ("42", "see ERR_42"),
        ("12", "INV-12"),
        ("12", "2026-12-18"),
        ("12", "12.2024"),
        ("20", "20_30"),
        ("20", "10.20.30.40"),
        ("ERR_4", "ERR_42"),
        ("ERR_42", "ERR_421"),
        ("ERR_42", "ERR_4.2"),
        ("v2.1", "v2.10"),
        ("v2.1", "v2.1.3"),
        ("2.1", "12.1"),
        ("11", "v2.11"),
        ("C++", "plain C"),
        ("C#", "C++ and C"),
        ("#42", "#421"),
        ("10.20.30.4", "10.20.30.40"),
        ("GPT-4", "GPT-4o"),
        ("AX-7732", "AX-7731"),
    ],
)
def test_a_name_that_only_looks_alike_is_another(identifier: str, text: str) -> None:
    """What goes on, or differs in one digit, is a different thing."""
    assert not is_named(identifier, text)


def test_spellings_are_few() -> None:
    """Apart and together for a code, with and without v for a version, none for words and addresses."""
    assert spellings("ERR_42") == ("err 42", "err42")
    assert spellings("err42") == ("err 42",)
    assert spellings("v2.11") == ("2.11",)
    assert spellings("2.11") == ("v2.11",)
    assert spellings("user_id") == spellings("c++") == spellings("vacation") == ()
    assert spellings("10.20.30.40.50") == ()
    assert codes(("error", "ERR", "42", "corridor", "7")) == ("err42",)
