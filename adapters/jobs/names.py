"""Names and times that all workers of a deployment must agree on."""

from dataclasses import dataclass
from datetime import timedelta

SYNC = "footnote.sync"
HINTS = "footnote.hints"
SCHEDULE = "footnote.schedule"

EVERY_MINUTE = "* * * * *"
"""How often it is looked whether a scheduled run is due."""

RUN_LOCK = 7_305_214_671
"""Taken by every transaction that begins, joins or ends a run; any number, the same for every version."""

MOST_STARTS = 10
"""A run that so many workers began and none could end is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """How soon things are noticed.

    ``heartbeat``: a job whose worker was silent for so long is taken by another. ``poll``: how often a
    worker looks for such jobs. ``beat``: how often a running step notes its progress. ``expires``: a run of
    which nothing was heard for so long counts as dead. ``gather``: how long hints on one page gather;
    ``gather_most``: for how long at most, while more keep coming. ``retries``: pauses between tries.
    """

    heartbeat: timedelta = timedelta(seconds=10)
    poll: timedelta = timedelta(seconds=3)
    beat: timedelta = timedelta(seconds=0.5)
    expires: timedelta = timedelta(seconds=60)
    gather: timedelta = timedelta(seconds=2)
    gather_most: timedelta = timedelta(seconds=20)
    retries: tuple[timedelta, ...] = (timedelta(seconds=5), timedelta(seconds=20))
