"""Runs: one at a time, joined, upgraded, taken over, never lost."""

import asyncio
from contextlib import suppress
from uuid import uuid4

import asyncpg
import pytest
from pgqueuer.queries import Queries

from adapters.jobs import here
from adapters.jobs.hints import ANYTHING
from core.domain.ids import PageId
from core.errors import FootnoteError, RefusedError, UnavailableError
from core.ports.chat import ResyncKind, ResyncTicket
from core.ports.jobs import EXPORT, RunProgress, RunView, StepEnd
from tests.adapters.jobs.rig import QUICK, DirectedWork, JobsRig, until

CHANGES, FULL, REEMBED = ResyncKind.CHANGES, ResyncKind.FULL, ResyncKind.REEMBED


async def test_sy17_a_second_request_joins_the_run_whoever_asks(rig: JobsRig) -> None:
    """Of ten requests at once to two machines one begins a run, nine join it, and it runs once."""
    work = DirectedWork()
    rig.start(work)
    rig.start(work)

    tickets = await asyncio.gather(*(rig.runs.request(CHANGES, asked_by=f"p{n}") for n in range(10)))
    await until(lambda: work.steps)
    late = await rig.runs.request(CHANGES, asked_by="late")
    work.gate.set()
    await rig.ended(late.run_id)

    assert {ticket.run_id for ticket in [*tickets, late]} == {late.run_id}
    assert sorted(ticket.joined for ticket in tickets) == [False] + [True] * 9
    assert late == ResyncTicket(late.run_id, joined=True)
    assert work.kinds == [CHANGES]


async def test_t3_runs_of_several_machines_never_overlap(rig: JobsRig) -> None:
    """Run after run over three machines: at no time are two under way."""
    work = DirectedWork()
    work.gate.set()
    for _ in range(3):
        rig.start(work)

    for _ in range(6):
        ticket = await rig.runs.request(CHANGES, asked_by="test")
        await rig.runs.request(REEMBED, asked_by="test")
        await rig.ended(ticket.run_id)

    assert work.most_running == 1
    assert work.kinds.count(REEMBED) == 6


async def test_not18_a_full_request_upgrades_a_running_incremental_one(rig: JobsRig) -> None:
    """The asker is told, and the same run goes on to read everything."""
    machine = rig.start()
    first = await rig.runs.request(CHANGES, asked_by="timer")
    await until(lambda: machine.work.steps)

    second = await rig.runs.request(FULL, asked_by="admin")
    third = await rig.runs.request(FULL, asked_by="another")
    machine.work.gate.set()
    ended = await rig.ended(first.run_id)

    assert second == ResyncTicket(first.run_id, joined=True, upgraded=True)
    assert third == ResyncTicket(first.run_id, joined=True, upgraded=False)
    assert machine.work.kinds == [CHANGES, FULL]
    assert ended.kind is FULL
    assert ended.report == {"kind": "full", "changed": 3}


async def test_u9_a_request_that_comes_as_a_run_ends_is_never_lost(rig: JobsRig) -> None:
    """However close to a run's end it comes, it is done by that run or by one of its own."""
    work = DirectedWork()
    work.gate.set()
    rig.start(work)

    for _ in range(12):
        before = work.kinds.count(REEMBED)
        ticket = await rig.runs.request(CHANGES, asked_by="test")
        steps = len(work.steps)
        await until(lambda seen=steps: len(work.steps) > seen)  # type: ignore[misc] # bound now
        joined = await rig.runs.request(REEMBED, asked_by="test")
        await rig.ended(ticket.run_id)
        await rig.ended(joined.run_id)
        assert work.kinds.count(REEMBED) == before + 1


async def test_not18_a_second_run_follows_at_once_and_takes_another_number(rig: JobsRig) -> None:
    """What ended is never joined."""
    machine = rig.start()
    machine.work.gate.set()
    first = await rig.runs.request(CHANGES, asked_by="test")
    await rig.ended(first.run_id)

    second = await rig.runs.request(FULL, asked_by="test")
    await rig.ended(second.run_id)

    assert second == ResyncTicket(second.run_id)
    assert second.run_id != first.run_id
    assert [run.id for run in await rig.runs.recent(limit=5)] == [second.run_id, first.run_id]


