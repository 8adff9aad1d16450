"""``python -m bot`` and the ``footnote`` command."""

from bot.cli import main

if __name__ == "__main__":
    main()
