"""Masking what should not be kept."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.documents import Block, BlockKind, Page, walk
from core.services.scrubbing import EVERYTHING_SENSITIVE, SensitiveKind, scrubbed, scrubbed_page
from tests.builders_store import a_ref

K = SensitiveKind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to jane.doe+x@mail.example.co.uk.", "Write to [email]."),
        ("[Mail](mailto:a.b@example.com)", "[Mail](mailto:[email])"),
        ("Почта: иван@пример.рф", "Почта: [email]"),
        ("anna (at) example.com oder bob [ät] firma [punkt] de", "[email] oder [email]"),
        ("иван (собака) пример (точка) рф", "[email]"),
        ("Card 4111.1111.1111.1111", "Card [card]"),
        ("４１１１ １１１１ １１１１ １１１１", "[card]"),
        ("паспорт 45 10 123456", "паспорт [national id]"),
        ("Паспорт: 4510 № 123456", "Паспорт: [national id]"),
        ("Personalausweisnummer: L01X00T471", "Personalausweisnummer: [national id]"),
        ("Sozialversicherungsnummer 65 180539 W 012", "Sozialversicherungsnummer [national id]"),
        ("Passport no. 533380006", "Passport no. [national id]"),
        ("hf_" + "aB" * 16, "[secret]"),
        ("Call +49 30 901820 now", "Call [phone] now"),
        ("Ruf 0171 1234567 an", "Ruf [phone] an"),
        ("US (212) 736-5000", "US [phone]"),
        ("UK 020 7946 0018", "UK [phone]"),
        ("Звоните 8 (495) 123-45-67", "Звоните [phone]"),
        ("IBAN DE89 3704 0044 0532 0130 00 bitte", "IBAN [iban] bitte"),
        ("de89370400440532013000", "[iban]"),
        ("GB82 WEST 1234 5698 7654 32, thanks", "[iban], thanks"),
        ("Card 4111 1111 1111 1111.", "Card [card]."),
        ("5500000000000004 or 3782 822463 10005", "[card] or [card]"),
        ("Steuer-ID 36 574 261 809", "Steuer-ID [national id]"),
        ("SSN 536-90-4399", "SSN [national id]"),
        ("СНИЛС 112-233-445 95", "СНИЛС [national id]"),
        ("ИНН 500100732259", "ИНН [national id]"),
        ("NINO AB 12 34 56 C", "NINO [national id]"),
        ("NHS 943 476 5870", "NHS [national id]"),
        ("PESEL 44051401359", "PESEL [national id]"),
        ("DNI 54362315K", "DNI [national id]"),
        ("AHV 756.9217.0769.85", "AHV [national id]"),
        ("token xoxb-" + "123456789012-abcdefABCDEF", "token [secret]"),
        ("ghp_" + "a1B2" * 9, "[secret]"),
        ("key AKIA" + "ABCDEFGHIJKLMNOP", "key [secret]"),
        ("ntn_" + "x1" * 23, "[secret]"),
        ("Passwort: hunter2hunter2", "Passwort: [secret]"),
        ('api_key = "abcd1234efgh"', "api_key = [secret]"),
        ("postgres://bot:s3cretpw@db/x", "postgres://bot:[secret]@db/x"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [secret]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nmore",
            "[secret]\nmore",
        ),
    ],
)
def test_a19_what_is_sensitive_is_masked(text: str, expected: str) -> None:
    """Each kind in the ways people write it, in several languages; what stands around it stays."""
    assert scrubbed(text, EVERYTHING_SENSITIVE) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Order 4111 1111 1111 1112 of 2024-05-01",
        "IBAN DE89 3704 0044 0532 0130 01",
        "Version 10.15.7 on 192.168.10.20, port 8080",
        "1.000.000 EUR, 3.14159265, 12,345,678 users",
        "2024-05-01 to 2024-06-30, 08:00-17:30",
        "Steuer-ID 36 574 261 808",
        "SSN 000-12-3456",
        "СНИЛС 112-233-445 96",
        "see https://www.notion.so/team/Page-44051401359444444444444444444444#5500000000000004",
        "[Setup](page:44051401-3594-4444-8444-550000000004)",
        "@channel and me@localhost",
        "The token is kept in the vault; the password policy is new.",
        "Room 4.11, building 20, floor 7",
    ],
)
def test_a19_what_only_looks_alike_stays(text: str) -> None:
    """Check digits and numbering plans tell numbers of people from all other numbers; links stay whole."""
    assert scrubbed(text, EVERYTHING_SENSITIVE) == text


@pytest.mark.parametrize("kind", list(SensitiveKind))
def test_a19_only_what_the_rules_name_is_masked(kind: SensitiveKind) -> None:
    """With the mask of one kind off, that kind is untouched and the others are masked."""
    text = (
        "a@example.com, +49 30 901820, DE89370400440532013000, 4111111111111111, 536-90-4399, "
        f"{'ghp_' + 'a1B2' * 9}"
    )

    masked = scrubbed(text, EVERYTHING_SENSITIVE - {kind})

    name = f"[{kind.value.replace('_', ' ')}]"
    assert name in scrubbed(text, {kind})
    assert name not in masked
    assert masked.count("[") == len(SensitiveKind) - 1
    assert scrubbed(text, frozenset()) == text


@given(st.text(max_size=200))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    """What was masked holds nothing that would be masked again."""
    once = scrubbed(text, EVERYTHING_SENSITIVE)

    assert scrubbed(once, EVERYTHING_SENSITIVE) == once


def test_a_page_is_masked_in_title_properties_and_every_block() -> None:
    """However deep a block lies; ids, kinds and order stay as they were."""
    block = Block(BlockKind.PARAGRAPH, "deep@example.com")
    for _ in range(1500):
        block = Block(BlockKind.LIST_ITEM, "- level", children=(block,))
    ref = a_ref(1, title="Mail a@example.com", properties=(("Owner", "b@example.com"),))
    page = Page(ref=ref, blocks=(block, Block(BlockKind.CODE, "c@example.com")))

    masked = scrubbed_page(page, {K.EMAIL})

    assert masked.ref == replace(ref, title="Mail [email]", properties=(("Owner", "[email]"),))
    texts = [one.text for one, _ in walk(masked.blocks)]
    assert texts == ["- level"] * 1500 + ["[email]", "[email]"]
