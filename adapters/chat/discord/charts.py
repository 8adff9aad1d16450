"""The index as a picture where matplotlib is installed (extra ``charts``), and always as bars."""

import io
from collections.abc import Mapping

BAR_WIDTH = 20
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    try:
        import matplotlib as _  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def ledger_png(ledger: Mapping[str, int]) -> bytes:
    """Pages by state as horizontal bars; blocking, for a thread."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 0.6 + 0.4 * max(len(ledger), 1)), dpi=150, layout="constrained")
    axes = figure.subplots()
    states = list(ledger)[::-1]
    bars = axes.barh(states, [ledger[state] for state in states], color="#5865f2")
    axes.bar_label(bars, padding=3)
    axes.set_xlabel("pages")
    axes.spines[["top", "right"]].set_visible(False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def ledger_lines(ledger: Mapping[str, int]) -> str:
    """One line a state: its name, a bar as long as its share of the largest, and its count."""
    if not ledger:
        return "no pages"
    most = max([*ledger.values(), 1])
    width = max(len(state) for state in ledger)
    return "\n".join(f"{state.ljust(width)}  {_bar(count, most)} {count}" for state, count in ledger.items())


def _bar(count: int, most: int) -> str:
    eighths = round(count / most * BAR_WIDTH * 8)
    if count and not eighths:
        eighths = 1
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]
