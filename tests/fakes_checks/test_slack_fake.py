"""The stand-in for Slack refuses what Slack refuses: through the real client, each refusal by its code."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, FakeSlack, People, running_slack
from tests.fakes.slack.limits import Limits
from tests.fakes.slack.refusals import SlackRateLimitedError

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    """A workspace with a channel, a closed one and a person."""
    async with running_slack() as started:
        started.limits.is_on = False
        started.workspace.add_user("U1")
        started.workspace.add_channel("C1")
        started.workspace.add_channel("C9", has_bot=False)
        yield started


def client(slack: FakeSlack, token: str = BOT_TOKEN) -> AsyncWebClient:
    """The real client, without retries."""
    return AsyncWebClient(token=token, base_url=slack.api_url, retry_handlers=[])


async def refusal(slack: FakeSlack, method: str, *, token: str = BOT_TOKEN, **arguments: Any) -> str:
    """The error of a call that must fail."""
    with pytest.raises(SlackApiError) as raised:
        await client(slack, token).api_call(method, json=arguments)
    return str(raised.value.response["error"])


def a_block(**fields: Any) -> list[dict[str, Any]]:
    """One block."""
    return [fields]


def text_block(length: int) -> dict[str, Any]:
    """A section of some length."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": "x" * length}}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"text": "x", "colour": "blue"}, "invalid_arguments"),
        ({}, "no_text"),
        ({"text": "x", "markdown_text": "x"}, "markdown_text_conflict"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "x", "thread_ts": "1.0"}, "thread_not_found"),
        ({"text": "x", "blocks": "no"}, "invalid_blocks_format"),
        ({"text": "x", "blocks": [SECTION] * 51}, "invalid_blocks"),
        ({"text": "x", "blocks": [text_block(3_001)]}, "invalid_blocks"),
        ({"text": "x", "blocks": [text_block(0)]}, "invalid_blocks"),
        ({"text": "x", "blocks": [text_block(3_000)] * 5}, "msg_blocks_too_long"),
        ({"text": "x", "blocks": a_block(type="poem", text="x")}, "invalid_blocks"),
        ({"text": "x", "blocks": a_block(type="section")}, "invalid_blocks"),
        ({"text": "x", "blocks": a_block(**SECTION, colour="blue")}, "invalid_blocks"),
        ({"text": "x", "blocks": a_block(type="markdown", text="x" * 12_001)}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "x" * 6_001}] * 2}, "msg_blocks_too_long"),
        ({"text": "x", "blocks": a_block(type="context", elements=[SECTION["text"]] * 11)}, "invalid_blocks"),
        ({"text": "x", "blocks": a_block(type="actions", elements=[])}, "invalid_blocks"),
        ({"text": "x", "blocks": a_block(type="header", text=SECTION["text"])}, "invalid_blocks"),
        ({"text": "x", "blocks": [SECTION | {"block_id": "b"}] * 2}, "invalid_blocks"),
        ({"text": "x", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
    ],
)
async def test_a_bad_post_is_refused(slack: FakeSlack, arguments: dict[str, Any], code: str) -> None:
    """Unknown arguments, no text, too much of anything, and blocks that are none."""
    assert await refusal(slack, "chat.postMessage", channel="C1", **arguments) == code
    assert slack.workspace.messages == []


@pytest.mark.parametrize(
    ("channel", "token", "code"),
    [
        ("C404", BOT_TOKEN, "channel_not_found"),
        ("C9", BOT_TOKEN, "not_in_channel"),
        ("C1", "xoxb-wrong", "invalid_auth"),
        ("C1", APP_TOKEN, "not_allowed_token_type"),
        ("C1", "", "not_authed"),
    ],
)
async def test_wrong_places_and_tokens_are_refused(
    slack: FakeSlack, channel: str, token: str, code: str
) -> None:
    """As Slack names them."""
    assert await refusal(slack, "chat.postMessage", channel=channel, text="x", token=token) == code


async def test_missing_scopes_and_methods_are_refused(slack: FakeSlack) -> None:
    """A scope is named with those that there are; a method that does not exist is unknown."""
    slack.workspace.scopes -= {"chat:write"}
    with pytest.raises(SlackApiError) as raised:
        await client(slack).chat_postMessage(channel="C1", text="x")

    assert raised.value.response["needed"] == "chat:write"
    assert "chat:write" not in raised.value.response["provided"].split(",")
    assert await refusal(slack, "chat.sing") == "unknown_method"


async def test_edits_are_bounded(slack: FakeSlack) -> None:
    """Own messages only, at most 3,800 bytes of text and of blocks, and none that is being streamed."""
    people = People(slack)
    ts = (await client(slack).chat_postMessage(channel="C1", text="x"))["ts"]
    other = people.write("C1", "U1", "mine")

    async def update(**arguments: Any) -> str:
        return await refusal(slack, "chat.update", channel="C1", **arguments)

    assert await update(ts=ts, text="ж" * 1_901) == "msg_too_long"
    assert await update(ts=ts, text="x", blocks=[text_block(2_000)] * 2) == "msg_too_long"
    assert await update(ts=other, text="x") == "cant_update_message"
    assert await update(ts="404.0", text="x") == "message_not_found"
    await client(slack).chat_update(channel="C1", ts=ts, text="ж" * 1_900)


