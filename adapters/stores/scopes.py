"""An audience as a condition on the page's live path."""

from core.domain.audiences import Audience, Scope


class Parameters:
    """Numbers the parameters of a statement as they are added."""

    def __init__(self, *values: object) -> None:
        self.values: list[object] = list(values)

    def add(self, value: object, type_name: str) -> str:
        """The placeholder of a further value, with its type."""
        self.values.append(value)
        return f"${len(self.values)}::{type_name}"


def visible(audience: Audience, parameters: Parameters) -> str:
    """A condition over ``page.path`` that holds for what the audience may see; fails closed.

    Every group must admit the page through one of its scopes at least (`Audience.admits`).
    """
    if audience.is_empty:
        return "FALSE"
    groups = [
        "(" + " OR ".join(_admits(scope, parameters) for scope in group) + ")"
        for group in audience.groups
        if not any(scope.include is None and not scope.exclude for scope in group)
    ]
    return " AND ".join(groups) if groups else "TRUE"


def _admits(scope: Scope, parameters: Parameters) -> str:
    conditions = []
    if scope.include is not None:
        conditions.append(f"page.path && {parameters.add(sorted(scope.include), 'uuid[]')}")
    if scope.exclude:
        conditions.append(f"NOT page.path && {parameters.add(sorted(scope.exclude), 'uuid[]')}")
    return "(" + (" AND ".join(conditions) or "TRUE") + ")"
