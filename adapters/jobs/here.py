"""A run that only this process can do, such as one of an export on its disk, under the same lock as all."""

import asyncio
from collections.abc import Callable
from uuid import uuid4

from adapters.jobs.holding import Cut, Holding
from adapters.jobs.names import Timings
from adapters.jobs.runs import PostgresRuns
from core.errors import FootnoteError, UnavailableError
from core.ports.chat import ResyncKind
from core.ports.jobs import RunView, StepEnd, Work


async def run_here(
    runs: PostgresRuns,
    *,
    source: str,
    kind: ResyncKind,
    work: Work,
    on_wait: Callable[[RunView], None] = lambda _: None,
    timings: Timings | None = None,
) -> StepEnd:
    """Do a run in this process; waits until no other one is open, telling ``on_wait`` of it.

    Raises:
        FootnoteError: as the work raises; the run ended with its message.
        UnavailableError: the run was lost, since this process was silent for too long.
    """
    timings = timings or Timings()
    while (run_id := await runs.begin_here(source, kind, asked_by=source)) is None:
        if (other := await runs.open_run()) is not None:
            on_wait(other)
        await asyncio.sleep(timings.beat.total_seconds())
    holder = uuid4()
    step = await runs.take(run_id, holder)
    if step is None:
        raise UnavailableError(f"run {run_id} was ended by another process; try again")
    ended = ""
    try:
        end = await Holding(runs, holder, timings).do(step, work, asyncio.Event())
        if isinstance(end, Cut):
            raise UnavailableError(f"run {run_id} was lost: {end.value}; try again")
        await runs.step_ended(run_id, holder, end)
    except FootnoteError as error:
        ended = str(error)
        raise
    finally:
        # Nothing happens to a run that has ended.
        if ended:
            await runs.give_up(run_id, holder, ended)
        else:
            await runs.stop(run_id, holder)
    return end