async def test_f34_a_stopped_worker_hands_its_run_over_at_once(rig: JobsRig) -> None:
    """Another machine goes on with the same step, told that it is not the first."""
    first, second = rig.start(), DirectedWork()
    ticket = await rig.runs.request(FULL, asked_by="test")
    await until(lambda: first.work.steps)

    rig.start(second)
    await first.end()
    await until(lambda: second.steps)
    second.gate.set()
    await rig.ended(ticket.run_id)

    [began], [resumed] = first.work.steps, second.steps
    assert resumed.is_resumed
    assert (resumed.kind, resumed.begun) == (FULL, began.begun)


async def test_f34_a_worker_that_lost_its_run_cannot_end_it(rig: JobsRig) -> None:
    """Whatever fails where a run was lost, whoever took it over goes on with it."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    lost, taken = uuid4(), uuid4()
    assert await rig.runs.take(ticket.run_id, lost) is not None
    assert await rig.runs.take(ticket.run_id, taken) is not None

    pause = await rig.runs.try_later(ticket.run_id, lost, "Notion is away")
    await rig.runs.give_up(ticket.run_id, lost, "it cannot be done")

    assert pause is None
    assert (await rig.run(ticket.run_id)).ended_at is None
    assert await rig.runs.beat(ticket.run_id, taken, RunProgress())


async def test_f34_a_run_whose_worker_vanished_is_taken_over(rig: JobsRig, database_url: str) -> None:
    """A job that nobody's heart beats for goes to a machine that lives."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    connection = await asyncpg.connect(database_url)
    try:
        # As a worker leaves it that dies just after it began.
        await connection.execute(
            "UPDATE pgqueuer SET status = 'picked', queue_manager_id = $1, slot = 0, "
            "heartbeat = now() - interval '1 hour'",
            uuid4(),
        )
    finally:
        await connection.close()
    assert await rig.runs.take(ticket.run_id, uuid4()) is not None

    machine = rig.start()
    machine.work.gate.set()
    await rig.ended(ticket.run_id)

    assert [step.is_resumed for step in machine.work.steps] == [True]


async def test_f34_who_lost_a_run_stops_working_on_it(rig: JobsRig) -> None:
    """A worker that was frozen notices that another holds its run, and changes nothing of it."""
    machine = rig.start()
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    await until(lambda: machine.work.running)

    other = uuid4()
    step = await rig.runs.take(ticket.run_id, other)
    assert step is not None
    await until(lambda: not machine.work.running)
    machine.work.gate.set()
    await rig.runs.beat(ticket.run_id, other, RunProgress(done=70, total=100))

    assert (await rig.run(ticket.run_id)).done == 70
    await rig.runs.step_ended(ticket.run_id, other, StepEnd({"by": "other"}))
    assert (await rig.ended(ticket.run_id)).report == {"by": "other"}
    assert len(machine.work.steps) == 1


async def test_a_run_too_short_for_progress_tells_its_pages_at_the_end(rig: JobsRig) -> None:
    """Nothing was noted on the way, and still it is "3 of 3" afterwards."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    holder = uuid4()
    assert await rig.runs.take(ticket.run_id, holder) is not None

    await rig.runs.step_ended(ticket.run_id, holder, StepEnd({}, pages=3))

    ended = await rig.ended(ticket.run_id)
    assert (ended.done, ended.total) == (3, 3)


async def test_f34_a_run_that_kills_every_worker_is_given_up(rig: JobsRig) -> None:
    """After ten workers the run ends and says so, instead of going round for ever."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    for _ in range(10):
        assert await rig.runs.take(ticket.run_id, uuid4()) is not None

    assert await rig.runs.take(ticket.run_id, uuid4()) is None
    assert "10 workers" in (await rig.ended(ticket.run_id)).message


