"""``footnote why``: one page, and why it is or is not in the answers."""

from dataclasses import asdict

from bot.operations import open_operations
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import output, print_json
from bot.wiring import open_app


async def run_why(settings: Settings, link: str, *, as_json: bool) -> int:
    """0 if the page was ever seen, else 1.

    Raises:
        InvalidInputError: the text holds no page id.
    """
    sample = only_sample_exists(settings)
    async with open_app(settings, sample=sample) as app, open_operations(app) as operations:
        found = await operations.administrator.explain(link)
    if as_json:
        print_json(
            {
                **asdict(found),
                "seen": found.fate is not None,
                "seen_at": found.seen_at.isoformat() if found.seen_at else None,
                "next_try": found.next_try.isoformat() if found.next_try else None,
            }
        )
    else:
        output.print(found.as_text(), markup=False, soft_wrap=True)
    return 0 if found.fate is not None else 1
