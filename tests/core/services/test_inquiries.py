"""What a question is made ready to be."""

import pytest

from bot.wiring import ask_as_console
from core.services.inquiries import prepare


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("INC-308", True),
        ("ERR_42?", True),
        ("avans.docx", True),
        ("qm-guest", True),
        ("«v2.1» BUG-7", True),
        ("What is INC-308?", False),
        ("Urlaub", False),
        ("Kündigung.", False),
        ("who is it: me?", False),
        ("?", False),
        ("", False),
    ],
)
def test_names_alone_are_told_from_questions(text: str, is_name: bool) -> None:
    """They ask for their page; a sentence that answers them does not exist."""
    assert prepare(ask_as_console(text)).is_name is is_name