async def test_a_run_that_lost_its_job_gets_another(rig: JobsRig, database_url: str) -> None:
    """However the job got lost, a living worker sees to it that the open run is done."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("DELETE FROM pgqueuer")
    finally:
        await connection.close()

    machine = rig.start()
    machine.work.gate.set()

    assert (await rig.ended(ticket.run_id)).report["changed"] == 3


async def test_t21_refused_credentials_end_the_run_at_once(rig: JobsRig) -> None:
    """One try, one clear line, and the next request begins anew."""
    machine = rig.start(DirectedWork(errors=[RefusedError("Notion does not accept NOTION_TOKEN")]))
    ticket = await rig.runs.request(FULL, asked_by="test")

    ended = await rig.ended(ticket.run_id)

    assert len(machine.work.steps) == 1
    assert ended.message == "Notion does not accept NOTION_TOKEN"
    assert ended.report == {"error": "Notion does not accept NOTION_TOKEN"}
    assert not (await rig.runs.request(FULL, asked_by="test")).joined


async def test_what_fails_for_now_is_tried_again_and_then_given_up(rig: JobsRig) -> None:
    """Two more tries; the run stays the same one meanwhile."""
    machine = rig.start(DirectedWork(errors=[UnavailableError(f"away {n}") for n in range(3)]))
    ticket = await rig.runs.request(CHANGES, asked_by="test")

    ended = await rig.ended(ticket.run_id)

    assert len(machine.work.steps) == 3
    assert ended.message == "away 2"


async def test_what_fails_unexpectedly_ends_without_its_words(rig: JobsRig) -> None:
    """An error of ours may quote a page: only its kind is kept."""
    rig.start(DirectedWork(errors=[ValueError("salary of somebody")]))
    ticket = await rig.runs.request(CHANGES, asked_by="test")

    ended = await rig.ended(ticket.run_id)

    assert ended.message == "It failed unexpectedly (ValueError)."


async def test_sy22_nothing_is_shown_as_done_at_once(rig: JobsRig) -> None:
    """Before any worker begins, the run shows 0 of all known pages."""
    ticket = await rig.runs.request(FULL, asked_by="test", known_pages=450)

    view = await rig.run(ticket.run_id)

    assert (view.done, view.total, view.ended_at, view.is_alive) == (0, 450, None, True)


async def test_t24_a_second_trigger_does_not_reset_progress(rig: JobsRig) -> None:
    """Who joins half way sees half, and so does who takes over and counts anew."""
    rig.start()
    ticket = await rig.runs.request(CHANGES, asked_by="test", known_pages=100)
    await rig.reached(ticket.run_id, lambda run: run.done == 50)

    await rig.runs.request(FULL, asked_by="test", known_pages=100)
    joined = await rig.run(ticket.run_id)
    other = uuid4()
    await rig.runs.take(ticket.run_id, other)
    await rig.runs.beat(ticket.run_id, other, RunProgress(done=3, total=40))
    taken_over = await rig.run(ticket.run_id)

    assert (joined.done, joined.total) == (50, 100)
    assert (taken_over.done, taken_over.total) == (50, 100)


async def test_sy22_progress_expires_after_a_crash(rig: JobsRig) -> None:
    """A run of which nothing was heard any more counts as dead, and a new request still gets it done."""
    ticket = await rig.runs.request(CHANGES, asked_by="test", known_pages=10)
    await rig.runs.take(ticket.run_id, uuid4())
    await rig.reached(ticket.run_id, lambda run: not run.is_alive)

    again = await rig.runs.request(CHANGES, asked_by="test")
    machine = rig.start()
    machine.work.gate.set()

    assert (await rig.ended(again.run_id)).report["changed"] == 3


async def test_sy22_a_failed_enqueue_leaves_no_run(
    rig: JobsRig, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    """Run and job come together or not at all."""

    async def fail(*_: object, **__: object) -> None:
        raise asyncpg.exceptions.DiskFullError("disk full")

    monkeypatch.setattr(Queries, "enqueue", fail)
    with pytest.raises(FootnoteError):
        await rig.runs.request(FULL, asked_by="test", known_pages=5)
    monkeypatch.undo()

    assert await rig.runs.open_run() is None
    assert await rig.runs.recent(limit=5) == []
    connection = await asyncpg.connect(database_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM pgqueuer") == 0
    finally:
        await connection.close()


async def test_t11_an_interval_of_zero_registers_no_schedule_and_force_still_works(
    rig: JobsRig, database_url: str
) -> None:
    """Neither at the start nor on the minute does anything begin; a request does."""
    work = DirectedWork(is_scheduled=True)
    work.gate.set()
    rig.start(work, is_scheduled=False)
    await asyncio.sleep(1.0)
    connection = await asyncpg.connect(database_url)
    try:
        schedules = await connection.fetchval("SELECT count(*) FROM pgqueuer_schedules")
    finally:
        await connection.close()

    assert schedules == 0
    assert work.steps == []
    assert work.is_scheduled
    ticket = await rig.runs.request(FULL, asked_by="admin")
    await rig.ended(ticket.run_id)
    assert work.kinds == [FULL]


async def test_sy19_a_clock_that_was_set_back_does_not_put_the_schedule_off(
    rig: JobsRig, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue would look again tomorrow; the worker does by itself."""
    monkeypatch.setattr("adapters.jobs.worker.REVIVE_SECONDS", 0.1)
    work = DirectedWork()
    work.gate.set()
    rig.start(work, is_scheduled=True)
    connection = await asyncpg.connect(database_url)
    try:
        async with asyncio.timeout(10):
            set_back = "UPDATE pgqueuer_schedules SET next_run = next_run + interval '1 day'"
            while await connection.execute(set_back) != "UPDATE 1":  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.05)
        work.is_scheduled = True

        await until(lambda: work.steps)

        [run] = await rig.runs.recent(limit=5)
        assert run.asked_by == "schedule"
        assert 0 <= run.asked_seconds_ago < 60
        await connection.execute("UPDATE job_runs SET asked_at = now() + interval '1 day'")
        [run] = await rig.runs.recent(limit=5)
        assert -86_400 <= run.asked_seconds_ago < -86_000
    finally:
        await connection.close()


