"""Server-sent events, as far as chat completions use them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing


async def data_of(lines: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """The data of each event: its ``data:`` lines joined; comments and other fields are passed over.

    An event ends at an empty line, or with the stream: servers that hang up right behind the last line are
    common, and whether the answer was whole is seen from what that line says.
    """
    data: list[str] = []
    async with aclosing(lines):
        async for line in lines:
            if not line and data:
                yield "\n".join(data)
                data = []
            elif line.startswith("data:"):
                data.append(line.removeprefix("data:").removeprefix(" "))
    if data:
        yield "\n".join(data)
