"""Numbers of Discord's that the product and its stand-in use, by the enumerations that others maintain."""

import pytest

from adapters.chat.discord import calls
from adapters.chat.discord.doctor import PERMISSIONS
from tests.fakes.discord import gateway, permissions
from tests.peers.discord.peers import enumeration


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (calls.UNKNOWN_CHANNEL, "UnknownChannel"),
        (calls.UNKNOWN_MESSAGE, "UnknownMessage"),
        (calls.UNKNOWN_WEBHOOK, "UnknownWebhook"),
        (calls.UNKNOWN_INTERACTION, "UnknownInteraction"),
        (calls.ALREADY_ACKNOWLEDGED, "InteractionHasAlreadyBeenAcknowledged"),
        (calls.MISSING_ACCESS, "MissingAccess"),
        (calls.MISSING_PERMISSIONS, "MissingPermissions"),
        (calls.INVALID_WEBHOOK_TOKEN, "InvalidWebhookToken"),
        (calls.INVALID_FORM, "InvalidFormBodyOrContentType"),
        (calls.THREAD_EXISTS, "ThreadAlreadyCreatedForMessage"),
    ],
)
def test_error_codes_mean_what_we_take_them_for(ours: int, theirs: str) -> None:
    """By name."""
    assert enumeration("RESTJSONErrorCodes")[theirs] == ours


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (permissions.ADMINISTRATOR, "Administrator"),
        (permissions.MANAGE_GUILD, "ManageGuild"),
        (permissions.VIEW_CHANNEL, "ViewChannel"),
        (permissions.SEND_MESSAGES, "SendMessages"),
        (permissions.READ_HISTORY, "ReadMessageHistory"),
        (permissions.CREATE_THREADS, "CreatePublicThreads"),
        (permissions.SEND_IN_THREADS, "SendMessagesInThreads"),
        (permissions.EMBED_LINKS, "EmbedLinks"),
        (permissions.ATTACH_FILES, "AttachFiles"),
    ],
)
def test_permission_bits_are_discords(ours: int, theirs: str) -> None:
    """Those of the stand-in, which the product's own integer is made of."""
    assert enumeration("PermissionFlagsBits")[theirs] == ours


def test_the_invites_integer_is_the_sum_of_seven_named_permissions() -> None:
    """And of nothing else."""
    bits = enumeration("PermissionFlagsBits")
    names = (
        "ViewChannel", "SendMessages", "SendMessagesInThreads", "CreatePublicThreads",
        "EmbedLinks", "AttachFiles", "ReadMessageHistory",
    )  # fmt: skip

    assert sum(bits[name] for name in names) == PERMISSIONS.value


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (gateway.DISPATCH, "Dispatch"),
        (gateway.HEARTBEAT, "Heartbeat"),
        (gateway.IDENTIFY, "Identify"),
        (gateway.RESUME, "Resume"),
        (gateway.RECONNECT, "Reconnect"),
        (gateway.INVALID_SESSION, "InvalidSession"),
        (gateway.HELLO, "Hello"),
        (gateway.HEARTBEAT_ACK, "HeartbeatAck"),
    ],
)
def test_the_stand_ins_gateway_speaks_discords_opcodes(ours: int, theirs: str) -> None:
    """By name."""
    assert enumeration("GatewayOpcodes")[theirs] == ours
