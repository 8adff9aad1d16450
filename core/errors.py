"""Everything Footnote raises.

FootnoteError
├── TemporaryError            worth trying again
│   ├── RateLimitedError      ... after ``retry_after`` seconds
│   └── UnavailableError      the other side is down, slow or talking nonsense
│       └── IncompleteListingError ... for some of a listing's objects, which it names
└── PermanentError            will fail again until somebody changes something
    ├── InvalidInputError     what was given cannot be used; says what would be
    ├── ConfigurationError    a setting is missing or wrong
    ├── RefusedError          credentials were refused
    ├── NotFoundError         the object does not exist, or is not shared with us
    ├── UnreadableError       this one object cannot be had, though it may exist: no proof of its absence
    ├── IndexMismatchError    the index was built in another way than is configured
    └── SchemaError           the database's schema is not the one this version needs

Adapters translate foreign exceptions into these and chain them with ``from``.
Messages say what was wanted, what was found, and what to do next; they hold no secret and no page text.
"""

from core.domain.documents import PageRef


class FootnoteError(Exception):
    """Something failed."""


class TemporaryError(FootnoteError):
    """Worth trying again."""


class RateLimitedError(TemporaryError):
    """The other side asks us to wait ``retry_after`` seconds; null where it did not say."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(TemporaryError):
    """The other side is down, slow, or answered something that is no answer."""


class IncompleteListingError(UnavailableError):
    """A listing lacks something; ``objects`` are those of it that are known, each with a reason."""

    def __init__(self, message: str, *, objects: tuple[tuple[PageRef, str], ...] = ()) -> None:
        super().__init__(message)
        self.objects = objects


class PermanentError(FootnoteError):
    """Will fail again until somebody changes something."""


class InvalidInputError(PermanentError):
    """What was given cannot be used."""


class ConfigurationError(PermanentError):
    """A setting is missing or wrong."""


class RefusedError(PermanentError):
    """Credentials were refused (401, 402, 403): more calls with them are doomed."""


class NotFoundError(PermanentError):
    """The object does not exist, or is not shared with us."""


class UnreadableError(PermanentError):
    """This one object cannot be had, though it may exist: forbidden to us, or of a kind nobody serves."""


class IndexMismatchError(PermanentError):
    """The index was built with another model or chunker than is configured."""


class SchemaError(PermanentError):
    """The database's schema is not the one this version needs."""


TROUBLE_OF_THE_INDEX = (TemporaryError, RefusedError, ConfigurationError, SchemaError, IndexMismatchError)
"""What the index raises for a reason that is not in what it was given: the next page would fare no better."""