async def test_sy19_an_interval_begins_a_run_at_the_start_and_registers_one_schedule(
    rig: JobsRig, database_url: str
) -> None:
    """Two machines start, one of them finds a run due: one run, one schedule."""
    work = DirectedWork(is_scheduled=True)
    work.gate.set()
    rig.start(work, is_scheduled=True)
    rig.start(work, is_scheduled=True)
    await until(lambda: work.steps)
    connection = await asyncpg.connect(database_url)
    try:
        schedules = await connection.fetchval("SELECT count(*) FROM pgqueuer_schedules")
    finally:
        await connection.close()

    assert schedules == 1
    assert [run.asked_by for run in await rig.runs.recent(limit=5)] == ["schedule"]


async def test_a_run_of_an_export_excludes_others(rig: JobsRig) -> None:
    """While this process reads an export nothing else runs, and who asks is told why."""
    work = DirectedWork()
    rig.start()
    running = asyncio.create_task(here.run_here(rig.runs, source=EXPORT, kind=FULL, work=work, timings=QUICK))
    await until(lambda: work.steps)

    with pytest.raises(UnavailableError, match="export"):
        await rig.runs.request(CHANGES, asked_by="test")
    work.gate.set()
    await running

    assert not (await rig.runs.request(CHANGES, asked_by="test")).joined


async def test_an_export_waits_for_the_run_that_is_under_way(rig: JobsRig) -> None:
    """It begins when the other ended."""
    machine, work = rig.start(), DirectedWork()
    waited: list[RunView] = []
    work.gate.set()
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    await until(lambda: machine.work.steps)
    running = asyncio.create_task(
        here.run_here(
            rig.runs,
            source=EXPORT,
            kind=FULL,
            work=work,
            on_wait=waited.append,
            timings=QUICK,
        )
    )
    await until(lambda: waited)
    assert work.steps == []

    machine.work.gate.set()
    end = await running

    assert waited[0].id == ticket.run_id
    assert end.report["changed"] == 3


async def test_an_export_whose_process_died_is_in_nobodys_way(rig: JobsRig) -> None:
    """Its run is closed by the next request."""
    run_id = await rig.runs.begin_here(EXPORT, FULL, asked_by="test")
    assert run_id is not None
    await rig.runs.take(run_id, uuid4())
    await rig.reached(run_id, lambda run: not run.is_alive)
    assert await rig.runs.open_run() is None

    ticket = await rig.runs.request(CHANGES, asked_by="test")

    assert not ticket.joined
    assert (await rig.ended(run_id)).message == "Its process ended in the middle."


