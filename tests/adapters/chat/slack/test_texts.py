"""What the adapter says by itself: in the asker's language, or in English."""

from string import Formatter

import pytest

from adapters.chat.slack.texts import LANGUAGES, Text, say
from tests.adapters.chat.slack.harness import slack_session
from tests.fakes.slack.people import shown_text

FILLED = {"id": "1", "expert": "Ann", "person": "Ann", "question": "Why?", "code": "x"}


@pytest.mark.parametrize("language", [*LANGUAGES, "fr", "ja-JP", "zh", "pt-BR", "xx", "", "EN-gb", "de_AT"])
@pytest.mark.parametrize("text", list(Text))
def test_every_text_is_there_in_every_language(text: Text, language: str) -> None:
    """Whatever the person's Slack is set to, each text is a whole sentence with its braces filled."""
    said = say(text, language, **FILLED)

    assert said.strip()
    assert "{" not in said
    known = language.replace("_", "-").split("-")[0].lower()
    assert (said == say(text, "en", **FILLED)) == (known not in LANGUAGES or known == "en")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", list(Text))
def test_every_language_fills_the_same_braces(text: Text, language: str) -> None:
    """No language forgets an id or a name."""

    def braces(spoken: str) -> set[str]:
        kept = {name: f"{{{name}}}" for name in FILLED}
        return {name for _, name, _, _ in Formatter().parse(say(text, spoken, **kept)) if name}

    assert braces(language) == braces("en")


@pytest.mark.parametrize("locale", ["fr-FR", "ja-JP", "tlh", ""])
async def test_a_person_of_another_language_is_spoken_to_in_english(locale: str) -> None:
    """How-to, refusals and buttons; the answer itself is in the question's own language."""
    async with slack_session() as session:
        session.slack.workspace.users["U1"]["locale"] = locale
        ts = session.people.write("C1", "U1", "<@UBOT>")
        name = session.people.command("C1", "U1", "/footnote", "status")
        await session.settled()
        await session.until(lambda: session.slack.response_urls[name].bodies)

        assert "Ask me a question" in shown_text(session.replies(ts)[0])
        assert "only administrators" in shown_text(session.slack.response_urls[name].bodies[0])
