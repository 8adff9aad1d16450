"""Long text in pieces that each stand alone: no link, fence, spoiler, list item or character is cut. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_FENCE = re.compile(r"^\s*(`{3,})([\w+#.-]*)\s*$")
_ITEM = re.compile(r"^(?:[-*+]|\d+\.) ")
_QUOTE = "> "

_ATOM = re.compile(
    r"(?P<link>!?\[(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*\]\((?:<[^<>\s]*>|[^()\s]*)\))"
    r"|(?P<address><https?:[^<>\s]+>)"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escape>\\.)"
    r"|(?P<spoiler>\|\|(?:[^|\\]|\\.|\|(?!\|))+\|\|)"
    r"|(?P<both>\*\*\*(?:[^*\\]|\\.)+\*\*\*)"
    r"|(?P<bold>\*\*(?:[^*\\]|\\.|\*(?!\*))+\*\*)"
    r"|(?P<strike>~~(?:[^~\\]|\\.|~(?!~))+~~)"
    r"|(?P<italic>(?<![*\w])\*(?:[^*\\\n]|\\.)+\*(?!\*))"
)
_WRAPPED = {"spoiler": "||", "both": "***", "bold": "**", "strike": "~~", "italic": "*"}
_JOINERS = "\u200d\ufe0e\ufe0f"
REMEMBERED = 256
"""Texts whose pieces are kept: what is asked often is answered alike."""

_SMALLEST = 16
"""A piece holds at least so much, however small the limit is asked to be."""


def characters(text: str) -> int:
    """UTF-16 code units: the largest of the ways in which Discord's clients and servers count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int) -> str:
    """As much of the beginning as fits, no character parted."""
    return text if characters(text) <= limit else text[: _whole_character(text, _longest(text, limit))]


