"""A Slack for tests: as strict as the original where that matters, and easy to provoke.

`FakeSlack` holds a workspace and serves the Web API, Socket Mode, response URLs and uploads on loopback;
people in it speak through `People`. Written from Slack's documented request and response shapes.
"""

from tests.fakes.slack.people import People
from tests.fakes.slack.server import FakeSlack, running_slack
from tests.fakes.slack.workspace import APP_TOKEN, BOT_TOKEN, BOT_USER, SIGNING_SECRET, TEAM

__all__ = [
    "APP_TOKEN",
    "BOT_TOKEN",
    "BOT_USER",
    "SIGNING_SECRET",
    "TEAM",
    "FakeSlack",
    "People",
    "running_slack",
]