async def test_streams_have_a_life(slack: FakeSlack) -> None:
    """Started with its reader named, grown, ended once; expired when it was quiet too long."""
    root = People(slack).write("C1", "U1", "hello")
    where: dict[str, Any] = {"channel": "C1", "thread_ts": root}
    reader: dict[str, Any] = {"recipient_team_id": "T1", "recipient_user_id": "U1"}
    for missing in reader:
        others = {name: value for name, value in reader.items() if name != missing}
        assert await refusal(slack, "chat.startStream", **where, **others) == f"missing_{missing}"
    long = "x" * 12_001
    assert await refusal(slack, "chat.startStream", **where, **reader, markdown_text=long) == "msg_too_long"

    started = await client(slack).chat_startStream(**where, **reader, markdown_text="a")
    stream: dict[str, Any] = {"channel": "C1", "ts": started["ts"]}
    await client(slack).chat_appendStream(**stream, markdown_text="b")
    assert await refusal(slack, "chat.update", **stream, text="x") == "streaming_state_conflict"
    assert await refusal(slack, "chat.appendStream", **stream, markdown_text="x" * 11_999) == "msg_too_long"
    await client(slack).chat_stopStream(**stream, markdown_text="c")
    assert slack.workspace.message("C1", started["ts"])["text"] == "abc"
    assert await refusal(slack, "chat.stopStream", **stream) == "message_not_in_streaming_state"

    second = await client(slack).chat_startStream(**where, **reader, markdown_text="a")
    slack.methods.stream_seconds = -1
    stream = {"channel": "C1", "ts": second["ts"]}
    expired = await refusal(slack, "chat.appendStream", **stream, markdown_text="b")
    assert expired == "message_not_in_streaming_state"


def test_limits_count_by_channel_and_method() -> None:
    """One post a second to a channel, fifty edits a minute, each with the pause that is left."""
    now = [0.0]
    limits = Limits(clock=lambda: now[0])
    limits.post("C1")
    limits.post("C2")
    now[0] = 0.9
    with pytest.raises(SlackRateLimitedError):
        limits.post("C1")
    now[0] = 1.0
    limits.post("C1")

    for _ in range(50):
        limits.call("chat.update", per_minute=50)
    now[0] = 31.0
    with pytest.raises(SlackRateLimitedError) as raised:
        limits.call("chat.update", per_minute=50)
    assert raised.value.retry_after == 30
    now[0] = 61.0
    limits.call("chat.update", per_minute=50)


async def test_a_limited_call_is_http_429(slack: FakeSlack) -> None:
    """With Retry-After, over all clients."""
    slack.limits.is_on = True
    await client(slack).chat_postMessage(channel="C1", text="x")
    with pytest.raises(SlackApiError) as raised:
        await client(slack).chat_postMessage(channel="C1", text="x")

    assert raised.value.response.status_code == 429
    assert raised.value.response.headers["Retry-After"] == "1"


async def test_response_urls_take_five_posts(slack: FakeSlack) -> None:
    """The sixth is refused, and so are bad bodies, which do not count."""
    url = slack.new_response_url(user="U1", channel="C1")
    async with aiohttp.ClientSession() as http:

        async def post(**body: Any) -> int:
            async with http.post(url, json=body) as response:
                return response.status

        assert await post(colour="blue", text="x") == 400
        assert await post() == 400
        assert await post(text="x", blocks=[SECTION] * 51) == 400
        assert [await post(text="x") for _ in range(6)] == [200] * 5 + [404]


async def test_views_are_checked(slack: FakeSlack) -> None:
    """A modal needs a fresh trigger and a short title, a home at most 100 blocks."""
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "x" * 25},
        "blocks": [SECTION],
    }
    assert await refusal(slack, "views.open", trigger_id="t", view=view) == "invalid_trigger"
    slack.methods.triggers.add("t")
    assert await refusal(slack, "views.open", trigger_id="t", view=view) == "invalid_arguments"
    home = {"type": "home", "blocks": [{"type": "divider"}] * 101}
    assert await refusal(slack, "views.publish", user_id="U1", view=home) == "invalid_blocks"
    empty = home | {"blocks": []}
    assert await refusal(slack, "views.publish", user_id="U404", view=empty) == "user_not_found"


async def test_who_we_are_comes_with_the_scopes(slack: FakeSlack) -> None:
    """auth.test tells the granted scopes in a header."""
    response = await client(slack).auth_test()

    assert response["user_id"] == BOT_USER
    assert "chat:write" in str(response.headers["x-oauth-scopes"]).split(",")
    assert await refusal(slack, "apps.connections.open") == "not_allowed_token_type"
