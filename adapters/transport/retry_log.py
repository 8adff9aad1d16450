"""What the retrying library says by itself: nothing, since whoever gives up after retries tells it once."""

import stamina.instrumentation


def keep_retries_quiet() -> None:
    """For the whole process; without it every retry is a warning that quotes the error again."""
    stamina.instrumentation.set_on_retry_hooks(())
