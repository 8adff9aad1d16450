"""Downloads of files whose addresses others chose: bounded, over https, and never into a private network.

Every name is resolved here and the connection goes to the very address that was looked at, so a name that
answers differently the second time (DNS rebinding) leads nowhere else. Redirects are held to the same rules.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from core.domain.files import FileContent
from core.errors import NotFoundError, UnavailableError, UnreadableError

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REFUSED_FOR_NOW = frozenset({408, 425, 429})
_GONE = frozenset({404, 410})
_CHUNK = 65_536

_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))
"""Networks that carry an IPv4 address inside (NAT64, 6to4, Teredo): such an address may be private."""


_NUMBER = re.compile(r"0x[0-9a-f]*|\d+", re.IGNORECASE)
"""The last label of a host that is an IPv4 address in one of its old writings."""


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """``size`` in bytes, ``seconds`` for all of one download, ``redirects`` followed."""

    size: int = 25_000_000
    seconds: float = 120.0
    redirects: int = 5


class ExpiredError(UnreadableError):
    """The address was refused (401, 403): a signed one may have expired."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, whatever else is written into it."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(str(found.ipv4_mapped))
        if any(found in network for network in _TRANSLATED):
            return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


Lookup = Callable[[str, int], Awaitable[Collection[str]]]
"""The IP addresses of a name."""


async def system_lookup(host: str, port: int) -> Collection[str]:
    """The addresses that the system's resolver gives."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class _PrivateAddressError(OSError):
    """A name leads into a private network."""


class _PublicResolver(AbstractResolver):
    """Gives only public addresses; a name that has a private one beside them is refused as a whole."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """As the library asks."""
        del family
        addresses = await self._lookup(host, port)
        if not addresses or not all(map(is_public, addresses)):
            raise _PrivateAddressError("not on the public internet")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


class Downloader:
    """Fetches files.

    ``allowed_origins`` such as ``http://127.0.0.1:8899`` are exempt from the rules for addresses, for tests.
    Names are looked up by the same rules even there.
    """

    def __init__(
        self,
        limits: DownloadLimits | None = None,
        *,
        allowed_origins: Collection[str] = (),
        lookup: Lookup = system_lookup,
    ) -> None:
        self._limits = limits or DownloadLimits()
        self._allowed = frozenset(allowed_origins)
        self._lookup = lookup

    async def fetch(self, address: str) -> FileContent:
        """The file at an address; messages never quote it, since it may be signed.

        Raises:
            ExpiredError: refused with 401 or 403.
            NotFoundError: there is no such file.
            UnreadableError: too large, or not allowed to be fetched.
            UnavailableError: worth another try.
        """
        connector = aiohttp.TCPConnector(resolver=_PublicResolver(self._lookup), use_dns_cache=False)
        timeout = aiohttp.ClientTimeout(total=self._limits.seconds, sock_connect=30, sock_read=30)
        try:
            # No cookies, no proxies, no credentials from files, and no decoding that could blow up.
            async with aiohttp.ClientSession(
                connector=connector,
                timeout=timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers={"Accept-Encoding": "identity"},
            ) as session:
                return await self._follow(session, address)
        except _PrivateAddressError as error:
            raise UnreadableError("its address is not on the public internet") from error
        except aiohttp.InvalidURL as error:
            raise UnreadableError("its address is no link") from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, _PrivateAddressError):
                raise UnreadableError("its address is not on the public internet") from None
            raise UnavailableError("its server cannot be reached") from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnavailableError(f"its download broke off ({type(error).__name__})") from None

    async def _follow(self, session: aiohttp.ClientSession, address: str) -> FileContent:
        for _ in range(self._limits.redirects + 1):
            self._check(address)
            async with session.get(address, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    return await self._body(response)
                address = urljoin(address, response.headers.get("Location", ""))
        raise UnreadableError(f"its address redirects more than {self._limits.redirects} times")

    def _check(self, address: str) -> None:
        try:
            parts = urlsplit(address)
            host, _ = parts.hostname or "", parts.port
        except ValueError as error:
            raise UnreadableError("its address is no link") from error
        if f"{parts.scheme}://{parts.netloc}" in self._allowed:
            return
        if parts.scheme != "https" or not host:
            raise UnreadableError("its address is not https")
        if _is_ip_address(host) and not is_public(host):
            # The library asks no resolver about these.
            raise UnreadableError("its address is not on the public internet")

    async def _body(self, response: aiohttp.ClientResponse) -> FileContent:
        _raise_for(response.status)
        if (response.content_length or 0) > self._limits.size:
            raise UnreadableError(f"is larger than {self._limits.size} bytes")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise UnreadableError("comes packed although that was declined")
        found = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            found += chunk
            if len(found) > self._limits.size:
                raise UnreadableError(f"is larger than {self._limits.size} bytes")
        return FileContent(bytes(found))


def _raise_for(status: int) -> None:
    if status == HTTPStatus.OK:
        return
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise ExpiredError("its server refuses to give it")
    if status in _GONE:
        raise NotFoundError("its server has it no more")
    if status in _REFUSED_FOR_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise UnavailableError(f"its server answered {status}")
    raise UnreadableError(f"its server answered {status}")


def _is_ip_address(host: str) -> bool:
    """Whether a host is a number in any form that a connection would take for an address."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]) is not None
    return True
