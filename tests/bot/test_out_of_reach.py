"""`footnote check` where a platform is out of reach: nobody is sent to replace a token that may be right."""

import socket

import pytest

from adapters.chat.reaching import OUT_OF_REACH
from bot.findings import State
from bot.platform_findings import platform_findings
from bot.settings import Settings


def an_address_where_nothing_listens() -> str:
    """On loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    ("subject", "variables"),
    [
        ("Slack bot token", {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}),
        ("Discord token", {"DISCORD_TOKEN": "x"}),
    ],
)
async def test_a_platform_out_of_reach_says_nothing_against_its_token(
    subject: str, variables: dict[str, str]
) -> None:
    """The network is what to look at."""
    address = an_address_where_nothing_listens()
    settings = Settings.from_mapping(
        {**variables, "SLACK_BASE_URL": f"{address}/api/", "DISCORD_BASE_URL": f"{address}/api/v10"}
    )

    [found] = [one for one in await platform_findings(settings) if one.subject == subject]

    assert found.state is State.FAIL
    assert found.remedy == OUT_OF_REACH
