"""A thread of its own for a model in this process: the loop goes on while it computes, and never waits for
ever.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

from core.errors import UnavailableError

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


class ModelThread:
    """Runs one call after the other. Close it to end the thread.

    A model uses every core in each call, so calls beside one another would only slow each other; and a slow
    one that nobody waits for any longer keeps no other work waiting.
    """

    def __init__(self, name: str, *, seconds: float) -> None:
        """``name`` is the model's, for people; a call that takes longer than ``seconds`` is a hang."""
        self._name, self._seconds = name, seconds
        self._is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, work: Callable[[*Given], Result], *given: *Given) -> Result:
        """What ``work`` makes of what it is given.

        Raises:
            UnavailableError: it hangs, or the thread was closed.
        """
        if self._is_closed:
            raise UnavailableError(f"{self._name} is closed: nothing more can be asked of it")
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                return await loop.run_in_executor(self._thread, work, *given)
        except TimeoutError as error:
            raise UnavailableError(f"{self._name} was not done after {self._seconds:.0f} s") from error

    def close(self) -> None:
        """End the thread once it finished what it is doing."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
