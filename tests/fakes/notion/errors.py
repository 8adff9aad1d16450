"""Refusals in the words and codes of Notion."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.notion.richtext import Json


class ApiError(Exception):
    """A refusal: status, code and message as Notion's error object carries them."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: dict[str, str] | None = None,
        additional: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers, self.additional = headers or {}, additional

    def body(self, request_id: str) -> Json:
        """The error object."""
        answer: Json = {
            "object": "error",
            "status": self.status,
            "code": self.code,
            "message": self.message,
            "request_id": request_id,
        }
        if self.additional is not None:
            answer["additional_data"] = self.additional
        return answer


def validation(message: str) -> ApiError:
    """400: something in the request is not as it should be."""
    return ApiError(400, "validation_error", message)


def not_so(place: str, wanted: str, found: Any) -> ApiError:
    """400 for one value, in Notion's wording; ``found`` ``...`` stands for a missing value."""
    shown = "`undefined`" if found is ... else f"`{json.dumps(found, ensure_ascii=False)}`"
    where = place.split(".", 1)[0]
    return validation(f"{where} failed validation: {place} should be {wanted}, instead was {shown}.")


def not_found(kind: str, identifier: str, integration: str) -> ApiError:
    """404: does not exist, or is not shared with the integration; Notion does not say which."""
    return ApiError(
        404,
        "object_not_found",
        f"Could not find {kind} with ID: {identifier}. Make sure the relevant pages and databases "
        f'are shared with your integration "{integration}".',
    )


def wrong_kind(identifier: str, actual: str, wanted: str) -> ApiError:
    """400: the id is that of another kind of object."""
    return validation(
        f"Provided ID {identifier} is a {actual}, not a {wanted}. Use the retrieve {actual} API instead."
    )


def restricted() -> ApiError:
    """403: the integration lacks the capability."""
    return ApiError(403, "restricted_resource", "Insufficient permissions for this endpoint.")
