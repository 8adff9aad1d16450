"""``footnote forget``: delete what is kept of one person."""

from adapters.stores.learning import open_learning
from bot.servers import only_sample_exists, running_servers
from bot.settings import Settings
from bot.terminal import output, print_json
from bot.wording import counted
from core.errors import InvalidInputError


async def run_forget(settings: Settings, person: str, *, as_json: bool) -> int:
    """0, whether anything was kept or not.

    Raises:
        InvalidInputError: no id was given.
    """
    if not (wanted := person.strip().removeprefix("<@").removesuffix(">")):
        raise InvalidInputError("whom? Give the person's id, such as U042 in Slack, or digits in Discord")
    with running_servers(settings, sample=only_sample_exists(settings)) as servers:
        async with open_learning(servers.database_url) as kept:
            removed = await kept.forget(wanted)
    if as_json:
        print_json({"removed": removed})
    else:
        output.print(
            f"Deleted {counted(removed, 'record')}: questions, judgements and suggestions."
            if removed
            else "Nothing was kept of this person. Ids look like U042 in Slack, and are digits in Discord.",
            markup=False,
            soft_wrap=True,
        )
    return 0