@lru_cache(maxsize=REMEMBERED)
def split(text: str, *, limit: int) -> tuple[str, ...]:
    """The text in pieces of at most ``limit`` characters: between blocks, else lines, else words.

    A fence that is cut is closed and opened again with its language; so is a spoiler or bold text that is
    longer than a piece. Nothing is lost but the white space at a cut.
    """
    pieces: list[str] = []
    for block in _blocks(text.split("\n")):
        for part in _parts(block, limit=limit):
            joined = f"{pieces[-1]}{block.gap}{part}" if pieces else part
            if pieces and characters(joined) <= limit:
                pieces[-1] = joined
            else:
                pieces.append(part)
    return tuple(piece for piece in pieces if piece.strip())


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together. ``gap`` parts them from the block before; ``fence`` is an opening line."""

    lines: tuple[str, ...]
    gap: str
    fence: str = ""
    is_closed: bool = True
    is_list: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    held: list[str] = []
    gap, position = "\n", 0
    while position < len(lines):
        opened = _FENCE.match(lines[position])
        if opened:
            if held:
                yield _prose(held, gap)
                held, gap = [], "\n"
            end, is_closed = _end_of_fence(lines, position, opened[1])
            yield _Block(
                lines=tuple(lines[position:end]), gap=gap, fence=lines[position].strip(), is_closed=is_closed
            )
            position, gap = end, "\n"
            continue
        if not lines[position].strip():
            if held:
                yield _prose(held, gap)
                held = []
            gap = "\n\n"
        else:
            held.append(lines[position])
        position += 1
    if held:
        yield _prose(held, gap)


def _prose(lines: Sequence[str], gap: str) -> _Block:
    return _Block(lines=tuple(lines), gap=gap, is_list=_ITEM.match(lines[0]) is not None)


def _end_of_fence(lines: Sequence[str], start: int, ticks: str) -> tuple[int, bool]:
    """The line behind a fence, and whether it is closed: if not, Discord draws all that follows as code."""
    for position in range(start + 1, len(lines)):
        if lines[position].strip() == ticks:
            return position + 1, True
    return len(lines), False


def _parts(block: _Block, *, limit: int) -> Iterator[str]:
    if characters(block.text) <= limit and block.is_closed:
        yield block.text
    elif block.fence:
        ticks = "`" * (len(block.fence) - len(block.fence.lstrip("`")))
        code = block.lines[1:-1] if block.is_closed else block.lines[1:]
        yield from _gathered(code, head=(block.fence,), tail=(ticks,), limit=limit)
    elif block.is_list:
        yield from _gathered(_items(block.lines), head=(), tail=(), limit=limit)
    else:
        yield from _gathered(block.lines, head=(), tail=(), limit=limit)


def _items(lines: Sequence[str]) -> tuple[str, ...]:
    """The outermost items of a list, each with the lines that belong to it."""
    items: list[str] = []
    for line in lines:
        if items and not _ITEM.match(line):
            items[-1] += f"\n{line}"
        else:
            items.append(line)
    return tuple(items)


def _gathered(lines: Sequence[str], *, head: Sequence[str], tail: Sequence[str], limit: int) -> Iterator[str]:
    frame = characters("\n".join(["", *head, *tail, ""])) if head or tail else 0
    room = max(limit - frame, _SMALLEST)
    held: list[str] = []
    for line in lines:
        for part in _fitting(line, room=room, is_code=bool(head)):
            if held and characters("\n".join([*held, part])) > room:
                yield "\n".join([*head, *held, *tail])
                held = []
            held.append(part)
    if held or head:
        yield "\n".join([*head, *held, *tail])


def _fitting(line: str, *, room: int, is_code: bool) -> Iterator[str]:
    if characters(line) <= room:
        yield line
    elif is_code:
        yield from _code_line(line, room=room)
    elif "\n" in line:
        for single in line.split("\n"):
            yield from _fitting(single, room=room, is_code=False)
    else:
        quote = _QUOTE if line.startswith(_QUOTE) else ""
        for part in split_line(line.removeprefix(quote), limit=room - len(quote)):
            yield f"{quote}{part}"


def _code_line(line: str, *, room: int) -> Iterator[str]:
    while characters(line) > room:
        cut = _whole_character(line, _longest(line, room))
        yield line[:cut]
        line = line[cut:]
    yield line


def split_line(line: str, *, limit: int) -> Iterator[str]:
    """One line in pieces, cut at spaces, and never inside a link, code, spoiler or composed character."""
    rest = line
    while characters(rest) > limit:
        opening = _wrapped_at_start(rest, limit=limit)
        if opening is not None:
            mark, body, rest = opening
            inner = tuple(split_line(body, limit=limit - 2 * len(mark)))
            yield from (f"{mark}{part}{mark}" for part in inner)
            rest = rest.lstrip()
            continue
        cut = _cut(rest, limit=limit)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _wrapped_at_start(text: str, *, limit: int) -> tuple[str, str, str] | None:
    """A spoiler, code span or the like at the very start that fits into no piece: its mark, body and rest."""
    match = _ATOM.match(text)
    if match is None or characters(match.group()) <= limit:
        return None
    mark = match["ticks"] or _WRAPPED.get(match.lastgroup or "", "")
    if not mark or limit <= 2 * len(mark) + _SMALLEST:
        return None
    whole = match.group()
    return mark, whole[len(mark) : -len(mark)], text[match.end() :]


def _longest(text: str, limit: int) -> int:
    """How many code points of the text fit, at least one."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if characters(text[:middle]) <= limit else (low, middle - 1)
    return max(low, 1)


def _cut(text: str, *, limit: int) -> int:
    """Where to cut: the last space that fits and is in no atom, else before the atom, else anywhere."""
    most = _longest(text, limit)
    spans = [match.span() for match in _ATOM.finditer(text) if match.start() < most]
    for position in range(most, most // 2, -1):
        if text[position - 1].isspace() and _inside(position, spans) is None:
            return position
    if (inside := _inside(most, spans)) is not None and inside[0] > 0:
        return inside[0]
    return _whole_character(text, most)


def _inside(position: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    return next((span for span in spans if span[0] < position < span[1]), None)


def _whole_character(text: str, position: int) -> int:
    """A cut that parts no letter from its accent, and no emoji from its other half."""
    whole = position
    while whole > 1 and _is_joined(text, whole):
        whole -= 1
    return whole if whole > 1 else position


def _is_joined(text: str, position: int) -> bool:
    if position >= len(text):
        return False
    after, before = text[position], text[position - 1]
    return unicodedata.combining(after) > 0 or after in _JOINERS or before in ("\u200d", "\\")
