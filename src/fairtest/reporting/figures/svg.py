"""Marks as SVG, drawn once for pages and for files.

A :class:`Pen` makes the difference. On a page x is in per cent and y in pixels, so that a figure stretches and its text
does not, and colours come from the classes of the page's style. In a file x is in pixels and colours are fixed. Marks
are hidden from screen readers: their numbers stand as text in the same row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from fairtest.reporting.figures.marks import mark_box
from fairtest.reporting.figures.palette import LIGHT, WHITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.model.finding import Group
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.marks import BoxMark, IntervalMark

FOREST, ROW = 35, 32
"""The heights on a page of a row of a forest and of a row of a table."""
_ARROWS = ((0, "M-7 0 0 -6 0 6Z"), (100, "M7 0 0 -6 0 6Z"))
_SHAPES = {
    "whole": '<path{style} d="M0 -7 7 0 0 7 -7 0Z"/>',
    "b": '<rect{style} x="-5" y="-5" width="10" height="10"/>',
}
"""The marks that are no round dots."""


@dataclass(frozen=True)
class Pen:
    """How marks are written: where a place in per cent stands, and the attributes of a kind of mark."""

    across: Callable[[float], str]
    style: Callable[[str], str]


# On a page ----------------------------------------------------------------------------------------------------------

_CLASSES = {
    **{f"line of {look}": "ci" for look in ("whole", "clear", "unclear")},
    "whole": "dot",
    "clear": "dot",
    "unclear": "hollow",
    **{f"line of {group}": f"band k-{group}" for group in "abo"},
    **{group: f"g-{group}" for group in "abo"},
}
PAGE = Pen(lambda at: f"{at:g}%", lambda kind: f' class="{_CLASSES.get(kind, kind)}"')


def on_page(height: float, *marks: str) -> Markup:
    """Return marks as a picture within a page."""
    return Markup(f'<svg aria-hidden="true" height="{height:g}">{"".join(marks)}</svg>')


def interval_on_page(mark: IntervalMark | None, look: str, height: float = ROW) -> Markup:
    """Return an estimate with its interval for a row of a page; nothing where there is none."""
    return Markup("") if mark is None else on_page(height, draw_interval(mark, look, height, PAGE))


def box_on_page(group: Group, axis: Axis) -> Markup:
    """Return the box plot of a group and its mean for a row of a page."""
    box = mark_box(group, axis)
    mean = "" if group.mean is None else _dot(axis.at(group.mean), "clear", ROW / 2, PAGE, radius=4.5)
    return on_page(ROW, "" if box is None else draw_box(box, ROW, PAGE), mean)


# In a file ----------------------------------------------------------------------------------------------------------

_COLOURS = {
    "whole": "ink", "clear": "strength", "unclear": "strength", "arrow": "strength",
    "a": "group-a", "b": "group-b", "o": "other",
}  # fmt: skip
_FIXED = {
    **{kind: f' fill="{LIGHT[name]}"' for kind, name in _COLOURS.items()},
    **{
        f"line of {kind}": f' stroke="{LIGHT[name]}" stroke-width="3" stroke-opacity="0.4"'
        for kind, name in _COLOURS.items()
    },
    "whisker": f' stroke="{LIGHT["group-a"]}"',
    "iqr": f' fill="{WHITE}" stroke="{LIGHT["group-a"]}"',
    "median": f' stroke="{LIGHT["group-a"]}" stroke-width="3"',
}


def file_pen(width: float) -> Pen:
    """Return the pen of a file whose plot is so many pixels wide."""
    return Pen(lambda at: f"{round(width * at / 100, 1):g}", _FIXED.__getitem__)


# Marks --------------------------------------------------------------------------------------------------------------


def draw_interval(mark: IntervalMark, look: str, height: float, pen: Pen) -> str:
    """Return an estimate with its interval; what the mark looks like is said by a row of a :mod:`plot <.plots>`."""
    y = height / 2
    ends = zip((mark.leaves_left, mark.leaves_right), _ARROWS, strict=True)
    arrows = [_at(at, y, f'<path{pen.style("arrow")} d="{path}"/>', pen) for leaves, (at, path) in ends if leaves]
    return "".join((_across(f"line of {look}", mark.low, mark.high, y, pen), *arrows, _dot(mark.dot, look, y, pen)))


def _dot(at: float, look: str, y: float, pen: Pen, radius: float = 5.5) -> str:
    if look in _SHAPES:
        return _at(at, y, _SHAPES[look].format(style=pen.style(look)), pen)
    return f'<circle{pen.style(look)} cx="{pen.across(at)}" cy="{y:g}" r="{radius:g}"/>'


def _across(kind: str, start: float, end: float, y: float, pen: Pen) -> str:
    return f'<line{pen.style(kind)} x1="{pen.across(start)}" x2="{pen.across(end)}" y1="{y:g}" y2="{y:g}"/>'


def _at(at: float, y: float, shape: str, pen: Pen) -> str:
    """Return a shape of a fixed size around a place."""
    return f'<svg x="{pen.across(at)}" y="{y:g}" overflow="visible">{shape}</svg>'


def draw_box(box: BoxMark, height: float, pen: Pen) -> str:
    """Return a box plot lying down, without its mean."""
    y, width = height / 2, max(round(box.q3 - box.q1, 2), 0)
    median = pen.across(box.median)
    return (
        f"{_across('whisker', box.low, box.high, y, pen)}"
        f'<rect{pen.style("iqr")} x="{pen.across(box.q1)}" width="{pen.across(width)}" y="{y - 8:g}" height="16"/>'
        f'<line{pen.style("median")} x1="{median}" x2="{median}" y1="{y - 8:g}" y2="{y + 8:g}"/>'
    )
