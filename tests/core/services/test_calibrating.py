"""What an index teaches is learned when it is due, kept, and given to searches."""

from collections.abc import Sequence

import numpy as np
import pytest

from adapters.embedders.hashing import HashingEmbedder
from core.domain.models import ModelProfile, Vector
from core.errors import UnavailableError
from core.ports import Embedder, SampledPassage
from core.services.calibrating import (
    LEAST_PASSAGES,
    Calibration,
    Calibrations,
    Calibrator,
    pack,
    passage_text,
    unpack,
)

EMBEDDER = HashingEmbedder(64)


class Kept:
    """A store of one background."""

    def __init__(self, *passages: SampledPassage, due: bool = True) -> None:
        self.passages = passages
        self.due = due
        self.kept: tuple[int, bytes] | None = None
        self.read = 0

    async def background(self) -> tuple[int, bytes] | None:
        self.read += 1
        return self.kept

    async def is_background_due(self) -> bool:
        return self.due

    async def sample_passages(self, limit: int) -> Sequence[SampledPassage]:
        return self.passages[:limit]

    async def keep_background(self, figures: bytes) -> None:
        self.kept = ((self.kept or (0, b""))[0] + 1, figures)


class Failing:
    """A model that is away."""

    @property
    def profile(self) -> ModelProfile:
        return EMBEDDER.profile

    async def embed_query(self, text: str) -> Vector:  # noqa: ARG002 - the port's signature
        raise UnavailableError("away")

    async def embed_passages(
        self,
        texts: Sequence[str],  # noqa: ARG002 - the port's signature
    ) -> Sequence[Vector | None]:
        raise UnavailableError("away")


async def passages(number: int = LEAST_PASSAGES) -> tuple[SampledPassage, ...]:
    """Passages about one thing each, in two languages."""
    bodies = [f"Topic {at} is about thing number {at}" for at in range(number)]
    vectors = await EMBEDDER.embed_passages(bodies)
    return tuple(
        SampledPassage(f"Wiki > Page {at}", f"# Part {at}", body, "en" if at % 2 else "de", vector)
        for at, (body, vector) in enumerate(zip(bodies, vectors, strict=True))
        if vector is not None
    )


async def learned(store: Kept, embedder: Embedder = EMBEDDER) -> bool:
    """Whether a run learned something."""
    return await Calibrator(store=store, embedder=embedder).run()


async def given(store: Kept) -> Calibration:
    """What searches are given."""
    assert store.kept is not None
    calibration = await Calibrations(store).at(store.kept[0])
    assert calibration is not None
    return calibration


async def test_figures_survive_being_kept() -> None:
    """All means, chances and counts come back as they were, to the bit."""
    store = Kept(*await passages())
    assert await learned(store)
    calibration = await given(store)
    again = unpack(pack(calibration))
    assert again is not None
    assert again.background.chances == calibration.background.chances
    assert again.background.spread == calibration.background.spread
    assert again.runs == calibration.runs
    assert again.background.question_means.keys() == calibration.background.question_means.keys()
    for code, mean in calibration.background.passage_means.items():
        assert np.array_equal(again.background.passage_means[code], mean)


async def test_runs_of_all_passages_are_counted_with_their_titles() -> None:
    """Each page's title holds "page", so each passage holds its runs."""
    store = Kept(*await passages())
    await learned(store)
    runs = (await given(store)).runs
    assert runs.passages == LEAST_PASSAGES
    assert runs.containing["_pag"] == LEAST_PASSAGES
    assert passage_text(store.passages[3]) == "[Wiki > Page 3 > # Part 3] Topic 3 is about thing number 3"


@pytest.mark.parametrize("number", [0, 1, LEAST_PASSAGES - 1])
async def test_few_passages_teach_nothing(number: int) -> None:
    """What chance gives cannot be told from a handful: the rule without it goes on deciding."""
    store = Kept(*await passages(number))
    assert not await learned(store)
    assert store.kept is None


@pytest.mark.parametrize("number", [LEAST_PASSAGES, 2 * LEAST_PASSAGES])
async def test_some_passages_are_enough(number: int) -> None:
    """A small wiki teaches what a large one does."""
    store = Kept(*await passages(number))
    assert await learned(store)
    background = (await given(store)).background
    assert background.spread > 0
    assert np.isfinite(background.stands_out(0.5, question_language="fr", passage_language="en"))


async def test_nothing_is_learned_before_it_is_due_or_without_passages() -> None:
    """An unchanged index costs no embedding; an empty one teaches nothing."""
    store = Kept(*await passages())
    await learned(store)
    store.due = False
    assert not await learned(store, Failing())
    assert not await learned(Kept())


async def test_figures_of_another_version_are_learned_anew() -> None:
    """Whatever is kept that cannot be read counts as nothing."""
    store = Kept(*await passages(), due=False)
    store.kept = (1, b"something else")
    assert await Calibrations(store).at(1) is None
    assert await learned(store)
    assert (await given(store)).runs.passages == LEAST_PASSAGES


async def test_a_model_that_is_away_costs_the_learning_alone() -> None:
    """The sync goes on, and what was learned before stays."""
    store = Kept(*await passages())
    await learned(store)
    before = store.kept
    assert not await learned(store, Failing())
    assert store.kept == before


async def test_searches_read_it_once_for_each_state() -> None:
    """As long as the state is the same nothing is read; state 0 is nothing learned."""
    store = Kept(*await passages())
    await learned(store)
    store.read = 0
    calibrations = Calibrations(store)
    assert await calibrations.at(0) is None
    first = await calibrations.at(1)
    assert await calibrations.at(1) is first is not None
    assert store.read == 1
    await learned(store)
    assert await calibrations.at(2) is not first
    assert store.read == 3  # the run itself looks at what is kept
