"""Text that must not become structure: no line of it opens a Markdown block."""

import re

_STRUCTURE = re.compile(
    r"""
    (?P<mark>
        \#{1,6}(?=\s|$)                       # heading
      | [-+*](?=\s|$)                         # bullet
      | >                                     # quote
      | `{3,}(?=[^`]*$) | ~~~                  # fence
      | (?:-[ \t]*){2,}$ | (?:\*[ \t]*){3,}$ | (?:_[ \t]*){3,}$   # rule or underline of a heading
      | =+[ \t]*$                             # underline of a heading
      | :?-+:?[ \t]*\|                        # separator of a table
      | \|(?=[ \t]*:?-+:?[ \t]*(?:\||$))
      | \[[^\]]+\]:                           # definition of a link
      | <(?=[A-Za-z/!?])                      # HTML
    )
    | (?P<number>\d{1,9})(?P<dot>[.)])(?=\s|$)  # numbered item
    """,
    re.VERBOSE,
)


_INDENTED_CODE = 4
"""Columns of white space that make a code block of a line."""


def escape_structure(text: str) -> str:
    r"""Text in which no line opens a Markdown block (C17, U17): ``\# x``, ``1\. x``; other text unchanged."""
    return "\n".join(map(_escape_line, text.splitlines()))


def _escape_line(line: str) -> str:
    content = line.lstrip()
    indent = line[: len(line) - len(content)]
    if len(indent.expandtabs(_INDENTED_CODE)) >= _INDENTED_CODE:
        indent = " " * (_INDENTED_CODE - 1)
    match = _STRUCTURE.match(content)
    if match is None:
        return indent + content
    if match["number"]:
        return f"{indent}{match['number']}\\{content[len(match['number']) :]}"
    return f"{indent}\\{content}"
