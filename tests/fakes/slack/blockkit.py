"""Block Kit as Slack checks it: known types, needed fields, lengths."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fakes.slack.refusals import SlackRefusedError

MAX_BLOCKS, MAX_VIEW_BLOCKS = 50, 100
MAX_SECTION, MAX_CONTEXT, MAX_HEADER, MAX_MARKDOWN = 3_000, 3_000, 150, 12_000
MAX_ALL_BLOCKS = 13_200
"""Characters over all blocks of a message, as others measured it."""

_CONTROL = re.compile(r"<[!@#][^>]*>")

Json = Mapping[str, Any]


class _ProblemError(Exception):
    """What is wrong, with a path."""


def check_blocks(blocks: object, *, most: int = MAX_BLOCKS) -> list[dict[str, Any]]:
    """The blocks, if Slack would take them.

    Raises:
        SlackRefusedError: ``invalid_blocks_format``, ``invalid_blocks`` or ``msg_blocks_too_long``.
    """
    if not isinstance(blocks, list):
        raise SlackRefusedError("invalid_blocks_format")
    try:
        if len(blocks) > most:
            raise _ProblemError(f"no more than {most} items allowed [json-pointer:/blocks]")
        for number, block in enumerate(blocks):
            _check_block(block, f"/blocks/{number}")
        ids = [block["block_id"] for block in blocks if "block_id" in block]
        if len(ids) != len(set(ids)):
            raise _ProblemError("block_id must be unique [json-pointer:/blocks]")
    except _ProblemError as problem:
        raise SlackRefusedError(
            "invalid_blocks", errors=[str(problem)], response_metadata={"messages": [f"[ERROR] {problem}"]}
        ) from None
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MAX_MARKDOWN or sum(len(text) for text in texts_of(blocks)) > MAX_ALL_BLOCKS:
        raise SlackRefusedError("msg_blocks_too_long")
    return list(blocks)


def check_view(view: object) -> dict[str, Any]:
    """The view, if Slack would take it.

    Raises:
        SlackRefusedError: ``invalid_arguments`` or what `check_blocks` raises.
    """
    if not isinstance(view, dict) or view.get("type") not in ("home", "modal"):
        raise SlackRefusedError("invalid_arguments", response_metadata={"messages": ["[ERROR] invalid view"]})
    allowed = {"type", "blocks", "private_metadata", "callback_id", "external_id"}
    if view["type"] == "modal":
        allowed |= {"title", "submit", "close", "clear_on_close", "notify_on_close", "submit_disabled"}
    problems = [f"[ERROR] unknown field {name}" for name in sorted(set(view) - allowed)]
    try:
        if view["type"] == "modal":
            _plain(view.get("title"), "/title", most=24)
            for name in ("submit", "close"):
                if name in view:
                    _plain(view[name], f"/{name}", most=24)
            if "submit" not in view and any(block["type"] == "input" for block in view["blocks"]):
                raise _ProblemError("a modal with inputs needs submit [json-pointer:/submit]")
        if len(view.get("private_metadata", "")) > 3_000:
            raise _ProblemError("must be less than 3001 characters [json-pointer:/private_metadata]")
    except _ProblemError as problem:
        problems.append(f"[ERROR] {problem}")
    if problems:
        raise SlackRefusedError("invalid_arguments", response_metadata={"messages": problems})
    check_blocks(view.get("blocks"), most=MAX_VIEW_BLOCKS)
    return view


def texts_of(blocks: Sequence[Json]) -> list[str]:
    """All texts that the blocks show."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in ("text", "alt_text") and isinstance(inner, str):
                    found.append(inner)
                else:
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(list(blocks))
    return found


def control_tokens(texts: Sequence[str]) -> list[str]:
    """What would ping or link somebody: ``<!…>``, ``<@…>``, ``<#…>``."""
    return [token for text in texts for token in _CONTROL.findall(text)]


def _check_block(block: object, path: str) -> None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise _ProblemError(f"missing required field: type [json-pointer:{path}]")
    check = _CHECKS.get(block["type"])
    if check is None:
        raise _ProblemError(f"unsupported type: {block['type']} [json-pointer:{path}/type]")
    if len(block.get("block_id", "")) > 255:
        raise _ProblemError(f"must be less than 256 characters [json-pointer:{path}/block_id]")
    check(block, path)


def _fields(value: Json, path: str, *, needed: str, optional: str = "") -> None:
    wanted = set(needed.split()) | {"type"}
    for name in wanted - set(value):
        raise _ProblemError(f"missing required field: {name} [json-pointer:{path}]")
    for name in set(value) - wanted - set(optional.split()) - {"block_id"}:
        raise _ProblemError(f"additional property not allowed: {name} [json-pointer:{path}]")