async def test_an_export_does_not_wait_for_a_run_that_nobody_works_on(rig: JobsRig) -> None:
    """A killed worker's run counts as cut off after a while, though another worker could have taken it."""
    ticket = await rig.runs.request(CHANGES, asked_by="test")
    await rig.runs.take(ticket.run_id, uuid4())
    assert await rig.runs.begin_here(EXPORT, FULL, asked_by="test") is None
    silent = await rig.reached(ticket.run_id, lambda run: not run.is_alive)

    run_id = await rig.runs.begin_here(EXPORT, FULL, asked_by="test")

    assert silent.silent_seconds >= 4
    assert run_id is not None
    ended = await rig.ended(ticket.run_id)
    assert (ended.has_failed, ended.message) == (True, "Its process ended in the middle.")
    assert ended.silent_seconds == 0


async def test_an_export_that_is_stopped_is_no_failure(rig: JobsRig) -> None:
    """Ctrl-C and SIGTERM end a run: no page failed, and the next one may begin at once."""
    work = DirectedWork()
    running = asyncio.create_task(here.run_here(rig.runs, source=EXPORT, kind=FULL, work=work, timings=QUICK))
    await until(lambda: work.steps)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    [run] = await rig.runs.recent(limit=5)
    assert run.ended_at is not None
    assert (run.failed, run.has_failed, run.was_stopped) == (0, False, True)
    assert run.message == "It was stopped on request; what it did until then stays."
    assert await rig.runs.begin_here(EXPORT, FULL, asked_by="test") is not None


async def test_a_living_worker_closes_the_run_of_a_dead_export(rig: JobsRig) -> None:
    """Nobody has to ask for that, and the schedule goes on."""
    run_id = await rig.runs.begin_here(EXPORT, FULL, asked_by="test")
    assert run_id is not None
    await rig.runs.take(run_id, uuid4())
    await rig.reached(run_id, lambda run: not run.is_alive)

    rig.start()

    assert (await rig.ended(run_id)).message == "Its process ended in the middle."


async def test_a_worker_outlives_its_connections(rig: JobsRig, database_url: str) -> None:
    """The database server drops every connection: a run under way goes on, and the next one is taken too."""
    machine = rig.start()
    first = await rig.runs.request(CHANGES, asked_by="test")
    await until(lambda: machine.work.running)
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    finally:
        await connection.close()

    # The asking side learns of its own dead connections by using them.
    for _ in range(20):
        with suppress(UnavailableError):
            await rig.runs.view(first.run_id)
    machine.work.gate.set()
    await rig.ended(first.run_id)
    second = await rig.runs.request(FULL, asked_by="test")
    await rig.ended(second.run_id)

    assert machine.work.most_running == 1
    assert machine.work.kinds[-1] is FULL


async def test_t19_whatever_is_queued_has_a_handler_that_does_it(rig: JobsRig, database_url: str) -> None:
    """Every kind of run, hints, and a change that no page names: all are done, and the queue is empty."""
    work = DirectedWork()
    work.gate.set()
    rig.start(work)
    page = PageId("0b4d7f5e-0000-4000-8000-000000000001")

    for kind in ResyncKind:
        await rig.ended((await rig.runs.request(kind, asked_by="test")).run_id)
    await rig.hints.take("one", [page])
    await rig.hints.take("two", [ANYTHING])
    await until(lambda: work.looks and len(work.steps) == 4)
    connection = await asyncpg.connect(database_url)
    try:
        async with asyncio.timeout(30):
            while await connection.fetchval("SELECT count(*) FROM pgqueuer"):  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.05)
        statuses = {
            row[0] for row in await connection.fetch("SELECT DISTINCT status::text FROM pgqueuer_log")
        }
    finally:
        await connection.close()

    assert set(work.kinds) == set(ResyncKind)
    assert work.looks == [frozenset({page})]
    assert "successful" in statuses
    assert not {"exception", "failed"} & statuses
