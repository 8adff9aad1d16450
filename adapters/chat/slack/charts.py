"""Satisfaction over time: a picture where matplotlib is installed (extra ``charts``), else bars in a line."""

import io
from collections.abc import Sequence
from datetime import timedelta

from core.ports.chat import DailyVerdicts

BARS = "▁▂▃▄▅▆▇█"


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    try:
        import matplotlib as _  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def satisfaction_png(verdicts: Sequence[DailyVerdicts]) -> bytes:
    """Good and bad answers a day as stacked bars; blocking, for a thread."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 2.4), dpi=150, layout="constrained")
    axes = figure.subplots()
    shown = every_day(verdicts)
    days = [f"{one.day:%d %b}" for one in shown]
    good = [one.good for one in shown]
    axes.bar(days, good, color="#2eb67d", label="good")
    axes.bar(days, [one.bad for one in shown], bottom=good, color="#e01e5a", label="bad")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("answers")
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=2, loc="upper left")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def every_day(verdicts: Sequence[DailyVerdicts]) -> tuple[DailyVerdicts, ...]:
    """The days between the first and the last, those on which nothing was judged included."""
    if not verdicts:
        return ()
    known = {one.day: one for one in verdicts}
    first, last = min(known), max(known)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return tuple(known.get(day) or DailyVerdicts(day, good=0, bad=0) for day in days)


def satisfaction_line(verdicts: Sequence[DailyVerdicts]) -> str:
    """``▂▅█ 92 % good``: one bar a day with any verdict."""
    judged = [one for one in verdicts if one.good + one.bad]
    if not judged:
        return "No answer was judged yet."
    shares = [one.good / (one.good + one.bad) for one in judged]
    bars = "".join(BARS[round(share * (len(BARS) - 1))] for share in shares)
    good = sum(one.good for one in judged)
    total = good + sum(one.bad for one in judged)
    return f"{bars} {good * 100 // total} % good of {total}"
