"""Small words in messages for people."""


def counted(number: int, one: str, many: str = "") -> str:
    """``1 page``, ``2 pages``: ``many`` is given where an s does not make the plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"
