"""The report as one HTML page with plots, readable without any other file."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bot.evaluation.metrics import REPORTED

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: .2rem .6rem; text-align: right }
th:first-child, td:first-child { text-align: left } tr:nth-child(even) { background: #f4f4f4 }
svg text { font: 12px system-ui, sans-serif; fill: #222 }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd } tr:nth-child(even) { background: #222 } svg text { fill: #ddd }
}
"""
_BAR, _GAP, _LEFT, _WIDTH = 18, 8, 230, 480
_SHADES = ("#3b6fb6", "#d98032", "#4e9a57", "#8a5fb0")
_CURVE = 320


def html_report(report: Mapping[str, Any], *, title: str) -> str:
    """The document of ``footnote eval --json`` for people."""
    groups = {"all": report["metrics"], **report["by_language"], **report["by_language_pair"]}
    parts = [
        f"<h1>{escape(title)}</h1>",
        _table(groups),
        "<h2>Ranking (nDCG@10) by group</h2>",
        _bars({name: (group["ndcg@10"], None) for name, group in groups.items() if "ndcg@10" in group}),
    ]
    if stages := report.get("ablation"):
        parts += [
            "<h2>Stages (nDCG@10 with 95 % intervals)</h2>",
            _bars(
                {
                    row["stage"]: (row["metrics"]["ndcg@10"], row["intervals"]["ndcg@10"])
                    for row in stages
                    if row["metrics"]
                }
            ),
            _table({row["stage"]: row["metrics"] for row in stages}),
        ]
    parts += [
        "<h2>Refusing (unanswerable refused against answerable refused)</h2>",
        _curve(report["questions"]),
    ]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def _table(groups: Mapping[str, Mapping[str, Any]]) -> str:
    with_refusals = any(group.get("refusals") for group in groups.values())
    names = [*REPORTED, *(("right", "false", "auc") if with_refusals else ())]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    rows = [
        f"<tr><td>{escape(name)}</td>{''.join(_cell(_figure(group, metric)) for metric in names)}</tr>"
        for name, group in groups.items()
    ]
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _figure(group: Mapping[str, Any], name: str) -> float | None:
    value: float | None = group.get(name, (group.get("refusals") or {}).get(name))
    return value


def _cell(value: float | None) -> str:
    return f"<td>{'' if value is None else format(value, '.3f')}</td>"


def _bars(values: Mapping[str, tuple[float, Sequence[float] | None]]) -> str:
    height = len(values) * (_BAR + _GAP)
    drawn = []
    for place, (name, (value, interval)) in enumerate(values.items()):
        top = place * (_BAR + _GAP)
        middle = top + _BAR / 2
        drawn.append(
            f'<text x="{_LEFT - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{_LEFT}" y="{top}" width="{value * _WIDTH:.1f}" height="{_BAR}" fill="{_SHADES[0]}"/>'
            f'<text x="{_LEFT + _WIDTH + 8}" y="{middle + 4}">{value:.3f}</text>'
        )
        if interval:
            low, high = (_LEFT + end * _WIDTH for end in interval)
            drawn.append(
                f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{_SHADES[1]}" '
                'stroke-width="3"/>'
            )
    return f'<svg width="{_LEFT + _WIDTH + 60}" height="{height}">{"".join(drawn)}</svg>'


def _curve(questions: Sequence[Mapping[str, Any]]) -> str:
    """One point for each threshold, and the one in force."""
    lines: list[str] = []
    languages = sorted({one["lang"] for one in questions})
    for shade, language in zip(_SHADES, languages, strict=False):
        own = [one for one in questions if one["lang"] == language]
        yes = [one["confidence"] for one in own if one["answerable"]]
        no = [one["confidence"] for one in own if not one["answerable"]]
        if not yes or not no:
            continue
        points = [
            (sum(value < at for value in yes) / len(yes), sum(value < at for value in no) / len(no))
            for at in sorted({0.0, 2.0, *yes, *no})
        ]
        path = " ".join(f"{x * _CURVE:.1f},{(1 - y) * _CURVE:.1f}" for x, y in points)
        place = 20 + 18 * len(lines)
        lines.append(
            f'<polyline points="{path}" fill="none" stroke="{shade}" stroke-width="2"/>'
            f'<text x="{_CURVE + 12}" y="{place}" style="fill:{shade}">{escape(language or "unknown")}</text>'
        )
    if not lines:
        return "<p>The set lacks questions with or without an answer.</p>"
    frame = f'<rect width="{_CURVE}" height="{_CURVE}" fill="none" stroke="#888"/>'
    return f'<svg width="{_CURVE + 100}" height="{_CURVE + 4}">{frame}{"".join(lines)}</svg>'
