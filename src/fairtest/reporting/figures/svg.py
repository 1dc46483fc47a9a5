"""Marks as inline SVG: x in per cent and y in pixels, so that a figure stretches and its text does not.

Colours come from the classes of the page's style. Every mark is hidden from screen readers: its numbers stand as text
in the same row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.reporting.figures.marks import Axis, Bar, Box, Column, Segment, Stem

FOREST, ROW, TALL = 35, 32, 240
"""The heights of a row of a forest, of a row of a table, and of boxes side by side."""
_ARROWS = (("0", "M-7 0 0 -6 0 6Z"), ("100", "M7 0 0 -6 0 6Z"))


def axis_marks(axis: Axis) -> Markup:
    """Return the labels of an axis; those in the middle make way on a narrow screen."""
    ticks = "".join(
        f'<text{" class=mid" if tick.middle else ""} x="{tick.at:g}%" y="12" text-anchor="middle">'
        f"{escape(tick.label)}</text>"
        for tick in axis.ticks
    )
    return Markup(f'<svg class="axis" aria-hidden="true">{ticks}</svg>')


def _drawn(height: float, *marks: str) -> Markup:
    return Markup(f'<svg aria-hidden="true" height="{height:g}">{"".join(marks)}</svg>')


def _lying(kind: str, start: float, end: float, y: float) -> str:
    return f'<line class="{kind}" x1="{start:g}%" x2="{end:g}%" y1="{y:g}" y2="{y:g}"/>'


def _placed(at: float, y: float, shape: str) -> str:
    return f'<svg x="{at:g}%" y="{y:g}" overflow="visible">{shape}</svg>'


def axis_style(axis: Axis, reference: float | None = None) -> Markup:
    """Return where the cells of a plot have their grid, no link, and the line of everybody, for their background."""
    lines = {"steps": f"{len(axis.ticks) - 1}"}
    lines |= {} if axis.zero is None else {"zero": f"{axis.zero:g}%"}
    lines |= {} if reference is None else {"ref": f"{reference:g}%"}
    return Markup(";".join(f"--{name}:{value}" for name, value in lines.items()))


def interval_mark(bar: Bar | None, shape: str = "dot") -> Markup:
    """Return an estimate with its interval: a ``"dot"``, a ``"diamond"``, or a ``"hollow"`` dot."""
    y = FOREST / 2
    if bar is None:
        return Markup("")
    arrows = "".join(
        _placed(float(at), y, f'<path class="arrow" d="{path}"/>')
        for leaves, (at, path) in zip((bar.leaves_left, bar.leaves_right), _ARROWS, strict=True)
        if leaves
    )
    dot = f'<circle class="{shape}" cx="{bar.dot:g}%" cy="{y:g}" r="5.5"/>'
    if shape == "diamond":
        dot = _placed(bar.dot, y, '<path class="dot" d="M0 -7 7 0 0 7 -7 0Z"/>')
    return _drawn(FOREST, _lying("ci", bar.low, bar.high, y), arrows, dot)


def rate_mark(stem: Stem | None, mark: str) -> Markup:
    """Return a rate with its interval: group a and others as a round dot, group b as a square."""
    y = ROW / 2
    if stem is None:
        return Markup("")
    dot = f'<circle class="g-{mark}" cx="{stem.dot:g}%" cy="{y:g}" r="5.5"/>'
    if mark == "b":
        dot = _placed(stem.dot, y, '<rect class="g-b" x="-5" y="-5" width="10" height="10"/>')
    return _drawn(ROW, _lying(f"band k-{mark}", stem.low, stem.high, y), dot)


def box_mark(box: Box | None, mean: float | None) -> Markup:
    """Return a box plot lying down, and the mean."""
    y = ROW / 2
    marks = []
    if box is not None:
        width = max(round(box.q3 - box.q1, 2), 0)
        marks.append(_lying("whisker", box.low, box.high, y))
        marks.append(f'<rect class="iqr" x="{box.q1:g}%" width="{width:g}%" y="8" height="16"/>')
        marks.append(f'<line class="median" x1="{box.median:g}%" x2="{box.median:g}%" y1="8" y2="24"/>')
    if mean is not None:
        marks.append(f'<circle class="dot" cx="{mean:g}%" cy="{y:g}" r="4.5"/>')
    return _drawn(ROW, *marks)


def label_mark(axis: Axis, bar: Bar | None, mark: str) -> Markup:
    """Return a bar from no difference to the effect, with its interval."""
    if bar is None or axis.zero is None:
        return Markup("")
    start, width = min(bar.dot, axis.zero), round(abs(bar.dot - axis.zero), 2)
    rect = f'<rect class="bar-{mark}" x="{start:g}%" width="{width:g}%" y="8" height="16"/>'
    dot = f'<circle class="g-{mark}" cx="{bar.dot:g}%" cy="{ROW / 2:g}" r="4.5"/>'
    return _drawn(ROW, rect, _lying(f"wire-{mark}", bar.low, bar.high, ROW / 2), dot)


def standing_boxes(axis: Axis, columns: Sequence[Column], people: Sequence[int], line: Sequence[Segment]) -> Markup:
    """Return boxes side by side and the fitted line; where there are few people, just that word."""

    def y(place: float) -> float:
        return round(TALL * (1 - place / 100), 1)

    marks = [
        f'<line class="grid" x1="0%" x2="100%" y1="{y(tick.at):g}" y2="{y(tick.at):g}"/>'
        f'<text x="-6" y="{y(tick.at) + 3.5:g}" text-anchor="end">{escape(tick.label)}</text>'
        for tick in axis.ticks
    ]
    for column, n in zip(columns, people, strict=True):
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
            _lying("median", column.left, column.right, y(box.median)),
            f'<circle class="dot" cx="{middle}" cy="{y(box.mean):g}" r="3.5"/>',
        ]
    marks += [f'<line class="fit" x1="{s.x1:g}%" x2="{s.x2:g}%" y1="{y(s.y1):g}" y2="{y(s.y2):g}"/>' for s in line]
    return Markup(f'<svg class="standing" aria-hidden="true">{"".join(marks)}</svg>')
