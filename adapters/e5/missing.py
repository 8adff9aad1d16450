"""What is said when a package is not there."""

from core.errors import ConfigurationError


class MissingPackageError(ConfigurationError):
    """A package that the built-in model needs. Whoever runs the model adds what to set instead."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the built-in model needs {package}: run pip install 'footnote-bot[embedded]'")
