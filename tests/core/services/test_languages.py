"""Languages are told from three words, and not guessed from one."""

import subprocess
import sys

import pytest

from core.services.languages import detect, probabilities


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie viele Urlaubstage habe ich?", "de"),
        ("wer hat bereitschaft", "de"),
        ("über uns", "de"),
        ("Сколько дней отпуска?", "ru"),
        ("как настроить VPN", "ru"),
        ("how do I deploy", "en"),
        ("who is on call", "en"),
        ("what is ERR_42", "en"),
        ("Qui est d'astreinte?", "fr"),
        ("¿Cuántos días de vacaciones tengo?", "es"),
        ("Quanti giorni di ferie ho?", "it"),
        ("Quantos dias de férias eu tenho?", "pt"),
        ("Hoeveel vakantiedagen heb ik?", "nl"),
        ("Ile mam dni urlopu?", "pl"),
        ("Скільки днів відпустки?", "uk"),
        ("kaç gün iznim var", "tr"),
        ("有多少天假期？", "zh"),
        ("休暇は何日ありますか？", "ja"),
    ],
)
def test_short_questions_are_recognised(text: str, language: str) -> None:
    """A question of a few words has the language a reader would say."""
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", "   ", "42", "🙂", "VPN", "Mindset", "reset VPN", "ERR_42 #42"])
def test_unsure_is_empty(text: str) -> None:
    """Names, numbers and signs belong to no language."""
    assert detect(text) == ""


def test_probabilities_sum_to_one() -> None:
    """Probabilities are normalised over the languages that are told apart."""
    assert sum(probabilities("Where is the handbook?").values()) == pytest.approx(1.0)


def test_capitals_do_not_change_the_language() -> None:
    """A shouted question is in the language of the quiet one."""
    assert detect("WIE VIELE URLAUBSTAGE HABE ICH?") == "de"


def test_nothing_is_loaded_on_import() -> None:
    """The model costs half a second and is read when the first text is judged."""
    program = (
        "import core.services.languages as languages\n"
        "assert languages._identifier.cache_info().currsize == 0\n"
        "languages.detect('where is it')\n"
        "assert languages._identifier.cache_info().currsize == 1\n"
    )

    finished = subprocess.run(  # noqa: S603  # our own interpreter, our own program
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )

    assert finished.stderr == ""
    assert finished.returncode == 0
