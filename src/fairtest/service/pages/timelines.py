"""The picture of an effect over time: a line and the band of its interval, drawn for any width.

The band is drawn in a frame of its own that stretches; text and dots are placed in per cent and do not.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairtest.numbers import fixed
from fairtest.service.pages.drawings import round_ticks, tick_decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

HEIGHT, SMALL = 220, 44
LEFT = 9.0
"""Per cent of the width that the numbers of the axis take."""
TOP, BOTTOM = 14, 26
WIDE = 1000.0
LATE = 0.8
"""Words about what happened after this share of the time are written to the left of it."""


class Frame:
    """Where days and gaps are drawn.

    Parameters
    ----------
    body
        A context that is followed, as it is stored.
    height, bottom, left
        Pixels in all, pixels below for the dates, and per cent for the numbers.
    """

    def __init__(self, body: dict[str, Any], height: int, bottom: int, left: float) -> None:
        self.height, self.bottom, self.left = height, bottom, left
        self.top = TOP if bottom else 4
        marks = [*body["timeline"], *body["weeks"], *body["days"]]
        days = [_day(each[0]) for each in marks] or [0]
        self.first, self.last = min(days), max(*days, min(days) + 1)
        scale = self.scale = 100.0 if body["points"] else 1.0
        # the intervals of the first days are wide, and would make everything else flat: they may leave the frame
        later = body["timeline"][len(body["timeline"]) // 2 :]
        values: list[float] = [0.0, *(scale * value for each in (*later, *body["weeks"]) for value in each[1:4])]
        values += [scale * each[1] for each in (body["timeline"] or body["days"])]
        room = 0.06 * (max(values) - min(values)) or 1.0
        self.low, self.high = min(values) - room, max(values) + room

    def across(self, date: str) -> float:
        """Return the share of the way that a day is at."""
        return (_day(date) - self.first) / (self.last - self.first)

    def x(self, date: str) -> str:
        """Return where a day is, in per cent of the whole."""
        return f"{self.left + (100 - self.left) * self.across(date):.2f}%"

    def y(self, value: float) -> float:
        """Return how far down a gap is drawn; one beyond the frame at its edge."""
        inside = min(max(value, self.low), self.high)
        return self.top + (self.height - self.top - self.bottom) * (self.high - inside) / (self.high - self.low)

    def point(self, date: str, value: float) -> str:
        """Return a point of the stretching frame."""
        return f"{WIDE * self.across(date):.1f},{self.y(self.scale * value):.1f}"

    def stretch(self, shapes: str) -> str:
        """Return shapes in the frame that stretches."""
        return (
            f'<svg x="{self.left:g}%" width="{100 - self.left:g}%" height="{self.height}" '
            f'viewBox="0 0 {WIDE:g} {self.height}" preserveAspectRatio="none">{shapes}</svg>'
        )


def draw_timeline(body: dict[str, Any]) -> Markup:
    """Return the effect of a context over time, with the interval that may be read on any day."""
    frame = Frame(body, HEIGHT, BOTTOM, LEFT)
    parts = [_axis(frame)]
    parts.append(frame.stretch(_band(frame, body["timeline"])))
    if body["weeks"]:
        parts += [_week(frame, each) for each in body["weeks"]]
    else:
        parts += [
            f'<circle class="daily" cx="{frame.x(day)}" cy="{frame.y(frame.scale * gap):.1f}" r="2"/>'
            for day, gap, _ in body["days"]
        ]
    if body["since"] is not None and frame.first <= _day(body["since"]) <= frame.last:
        x = frame.x(body["since"])
        parts.append(f'<line class="alarm" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{HEIGHT - BOTTOM}"/>')
        side, gap = ("end", -6) if frame.across(body["since"]) > LATE else ("start", 6)
        parts.append(f'<text class="alarm-word {side}" x="{x}" y="{TOP - 3}" dx="{gap}">alert</text>')
    parts.append(_dates(frame))
    return Markup(f'<svg class="timeline" height="{HEIGHT}" width="100%" aria-hidden="true">{"".join(parts)}</svg>')


def draw_small_timeline(body: dict[str, Any]) -> Markup:
    """Return the same in a cell of a table, without an axis."""
    frame = Frame({**body, "weeks": []}, SMALL, 0, 0.0)
    zero = f'<line class="zero" x1="0" x2="{WIDE:g}" y1="{frame.y(0):.1f}" y2="{frame.y(0):.1f}"/>'
    dots = "".join(
        f'<circle class="daily" cx="{frame.x(day)}" cy="{frame.y(frame.scale * gap):.1f}" r="1.5"/>'
        for day, gap, _ in body["days"]
        if not body["timeline"]
    )
    inner = frame.stretch(zero + _band(frame, body["timeline"]))
    return Markup(f'<svg class="marks" height="{SMALL}" width="100%" aria-hidden="true">{dots}{inner}</svg>')


def _week(frame: Frame, measured: Sequence[Any]) -> str:
    day, gap, low, high, _ = measured
    x, ends = frame.x(day), [frame.y(frame.scale * bound) for bound in (high, low)]
    return (
        f'<line class="range" x1="{x}" x2="{x}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>'
        f'<circle class="dot" cx="{x}" cy="{frame.y(frame.scale * gap):.1f}" r="3.5"/>'
    )


def _band(frame: Frame, timeline: Sequence[Any]) -> str:
    if len(timeline) < 2:
        return ""
    above = [frame.point(day, high) for day, _, _, high, _ in timeline]
    below = [frame.point(day, low) for day, _, low, _, _ in reversed(timeline)]
    line = " ".join(frame.point(day, gap) for day, gap, *_ in timeline)
    return f'<polygon class="band" points="{" ".join(above + below)}"/><polyline class="line" points="{line}"/>'


def _axis(frame: Frame) -> str:
    parts = []
    ticks = round_ticks(frame.low, frame.high)
    decimals = tick_decimals(frame.low, frame.high)
    for tick in ticks:
        y, kind = frame.y(tick), "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{LEFT:g}%" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 1:g}%" y="{y + 4:.1f}">{fixed(tick, decimals)}</text>')
    return "".join(parts)


def _dates(frame: Frame) -> str:
    middle = LEFT + (100 - LEFT) / 2
    places = [
        (frame.first, "start", f"{LEFT:g}%"), ((frame.first + frame.last) // 2, "middle", f"{middle:g}%"),
        (frame.last, "end", "100%"),
    ]  # fmt: skip
    shown = places if frame.last - frame.first > 1 else places[::2]
    return "".join(f'<text class="date {side}" x="{x}" y="{HEIGHT - 6}">{_write(day)}</text>' for day, side, x in shown)


def _day(date: str) -> int:
    return dt.date.fromisoformat(date).toordinal()


def _write(day: int) -> str:
    date = dt.date.fromordinal(day)
    return f"{date.day} {date:%b %Y}"
