"""What to do about a platform that could not be asked, told from one that refused us."""

from core.errors import TemporaryError

OUT_OF_REACH = "look at the network and its proxies, then run footnote check again: the token was not judged"


def remedy(error: Exception, *, if_refused: str) -> str:
    """``if_refused``, unless the platform never said a word about the token."""
    return OUT_OF_REACH if isinstance(error, TemporaryError) else if_refused
