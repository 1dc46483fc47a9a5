"""Drawings as SVG: across in per cent, down in pixels, so that a drawing stretches and its text does not.

Every drawing is hidden from screen readers; a table beside it says the same.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING

from markupsafe import Markup

from fairtest.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.service.pages.reading import Measure

BAR_HEIGHT, TREND_HEIGHT, PADDING = 28, 180, 14


def draw_bars(values: Sequence[int], height: int = BAR_HEIGHT) -> Markup:
    """Return bars, one a day, the last to the right; a day without records is a dot on the line."""
    top = max(values, default=0)
    step = 100 / max(len(values), 1)
    parts = []
    for place, value in enumerate(values):
        x = place * step + 0.12 * step
        if value and top:
            tall = max((height - 2) * value / top, 1.5)
            y, wide = height - 1 - tall, 0.76 * step
            parts.append(f'<rect class="bar" x="{x:.2f}%" y="{y:.1f}" width="{wide:.2f}%" height="{tall:.1f}"/>')
        else:
            parts.append(f'<rect class="none" x="{x:.2f}%" y="{height - 2}" width="{0.76 * step:.2f}%" height="1"/>')
    return Markup(f'<svg class="bars" height="{height}" width="100%" aria-hidden="true">{"".join(parts)}</svg>')


def draw_trend(measures: Sequence[Measure]) -> Markup:
    """Return the effect of a context over runs: a dot and its interval for each, and a line at no effect."""
    low, high = _range(measures)
    parts = []
    for tick in round_ticks(low, high):
        y = _height(tick, low, high)
        kind = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="8%" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="7%" y="{y + 4:.1f}">{fixed(tick, tick_decimals(low, high))}</text>')
    step = 92 / max(len(measures), 1)
    for place, each in enumerate(measures):
        if each.effect is None:
            continue
        x = 8 + (place + 0.5) * step
        y = _height(each.effect, low, high)
        if each.low is not None and each.high is not None:
            ends = [_height(bound, low, high) for bound in (each.high, each.low)]
            parts.append(f'<line class="range" x1="{x:.2f}%" x2="{x:.2f}%" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        kind = "dot" if each.confirmed else "dot hollow"
        parts.append(f'<circle class="{kind}" cx="{x:.2f}%" cy="{y:.1f}" r="4"/>')
    for place in sorted({0, len(measures) - 1}) if measures else ():  # where the axis begins and ends
        x, word = 8 + (place + 0.5) * step, _say_day(measures[place].ended)
        parts.append(f'<text class="date middle" x="{x:.2f}%" y="{TREND_HEIGHT + 12}">{word}</text>')
    return Markup(
        f'<svg class="trend" height="{TREND_HEIGHT + 18}" width="100%" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _say_day(seconds: float | None) -> str:
    if seconds is None:
        return ""
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f"{moment.day} {moment:%b}"


def draw_marks(measures: Sequence[Measure]) -> Markup:
    """Return the same in a cell of a table: dots and intervals about a line at no effect, without an axis."""
    low, high = _range(measures)
    tall = 32
    parts = [
        f'<line class="zero" x1="0" x2="100%" y1="{_height(0, low, high, tall, 4):.1f}" '
        f'y2="{_height(0, low, high, tall, 4):.1f}"/>'
    ]
    step = 100 / max(len(measures), 1)
    for place, each in enumerate(measures):
        if each.effect is None:
            continue
        x = (place + 0.5) * step
        if each.low is not None and each.high is not None:
            ends = [_height(bound, low, high, tall, 4) for bound in (each.high, each.low)]
            parts.append(f'<line class="range" x1="{x:.2f}%" x2="{x:.2f}%" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        kind = "dot" if each.confirmed else "dot hollow"
        parts.append(
            f'<circle class="{kind}" cx="{x:.2f}%" cy="{_height(each.effect, low, high, tall, 4):.1f}" r="2.5"/>'
        )
    return Markup(f'<svg class="marks" height="{tall}" width="100%" aria-hidden="true">{"".join(parts)}</svg>')


def _range(measures: Sequence[Measure]) -> tuple[float, float]:
    """Return the ends of the axis: all effects and intervals that are numbers, and no effect."""
    values = [0.0]
    for each in measures:
        values += [value for value in (each.effect, each.low, each.high) if value is not None and math.isfinite(value)]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)


def _height(value: float, low: float, high: float, tall: int = TREND_HEIGHT, padding: int = PADDING) -> float:
    inside = min(max(value, low), high)
    return padding + (tall - 2 * padding) * (high - inside) / (high - low)


def round_ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers, zero among them."""
    raw = (high - low) / 4
    power = 10 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def tick_decimals(low: float, high: float) -> int:
    """Return the decimals that tell the ticks of an axis apart."""
    ticks = round_ticks(low, high)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    return max(0, min(4, -math.floor(math.log10(step) + 1e-9)))
