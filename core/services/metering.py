"""How many tokens of a chat model an answer has cost, told to whoever asked for it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from core.ports import Generator, Prompt
from core.services.measuring import estimate_tokens


@dataclass(slots=True)
class Spent:
    """Estimated tokens so far; the estimate is the customary quarter of a token a character."""

    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.read + self.written


_CURRENT: ContextVar[Spent | None] = ContextVar("footnote_spent", default=None)


@contextmanager
def metered() -> Iterator[Spent]:
    """Counts what is generated for the block. Work shared by several askers is charged to the first."""
    spent = Spent()
    token = _CURRENT.set(spent)
    try:
        yield spent
    finally:
        _CURRENT.reset(token)


class MeteredGenerator:
    """A chat model whose tokens are counted, those of a draft that fails or is cut short included."""

    def __init__(self, generator: Generator, *, observe: Callable[[int, int], None] | None = None) -> None:
        """``observe`` is told tokens read and written after each draft."""
        self._generator = generator
        self._observe = observe

    @property
    def model(self) -> str:
        """As the model behind."""
        return self._generator.model

    @property
    def context_tokens(self) -> int:
        """As the model behind."""
        return self._generator.context_tokens

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """The answer as it is written.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as the model behind.
        """
        read = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
        pieces: list[str] = []
        stream = self._generator.write(prompt)
        try:
            async for piece in stream:
                pieces.append(piece)
                yield piece
        finally:
            # A stream that is left early must stop the model.
            if (close := getattr(stream, "aclose", None)) is not None:
                await close()
            self._note(read, estimate_tokens("".join(pieces)))

    def _note(self, read: int, written: int) -> None:
        if (spent := _CURRENT.get()) is not None:
            spent.read += read
            spent.written += written
        if self._observe is not None:
            self._observe(read, written)
