"""The reader that comes with the built-in model tells answers from near misses, and says what it lacks."""

from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from adapters.readers.e5_reader import LEARNED, E5Reader
from adapters.readers.inputs import LONGEST
from core.errors import ConfigurationError, UnavailableError
from core.ports.reading import Writing

VPN = Writing("VPN > Windows", "Install FortiClient 7.2 from the portal. Gateway: vpn3.nordwind.example.")
PARKING = Writing("Parkhaus", "Die Schranke öffnet von 6 bis 22 Uhr. Den Chip gibt Frau Albers aus.")
VISITORS = Writing("Гости", "Гостя встречают на первом этаже. Пропуск **выдаёт охрана** по паспорту.")

ANSWERED = (
    ("Which client do I need for the VPN?", VPN, "FortiClient 7.2"),
    ("Welche Adresse hat das VPN-Gateway?", VPN, "vpn3.nordwind.example"),
    ("Wann geht die Schranke auf?", PARKING, "6 bis 22 Uhr"),
    ("У кого получить чип для парковки?", PARKING, "Frau Albers"),
    ("Кто выдаёт пропуск гостю?", VISITORS, "охрана"),
    ("Where are guests picked up?", VISITORS, "на первом этаже"),
)
NEAR = (
    ("Which client do I need for the VPN on Android?", VPN),
    ("How much does a VPN licence cost?", VPN),
    ("Was kostet ein Stellplatz im Monat?", PARKING),
    ("Сколько этажей в паркинге?", PARKING),
    ("Сколько гостей можно пригласить за раз?", VISITORS),
    ("What is the guest wifi password?", VISITORS),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[E5Reader]:
    """The installed one, loaded once."""
    async with E5Reader() as one:
        yield one


async def odds(reader: E5Reader, question: str, writing: Writing) -> float:
    """Of one passage."""
    (reading,) = await reader.read(question, [writing])
    return reading.odds


@pytest.mark.asyncio(loop_scope="module")
async def test_answers_have_higher_odds_than_near_misses(reader: E5Reader) -> None:
    """In three languages and across them, hardly any pair the wrong way round."""
    answered = [await odds(reader, question, writing) for question, writing, _ in ANSWERED]
    near = [await odds(reader, question, writing) for question, writing in NEAR]
    assert np.mean([[one > other for other in near] for one in answered]) > 0.9


@pytest.mark.asyncio(loop_scope="module")
async def test_it_points_at_the_answer(reader: E5Reader) -> None:
    """By characters of the text as it was given: in five of six cases what is pointed at has the answer."""
    right = 0
    for question, writing, answer in ANSWERED:
        (reading,) = await reader.read(question, [writing])
        pointed = writing.text[reading.start : reading.end]
        right += answer in pointed or (len(pointed) > 3 and pointed in answer)
    assert right >= len(ANSWERED) - 1


@pytest.mark.asyncio(loop_scope="module")
async def test_each_passage_is_read_for_itself(reader: E5Reader) -> None:
    """What else is read at once makes no difference, and the order is kept."""
    question = "Welche Adresse hat das VPN-Gateway?"
    together = await reader.read(question, [PARKING, VPN, VISITORS])
    alone = [await odds(reader, question, one) for one in (PARKING, VPN, VISITORS)]
    assert [one.odds for one in together] == pytest.approx(alone, abs=1e-3)
    assert max(alone) == alone[1]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("question", "writing"),
    [
        ("", Writing("", "")),
        ("?" * 2000, Writing("T" * 2000, "word " * 4 * LONGEST)),
        ("Wo\x00?\ud800", Writing("A\nB", "\x00\u200f ")),
    ],
    ids=["empty", "too long", "strange"],
)
async def test_any_text_is_read(reader: E5Reader, question: str, writing: Writing) -> None:
    """What is too long loses its end; nothing makes it fail."""
    (reading,) = await reader.read(question, [writing])
    assert np.isfinite(reading.odds)
    assert 0 <= reading.start <= reading.end <= len(writing.text)


async def test_nothing_is_read_of_nothing() -> None:
    """And nothing is loaded."""
    async with E5Reader(model=Path("none.bin")) as reader:
        assert await reader.read("Who?", ()) == ()


async def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """The model's file, or what was learned."""
    async with E5Reader(model=tmp_path / "none.bin") as reader:
        with pytest.raises(ConfigurationError, match=r"cannot read the model in .*none\.bin"):
            await reader.read("Who?", [VPN])
    (tmp_path / LEARNED).write_bytes(b"no arrays")
    async with E5Reader(learned=tmp_path / LEARNED) as reader:
        with pytest.raises(ConfigurationError, match=f"cannot read .*{LEARNED}"):
            await reader.read("Who?", [VPN])


@pytest.fixture(params=["no head", "half a file"])
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What was learned, without the part that tells, or cut off."""
    file = tmp_path / LEARNED
    if request.param == "no head":
        np.savez(file, nothing=np.zeros(3))
    else:
        whole = (files("adapters.readers") / LEARNED).read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
    return file


async def test_damaged_files_are_named(damaged: Path) -> None:
    """A user's error with the file's name, not ours."""
    async with E5Reader(learned=damaged) as reader:
        with pytest.raises(ConfigurationError, match=f"cannot read .*{LEARNED}"):
            await reader.read("Who?", [VPN])


async def test_a_closed_reader_is_unavailable() -> None:
    """Whoever asks goes on without it."""
    reader = E5Reader()
    reader.close()
    with pytest.raises(UnavailableError, match="closed"):
        await reader.read("Who?", [VPN])
