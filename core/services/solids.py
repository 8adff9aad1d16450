"""Cutting what has a form of its own: tables keep their header in every piece, code keeps its fences."""

import re
from collections.abc import Iterator

from core.services.measuring import Budget
from core.services.splitting import cut_point

_TABLE_RULE = re.compile(r"\s*+\|?\s*+:?-+:?\s*+(?:\|\s*+:?-+:?\s*+)*\|?\s*")
_WINDOW = 10_000
"""Characters; far more than the largest chunk."""

_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})")


def table_pieces(text: str, budget: Budget) -> list[str]:
    """Rows grouped into pieces that fit, each under the header and the separator row.

    A row is only cut when it alone, with the header, exceeds the budget. Empty where the header leaves less
    than half of the room: such a text is better cut as prose.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    has_header = len(lines) > 1 and _TABLE_RULE.fullmatch(lines[1]) is not None
    head = "\n".join(lines[:2]) if has_header else ""
    frame = f"{head}\n" if head else ""
    return _framed_pieces(lines[2:] if head else lines, budget, frame, "")


def code_pieces(text: str, budget: Budget) -> list[str]:
    """Lines grouped into pieces that fit, each with the block's own fences around it.

    A line is only cut when it alone, with the fences, exceeds the budget. Indentation is kept.
    """
    lines = text.split("\n")
    opening = _OPENING.match(lines[0])
    if opening is None:
        return _framed_pieces(lines, budget, "", "")
    margin = lines[0][: opening.start(1)]
    closing = margin + opening.group(1)
    is_closed = len(lines) > 1 and lines[-1].strip() == opening.group(1)
    body = lines[1:-1] if is_closed else lines[1:]
    pieces = _framed_pieces(body, budget, f"{lines[0]}\n", f"\n{closing}")
    # An endless language name must not cost the fences.
    return pieces or _framed_pieces(body, budget, f"{closing}\n", f"\n{closing}")


def _framed_pieces(lines: list[str], budget: Budget, before: str, behind: str) -> list[str]:
    frame = budget.weigh(before + behind)
    if not budget.fits(frame, frame):
        return []
    pieces: list[list[str]] = []
    used = frame
    for line in _short_enough(lines, budget, before + behind):
        weights = budget.weigh(line + "\n")
        if not pieces or not budget.fits(used, weights):
            pieces.append([])
            used = frame
        pieces[-1].append(line)
        used = tuple(map(sum, zip(used, weights, strict=True)))
    texts = ["\n".join(piece) for piece in pieces]
    return [f"{before}{piece}{behind}" for piece in texts if piece.strip()]


def _short_enough(lines: list[str], budget: Budget, frame: str) -> Iterator[str]:
    taken = budget.weigh(frame + "\n")
    for line in lines:
        start = 0
        while (room := budget.longest_prefix(window := line[start : start + _WINDOW], taken)) < len(window):
            at = cut_point(window, max(1, room))
            yield window[:at]
            start += at
        if start == 0 or window:
            yield window
