"""The deterministic embedder of the tests."""

import subprocess
import sys

import numpy as np
import pytest

from adapters.embedders.hashing import HashingEmbedder

VACATION = "Employees receive thirty days of paid vacation per year."
ON_CALL = "The on-call engineer answers pages within 15 minutes."


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("How many vacation days do employees get?", VACATION, ON_CALL),
        ("Vertretung", "Ungeklärte Vertretungen im Plan", "Die Kantine öffnet um elf."),
        ("отпуска", "Отпуск согласовывается с руководителем.", "Борщ варят из свёклы."),
        ("WLAN-PASSWORT", "Das WLAN Passwort steht am Router.", "Der Drucker steht im Flur."),
    ],
)
async def test_similar_texts_are_near(question: str, near: str, far: str) -> None:
    """Shared words and parts of words decide, in any script and case."""
    embedder = HashingEmbedder()

    query = await embedder.embed_query(question)
    near_vector, far_vector = await embedder.embed_passages([near, far])

    assert near_vector is not None
    assert far_vector is not None
    assert query @ near_vector > embedder.profile.threshold > query @ far_vector


def test_vectors_are_the_same_in_every_process() -> None:
    """Python's own hash changes with each process; an index must survive a restart."""
    script = (
        "import asyncio; from adapters.embedders.hashing import HashingEmbedder; "
        "print(asyncio.run(HashingEmbedder(16).embed_query('remote work policy')).tobytes().hex())"
    )

    outputs = {
        subprocess.run(  # noqa: S603  # our own interpreter and a constant script
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1


async def test_the_size_is_part_of_the_name() -> None:
    """Two sizes are two spaces."""
    embedder = HashingEmbedder(64)

    assert embedder.profile.name == "hashing:64"
    assert (await embedder.embed_query("x")).shape == (64,)
    assert np.isclose(np.linalg.norm(await embedder.embed_query("x")), 1.0)
