"""Hello and thanks are no questions; everything that could be one is."""

import pytest

from core.domain.smalltalk import asks_nothing


@pytest.mark.parametrize(
    "text",
    [
        *(
            "hi",
            "Hello!",
            "hey there 👋",
            "Good morning everyone",
            "thanks a lot!",
            "ok, great",
            "help",
            "Help?",
        ),
        *("Hallo", "Vielen Dank!", "guten Tag", "danke dir", "alles klar", "Добрый день!", "спасибо большое"),
        *("Merci beaucoup", "muchas gracias", "cześć", "谢谢", "", " ?! ", "👍", "___"),
    ],
)
def test_greetings_and_thanks_ask_nothing(text: str) -> None:
    """In whatever language people say them, with whatever stands around."""
    assert asks_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Thanks, and the gym?",
            "vacation",
            "VPN",
            "ERR_42",
            "good",
            "the team",
            "Wer sagt danke?",
            "help desk",
        ),
        *(
            "Help with the VPN",
            "ok google",
            "hi hi hi hi hi hi hi",
            "Guten Morgen, wo parke ich?",
            "请假",
            "42",
        ),
    ],
)
def test_whatever_might_be_a_question_is_one(text: str) -> None:
    """A single word of content is enough."""
    assert not asks_nothing(text)
