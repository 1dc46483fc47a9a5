"""Marks as SVG, drawn once for pages and for files.

A :class:`Pen` makes the difference. On a page x is in per cent and y in pixels, so that a figure stretches and its text
does not, and colours come from the classes of the page's style. In a file x is in pixels and colours are fixed. Marks
are hidden from screen readers: their numbers stand as text in the same row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from fairtest.reporting.figures.marks import mark_box
from fairtest.reporting.figures.palette import LIGHT, WHITE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.model.finding import Group
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.marks import BoxMark, IntervalMark, Segment, StandingBox

FOREST, ROW, TALL = 35, 32, 240
"""The heights on a page of a row of a forest, of a row of a table, and of boxes side by side."""
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


def axis_marks(axis: Axis) -> Markup:
    """Return the labels of an axis; those in the middle make way on a narrow screen."""
    ticks = "".join(
        f'<text{" class=mid" if tick.middle else ""} x="{tick.at:g}%" y="12" text-anchor="middle">'
        f"{escape(tick.label)}</text>"
        for tick in axis.ticks
    )
    return Markup(f'<svg class="axis" aria-hidden="true">{ticks}</svg>')


def axis_style(axis: Axis, reference: float | None = None) -> Markup:
    """Return where the cells of a plot have their grid, no link, and the line of everybody, for their background."""
    lines = {"steps": f"{len(axis.ticks) - 1}"}
    lines |= {} if axis.zero is None else {"zero": f"{axis.zero:g}%"}
    lines |= {} if reference is None else {"ref": f"{reference:g}%"}
    return Markup(";".join(f"--{name}:{value}" for name, value in lines.items()))


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


def draw_label(axis: Axis, mark: IntervalMark | None, group: str) -> Markup:
    """Return, for a page, a bar from no difference to the effect, with its interval."""
    if mark is None or axis.zero is None:
        return Markup("")
    start, width = min(mark.dot, axis.zero), round(abs(mark.dot - axis.zero), 2)
    rect = f'<rect class="bar-{group}" x="{start:g}%" width="{width:g}%" y="8" height="16"/>'
    dot = f'<circle class="g-{group}" cx="{mark.dot:g}%" cy="{ROW / 2:g}" r="4.5"/>'
    return on_page(ROW, rect, _across(f"wire-{group}", mark.low, mark.high, ROW / 2, PAGE), dot)


def draw_standing(
    axis: Axis, standing: Sequence[StandingBox], people: Sequence[int], line: Sequence[Segment]
) -> Markup:
    """Return, for a page, boxes side by side and the fitted line; where there are few people, just that word."""

    def y(per_cent: float) -> float:
        return round(TALL * (1 - per_cent / 100), 1)

    marks = [
        f'<line class="grid" x1="0%" x2="100%" y1="{y(tick.at):g}" y2="{y(tick.at):g}"/>'
        f'<text x="-6" y="{y(tick.at) + 3.5:g}" text-anchor="end">{escape(tick.label)}</text>'
        for tick in axis.ticks
    ]
    for column, n in zip(standing, people, strict=True):
        middle, box = f"{column.middle:g}%", column.box
        if box is None:
            words = "few" if n else "nobody"
            marks.append(f'<text class="few" x="{middle}" y="{TALL - 6}" text-anchor="middle">{words}</text>')
            continue
        width = round(column.right - column.left, 2)
        marks += [
            f'<line class="whisker" x1="{middle}" x2="{middle}" y1="{y(box.low):g}" y2="{y(box.high):g}"/>',
            f'<rect class="iqr" x="{column.left:g}%" width="{width:g}%" y="{y(box.q3):g}" '
            f'height="{round(y(box.q1) - y(box.q3), 1):g}"/>',
            _across("median", column.left, column.right, y(box.median), PAGE),
            f'<circle class="dot" cx="{middle}" cy="{y(box.mean):g}" r="3.5"/>',
        ]
    marks += [f'<line class="fit" x1="{s.x1:g}%" x2="{s.x2:g}%" y1="{y(s.y1):g}" y2="{y(s.y2):g}"/>' for s in line]
    return Markup(f'<svg class="standing" aria-hidden="true">{"".join(marks)}</svg>')
