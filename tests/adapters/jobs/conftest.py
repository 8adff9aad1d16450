"""A rig for every test that asks for one."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.jobs.rig import JobsRig, jobs_rig


@pytest.fixture
async def rig(database_url: str) -> AsyncIterator[JobsRig]:
    """Runs, hints and no machine yet."""
    async with jobs_rig(database_url) as started:
        yield started
