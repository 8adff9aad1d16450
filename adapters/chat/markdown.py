"""Outcomes as CommonMark: numbered links in the text, and under it a compact list of sources. Pure.

For the console, for ``--json`` and as the pattern for renderers of platforms with a Markdown of their own.
"""

import re
from typing import assert_never
from urllib.parse import quote

from core.domain.answers import Answer, Citation, NoAnswer, Outcome, Span
from core.domain.documents import UNTITLED
from core.domain.phrases import Phrase, no_answer_text, phrase

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!(){}$^=])")
_LINE_START = re.compile(r"^(\d+)([.)])|^([-+])")
_KEPT_IN_URLS = "%:/?#@!$&'*+,;=~-._[]"
"""Everything a URL may hold except parentheses, which would end a link."""


def render(outcome: Outcome) -> str:
    """The whole reply."""
    match outcome:
        case Answer():
            parts = [render_text(outcome), render_sources(outcome)]
            if outcome.degraded:
                parts.insert(1, f"*{phrase(Phrase.DEGRADED, outcome.language)}*")
            return "\n\n".join(part for part in parts if part)
        case NoAnswer():
            return no_answer_text(outcome.reason, outcome.language, wait=outcome.wait)
        case _:
            assert_never(outcome)


def render_text(answer: Answer, *, mark: str = "{}") -> str:
    """The text with a link at each place that rests on a source: ``[1](https://...)``.

    ``mark`` is how the number is written, such as ``[{}]`` where a bare one could be taken for text.
    """
    urls = {citation.number: citation.url for citation in answer.citations}
    return "".join(_span(span, urls, mark) for span in answer.spans).strip()


def render_sources(answer: Answer) -> str:
    """One line a source: its number, title and section as a link, and when the page was last edited."""
    if not answer.citations:
        return ""
    lines = [f"**{phrase(Phrase.SOURCES, answer.language)}**", ""]
    lines += [_source(citation, answer.language) for citation in answer.citations]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Text that shows as it is wherever it stands: no link, no emphasis, no HTML, no table cell."""
    one_line = " ".join(text.split())
    return _LINE_START.sub(_escaped_start, _SPECIAL.sub(r"\\\1", one_line))


def link(words: str, url: str) -> str:
    """A link, or the words alone where the address is none of the web."""
    target = quote(url.strip(), safe=_KEPT_IN_URLS)
    if not target.lower().startswith(("https://", "http://")):
        return escape(words)
    return f"[{escape(words)}]({target})"


def _span(span: Span, urls: dict[int, str], mark: str) -> str:
    marks = " ".join(link(mark.format(number), urls[number]) for number in span.cites)
    if not marks:
        return span.text
    # Behind code or a table the marks start a line of their own.
    gap = "" if not span.text or span.text[-1].isspace() else " "
    return f"{span.text}{gap}{marks}"


def source_name(citation: Citation) -> str:
    """Title and section, as plain text."""
    title = citation.title.strip() or UNTITLED
    return f"{title} › {citation.heading}" if citation.heading else title


def source_age(citation: Citation, language: str) -> str:
    """When the page was last edited, in brackets; empty if nobody knows."""
    edited = citation.last_edited
    return f"({phrase(Phrase.LAST_EDITED, language)} {edited:%Y-%m-%d})" if edited else ""


def _source(citation: Citation, language: str) -> str:
    when = source_age(citation, language)
    return f"{citation.number}. {link(source_name(citation), citation.url)}{f' {when}' if when else ''}"


def _escaped_start(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}"
