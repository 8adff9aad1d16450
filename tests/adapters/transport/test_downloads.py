"""Downloads: bounded, over https, never into a private network, and nothing signed in a message."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from adapters.transport.downloads import Downloader, DownloadLimits, ExpiredError, is_public
from core.errors import NotFoundError, UnavailableError, UnreadableError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """The origin of a server on loopback that answers everything in one way."""
    application = web.Application()
    application.router.add_route("*", "/{tail:.*}", handler)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.9.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1"),
        *("224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1%eth0", "fd00::1"),
        *("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "ff02::1", "2001:db8::1", "no address"),
    ],
)
def test_an_address_that_is_not_on_the_public_internet_is_known(address: str) -> None:
    """Private, reserved, and those that carry another one inside."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_allowed(address: str) -> None:
    """Of either family."""
    assert is_public(address)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://example.com/a.pdf", "not https"),
        ("ftp://example.com/a.pdf", "not https"),
        ("file:///etc/passwd", "not https"),
        ("https://127.0.0.1/a", "public internet"),
        ("https://[::1]/a", "public internet"),
        ("https://169.254.169.254/latest", "public internet"),
        ("https://2130706433/a", "public internet"),
        ("https://127.1/a", "public internet"),
        ("https://0x7f000001/a", "public internet"),
        ("https://user@127.0.0.1/a", "public internet"),
        ("https://[", "no link"),
        ("", "not https"),
    ],
)
async def test_addresses_that_lead_elsewhere_than_the_public_web_are_refused(
    address: str, reason: str
) -> None:
    """Other schemes, and hosts that are numbers in any writing."""
    with pytest.raises(UnreadableError, match=reason):
        await Downloader().fetch(address)


@pytest.mark.parametrize("found", [("10.0.0.1",), ("93.184.215.14", "127.0.0.1"), ()])
async def test_a_name_that_leads_into_a_private_network_is_refused(found: Collection[str]) -> None:
    """Even if another of its addresses is public."""

    async def lookup(_host: str, _port: int) -> Collection[str]:
        return found

    with pytest.raises(UnreadableError, match="public internet"):
        await Downloader(lookup=lookup).fetch("https://files.example.com/a.pdf")


async def test_a_name_that_changes_its_address_is_connected_to_what_was_looked_at() -> None:
    """The second answer of a name server is never asked for (DNS rebinding)."""
    asked = []

    async def lookup(host: str, _port: int) -> Collection[str]:
        asked.append(host)
        return ("93.184.215.14",) if len(asked) > 1 else ("127.0.0.1",)

    async def secret(_: web.Request) -> web.StreamResponse:
        return web.Response(text="inside")

    async with serving(secret) as origin:
        named = origin.replace("127.0.0.1", "rebind.example.com")
        with pytest.raises(UnreadableError, match="public internet"):
            await Downloader(lookup=lookup, allowed_origins=[named]).fetch(f"{named}/a")
    assert asked == ["rebind.example.com"]


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/x", "https://10.0.0.1/x", "file:///etc/passwd"])
async def test_a_redirect_is_held_to_the_same_rules(target: str) -> None:
    """Wherever the first address lies."""

    async def redirect(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": target})

    async with serving(redirect) as origin:
        with pytest.raises(UnreadableError, match=r"not https|public internet"):
            await Downloader(allowed_origins=[origin]).fetch(f"{origin}/a")


async def test_redirects_in_a_circle_end() -> None:
    """After five."""

    async def redirect(_: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/again"})

    async with serving(redirect) as origin:
        with pytest.raises(UnreadableError, match="redirects more than 5 times"):
            await Downloader(allowed_origins=[origin]).fetch(f"{origin}/a")


async def test_a_file_that_is_too_large_is_given_up_whether_it_says_so_or_not() -> None:
    """By its announced length, and by counting."""

    async def announced(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * 2000)

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 1000)

    for handler in (announced, endless):
        async with serving(handler) as origin:
            with pytest.raises(UnreadableError, match="larger than 1500"):
                await Downloader(DownloadLimits(size=1500), allowed_origins=[origin]).fetch(origin)


async def test_packed_answers_are_refused_unread() -> None:
    """They were declined, and could unpack to anything."""

    async def packed(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x", headers={"Content-Encoding": "gzip"})

    async with serving(packed) as origin:
        with pytest.raises(UnreadableError, match="packed"):
            await Downloader(allowed_origins=[origin]).fetch(origin)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (403, ExpiredError),
        (401, ExpiredError),
        (404, NotFoundError),
        (410, NotFoundError),
        (500, UnavailableError),
        (503, UnavailableError),
        (429, UnavailableError),
        (418, UnreadableError),
    ],
)
async def test_what_a_server_answers_decides_whether_it_is_tried_again(
    status: int, error: type[Exception]
) -> None:
    """And no message tells the signed address."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status)

    async with serving(answer) as origin:
        with pytest.raises(error) as raised:
            await Downloader(allowed_origins=[origin]).fetch(f"{origin}/a?X-Amz-Signature=topsecret")
    assert "topsecret" not in str(raised.value)


async def test_a_server_that_says_nothing_costs_bounded_time() -> None:
    """And is worth another try."""

    async def silent(_: web.Request) -> web.StreamResponse:
        raise web.HTTPServiceUnavailable

    async with serving(silent) as origin:
        pass
    with pytest.raises(UnavailableError, match="cannot be reached") as raised:
        await Downloader(DownloadLimits(seconds=0.5), allowed_origins=[origin]).fetch(
            f"{origin}/?s=topsecret"
        )
    assert "topsecret" not in str(raised.value)
