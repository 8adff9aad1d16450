"""The event loop that commands run on."""

import asyncio
import gc


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The loop on libuv, which costs half as much for each wait; Python's own where there is none."""
    try:
        import uvloop
    except ImportError:  # Not built for Windows.
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def settle() -> None:
    """Take all that stays for as long as the process runs out of the garbage collector's sight.

    A full collection walks through every object there is, and everybody waits for it meanwhile.
    """
    gc.collect()
    gc.freeze()
