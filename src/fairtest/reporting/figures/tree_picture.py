"""The tree of contexts as an SVG file of its own, in the page's light colours."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from fairtest.reporting.formats.tables import shortened
from fairtest.reporting.views.tree_views import tree_view

if TYPE_CHECKING:
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.words.numbers import Scale

_WIDTH, _MARGIN, _TOP = 880, 12, 40
_LINE, _ACROSS = 22, 3
"""The height of a line of the legend, and how many colours stand in one."""
_DARK = ("q4", "q5")
"""Colours on which letters are white."""


def tree_picture(report: Report, attribute: AttributeReport, scale: Scale, title: str) -> str:
    """Return the picture with its legend; empty where there is no tree."""
    view, _ = tree_view(report, attribute, scale, "tree")
    if view is None:
        return ""
    inside = _WIDTH - 2 * _MARGIN
    below = _TOP + int(re.findall(r'height="(\d+)"', view["picture"])[0]) + _LINE
    entries = [*view["legend"], ("qn", "not significant"), ("mark", "finding")]
    height = below + _LINE * -(-len(entries) // _ACROSS) + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        ' role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f"<style>{_style()}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="22" font-size="14" font-weight="600">{escape(shortened(title, 110))}</text>',
        f'<svg x="{_MARGIN}" y="{_TOP}" width="{inside}" height="{below - _TOP}">{view["picture"]}</svg>',
    ]
    for place, (colour, words) in enumerate(entries):
        x, y = _MARGIN + place % _ACROSS * inside // _ACROSS, below + _LINE * (place // _ACROSS)
        lines.append(
            f'<g class="ice"><rect class="{colour}" x="{x}" y="{y}" width="14" height="14"/></g>'
            f'<text x="{x + 22}" y="{y + 11}">{escape(words)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


@cache
def _style() -> str:
    """Return what the classes of the picture look like, by the tokens of the page."""
    text = files("fairtest.reporting").joinpath("templates/tokens.css").read_text(encoding="utf-8")
    token = dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", text))
    fills = {name.replace("s", "q", 1): colour for name, colour in token.items() if re.fullmatch(r"[sab]\d", name)}
    rules = [f".{name} {{ fill: {colour}; }}" for name, colour in fills.items()]
    rules += [
        ".ice rect { stroke: #ffffff; }",
        f"text {{ fill: {token['ink']}; }} .ice text {{ font-size: 11px; }}",
        f".ice rect.qn {{ fill: #ffffff; stroke: {token['rule']}; }} .ice .qnt {{ fill: {token['soft']}; }}",
        f".ice rect.mark {{ fill: none; stroke: {token['ink']}; stroke-width: 2; }}",
        ", ".join(f".ice .{name}t" for name in _DARK) + " { fill: #ffffff; }",
    ]
    return " ".join(rules)