def _text(value: object, path: str, *, most: int, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")) -> None:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        raise _ProblemError(f"must be a text object of {' or '.join(kinds)} [json-pointer:{path}]")
    optional = "emoji" if value["type"] == "plain_text" else "verbatim"
    _fields(value, path, needed="text", optional=optional)
    if not isinstance(value["text"], str) or not 1 <= len(value["text"]) <= most:
        raise _ProblemError(f"must be 1 to {most} characters [json-pointer:{path}/text]")


def _plain(value: object, path: str, *, most: int) -> None:
    _text(value, path, most=most, kinds=("plain_text",))


def _section(block: Json, path: str) -> None:
    _fields(block, path, needed="", optional="text fields accessory expand")
    if "text" not in block and "fields" not in block:
        raise _ProblemError(f"must have text or fields [json-pointer:{path}]")
    if "text" in block:
        _text(block["text"], f"{path}/text", most=MAX_SECTION)
    for number, one in enumerate(block.get("fields", [])):
        if number >= 10:
            raise _ProblemError(f"no more than 10 items allowed [json-pointer:{path}/fields]")
        _text(one, f"{path}/fields/{number}", most=2_000)


def _context(block: Json, path: str) -> None:
    _fields(block, path, needed="elements")
    if not 1 <= len(block["elements"]) <= 10:
        raise _ProblemError(f"1 to 10 items allowed [json-pointer:{path}/elements]")
    for number, element in enumerate(block["elements"]):
        if element.get("type") == "image":
            _fields(element, path, needed="image_url alt_text")
        else:
            _text(element, f"{path}/elements/{number}", most=MAX_CONTEXT)


def _markdown(block: Json, path: str) -> None:
    _fields(block, path, needed="text")
    if not isinstance(block["text"], str) or not 1 <= len(block["text"]) <= MAX_MARKDOWN:
        raise _ProblemError(f"must be 1 to {MAX_MARKDOWN} characters [json-pointer:{path}/text]")


def _header(block: Json, path: str) -> None:
    _fields(block, path, needed="text", optional="level")
    _plain(block["text"], f"{path}/text", most=MAX_HEADER)


def _divider(block: Json, path: str) -> None:
    _fields(block, path, needed="")


def _image(block: Json, path: str) -> None:
    _fields(block, path, needed="alt_text", optional="image_url slack_file title")
    if ("image_url" in block) == ("slack_file" in block):
        raise _ProblemError(f"needs image_url or slack_file [json-pointer:{path}]")
    if not 1 <= len(block["alt_text"]) <= 2_000:
        raise _ProblemError(f"must be 1 to 2000 characters [json-pointer:{path}/alt_text]")


def _actions(block: Json, path: str) -> None:
    _fields(block, path, needed="elements")
    if not 1 <= len(block["elements"]) <= 25:
        raise _ProblemError(f"1 to 25 items allowed [json-pointer:{path}/elements]")
    seen: set[str] = set()
    for number, element in enumerate(block["elements"]):
        _button(element, f"{path}/elements/{number}")
        if element.get("action_id") in seen:
            raise _ProblemError(f"action_id must be unique [json-pointer:{path}/elements/{number}]")
        seen.add(element.get("action_id", ""))


def _button(element: Json, path: str) -> None:
    if element.get("type") != "button":
        raise _ProblemError(f"unsupported element: {element.get('type')} [json-pointer:{path}/type]")
    _fields(element, path, needed="text", optional="action_id value url style confirm accessibility_label")
    _plain(element["text"], f"{path}/text", most=75)
    if len(element.get("value", "x")) > 2_000 or len(element.get("action_id", "")) > 255:
        raise _ProblemError(f"value or action_id is too long [json-pointer:{path}]")
    if element.get("style", "primary") not in ("primary", "danger"):
        raise _ProblemError(f"unsupported style [json-pointer:{path}/style]")


def _context_actions(block: Json, path: str) -> None:
    _fields(block, path, needed="elements")
    if not 1 <= len(block["elements"]) <= 5:
        raise _ProblemError(f"1 to 5 items allowed [json-pointer:{path}/elements]")
    for number, element in enumerate(block["elements"]):
        place = f"{path}/elements/{number}"
        if element.get("type") != "feedback_buttons":
            raise _ProblemError(f"unsupported element: {element.get('type')} [json-pointer:{place}/type]")
        _fields(element, place, needed="positive_button negative_button", optional="action_id")
        for side in ("positive_button", "negative_button"):
            given = element[side]
            wrong = set(given) - {"text", "value", "accessibility_label"}
            if wrong or not 1 <= len(given.get("value", "")) <= 2_000:
                raise _ProblemError(f"bad button [json-pointer:{place}/{side}]")
            _plain(given.get("text"), f"{place}/{side}/text", most=75)
            if len(given.get("accessibility_label", "")) > 75:
                raise _ProblemError(f"must be less than 76 characters [json-pointer:{place}/{side}]")


def _input(block: Json, path: str) -> None:
    _fields(block, path, needed="label element", optional="optional hint dispatch_action")
    _plain(block["label"], f"{path}/label", most=2_000)
    if block["element"].get("type") != "plain_text_input":
        raise _ProblemError(f"unsupported element [json-pointer:{path}/element]")
    _fields(
        block["element"],
        path,
        needed="",
        optional="action_id multiline max_length min_length placeholder initial_value",
    )


_CHECKS: Mapping[str, Callable[[Json, str], None]] = {
    "section": _section,
    "context": _context,
    "markdown": _markdown,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "actions": _actions,
    "context_actions": _context_actions,
    "input": _input,
}
