"""``footnote gaps``: what was asked and not answered well, and whom to ask about it."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json
from bot.wiring import open_app
from bot.wording import counted
from core.domain.audiences import EVERYTHING
from core.errors import InvalidInputError
from core.services.gaps import FoundGap


async def run_gaps(settings: Settings, *, days: int, limit: int, golden: Path | None, as_json: bool) -> int:
    """0, whether there are gaps or not.

    Raises:
        InvalidInputError: the golden file exists already or cannot be written.
    """
    async with open_app(settings, sample=only_sample_exists(settings)) as app:
        since = datetime.now(UTC) - timedelta(days=days)
        gaps = await app.learning.gaps.find(viewer=EVERYTHING, since=since, limit=limit)
    if golden is not None:
        count = await asyncio.to_thread(write_golden, golden, gaps)
        note(f"{counted(count, 'candidate')} written to {golden}: fill in what is relevant, then measure")
    if as_json:
        print_json({"days": days, "gaps": [gap_json(gap) for gap in gaps]})
    elif gaps:
        output.print("\n\n".join(describe(gap) for gap in gaps), markup=False, soft_wrap=True)
    else:
        output.print(f"No gaps in the last {days} days.", markup=False)
    return 0


def gap_json(gap: FoundGap) -> dict[str, Any]:
    """One gap as ``--json`` prints it."""
    return {
        "count": gap.count,
        "examples": list(gap.examples),
        "badly_rated": sum(one.bad > 0 for one in gap.questions),
        "nearest_pages": [
            {"page_id": page.page_id, "title": page.title, "url": page.url} for page in gap.nearest
        ],
        "owner": gap.owner or None,
    }


def describe(gap: FoundGap) -> str:
    """One gap in a few lines for people."""
    times = "once" if gap.count == 1 else f"{gap.count} times"
    first, *others = gap.examples
    lines = [f"{first} (asked {times})"]
    lines += [f"    also: {other}" for other in others]
    lines += [f"    near: {page.title} {page.url}" for page in gap.nearest]
    if gap.owner:
        lines.append(f"    ask: {gap.owner}, who edited the nearest page last")
    return "\n".join(lines)


def write_golden(path: Path, gaps: Sequence[FoundGap]) -> int:
    """Candidates for a golden set, one question of each wording; returns how many.

    Raises:
        InvalidInputError: the file exists already or cannot be written.
    """
    entries = [_candidate(gap, text) for gap in gaps for text in gap.examples]
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError as error:
        raise InvalidInputError(f"{path} exists already; name a new file") from error
    except OSError as error:
        raise InvalidInputError(f"cannot write {path}: {error.strerror}") from error
    return len(lines)


def _candidate(gap: FoundGap, text: str) -> dict[str, Any]:
    language = next((one.language for one in gap.questions if one.text == text), "")
    return {
        "id": f"gap-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}",
        "question": text,
        "lang": language,
        "answerable": False,
        "relevant": [],
        "candidates": [{"page_id": page.page_id, "page_title": page.title} for page in gap.nearest],
    }
