"""How Discord says no."""

from typing import Any


class DiscordRefusedError(Exception):
    """An HTTP status with ``{"code": …, "message": …}`` and, for invalid forms, where what is wrong."""

    def __init__(self, status: int, code: int, message: str, **errors: str) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"code": code, "message": message}
        if errors:
            self.body["errors"] = {
                field: {"_errors": [{"code": "INVALID", "message": why}]} for field, why in errors.items()
            }


def invalid_form(**errors: str) -> DiscordRefusedError:
    """50035: a field is not as it must be."""
    return DiscordRefusedError(400, 50035, "Invalid Form Body", **errors)


def unauthorized() -> DiscordRefusedError:
    """No token, or a wrong one."""
    return DiscordRefusedError(401, 0, "401: Unauthorized")


def missing_access() -> DiscordRefusedError:
    """50001: the bot cannot see it."""
    return DiscordRefusedError(403, 50001, "Missing Access")


def missing_permissions() -> DiscordRefusedError:
    """50013: the bot sees it, but may not do that."""
    return DiscordRefusedError(403, 50013, "Missing Permissions")


def unknown(what: str, code: int) -> DiscordRefusedError:
    """404: there is none, or not any more."""
    return DiscordRefusedError(404, code, f"Unknown {what}")
