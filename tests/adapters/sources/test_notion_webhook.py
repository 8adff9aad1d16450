"""Deliveries of Notion's webhook: what is signed is read, what is not is not."""

import pytest

from adapters.sources.notion_webhook import MAX_BODY, MAX_TOKEN, check_delivery, offered_token, sign

TOKEN = "secret_one"
PAGE = "00000000-0000-0000-0000-000000000001"
DEEP = b"[" * 400_000


@pytest.mark.parametrize(
    "forged",
    ["", "sha256=", "sha256=00", "sha1=abc", "ü", sign(b"{}", "another token")],
    ids=["none", "empty", "short", "other hash", "not ascii", "other key"],
)
def test_not17_what_is_not_signed_is_refused(forged: str) -> None:
    """No hint comes of it, whatever it says."""
    body = b'{"id": "1", "type": "page.created", "entity": {"id": "%s"}}' % PAGE.encode()

    signed = check_delivery(body, sign(body, TOKEN), TOKEN)

    assert check_delivery(body, forged, TOKEN) is None
    assert signed is not None
    assert (signed.event, signed.hints) == ("1", (PAGE,))


def test_not17_the_signature_is_over_the_raw_bytes() -> None:
    """Equal JSON in other bytes is another message."""
    body = '{"type":"page.created","name":"Ä"}'.encode()

    assert check_delivery(body, sign(body, TOKEN), TOKEN) is not None
    assert check_delivery(body.replace(b":", b": "), sign(body, TOKEN), TOKEN) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"null", DEEP, b'{"type": "galaxy.created"}'])
def test_not10_odd_bodies_and_unknown_events_are_no_harm(body: bytes) -> None:
    """Signed nonsense and event types of tomorrow tell of no page."""
    delivery = check_delivery(body, sign(body, TOKEN), TOKEN)

    assert delivery is not None
    assert delivery.hints == ()


def test_not17_an_event_id_of_any_length_can_be_kept() -> None:
    """What identifies a delivery is stored in an index, which holds no megabyte."""
    body = b'{"id": "' + b"x" * 900_000 + b'", "type": "page.created"}'
    delivery = check_delivery(body, sign(body, TOKEN), TOKEN)
    assert delivery is not None
    assert len(delivery.event) == 200


def test_not17_a_comment_is_a_hint_only_where_comments_are_read() -> None:
    """It dates no page, so it is a reason to read it."""
    body = b'{"id": "1", "type": "comment.created", "data": {"page_id": "%s"}}' % PAGE.encode()

    read = check_delivery(body, sign(body, TOKEN), TOKEN, comments=True)
    unread = check_delivery(body, sign(body, TOKEN), TOKEN)

    assert read is not None
    assert unread is not None
    assert (read.hints, unread.hints) == ((PAGE,), ())


def test_not17_a_handshake_brings_a_token() -> None:
    """Unsigned, or signed with the very token it brings."""
    body = b'{"verification_token": "secret_one"}'

    assert offered_token(body, "") == TOKEN
    assert offered_token(body, sign(body, TOKEN)) == TOKEN
    assert offered_token(body, sign(body, "secret_two")) is None


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{}", b"null", b"\xff", DEEP, b'{"verification_token": ""}', b'{"verification_token": 5}'),
        b'{"verification_token": "%s"}' % (b"x" * (MAX_TOKEN + 1)),
        b'{"verification_token": "x"}' + b" " * MAX_BODY,
    ],
    ids=range(9),
)
def test_not17_what_anybody_may_send_is_no_handshake(body: bytes) -> None:
    """Nobody has signed it: nonsense of any size and depth is refused quietly."""
    assert offered_token(body, "") is None
