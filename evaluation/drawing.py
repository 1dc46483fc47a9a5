"""The figures of the evaluation as SVG, in the colours of FairTest's own."""

from __future__ import annotations

import math
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING, Any

from fairtest.numbers import digits, fixed
from fairtest.reporting.figures.axes import axis_over
from fairtest.reporting.figures.palette import LIGHT, WHITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STEPS = tuple(LIGHT[f"s{i}"] for i in range(6))
GRID = (
    "AK . . . . . . . . . ME",
    ". . . . . . . . . VT NH",
    "WA ID MT ND MN IL WI MI NY RI MA",
    "OR NV WY SD IA IN OH PA NJ CT .",
    "CA UT CO NE MO KY WV VA MD DE .",
    ". AZ NM KS AR TN NC SC DC . .",
    ". . . OK LA MS AL GA . . .",
    "HI . . TX . . . . FL . .",
)
"""About where the states are, one tile each."""


class Canvas:
    """Marks on white paper, put together as text."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._width, self._height, self._title = width, height, title
        self._marks: list[str] = []

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", colour: str = "ink", size: int = 13
    ) -> None:
        """Write words."""
        look = f'text-anchor="{anchor}" fill="{LIGHT.get(colour, colour)}" font-size="{size}"'
        self._marks.append(f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> None:
        """Draw a rectangle."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        line = f'stroke="{LIGHT.get(stroke, stroke)}" stroke-width="2"'
        self._marks.append(f'<rect {place} fill="{LIGHT.get(fill, fill)}" {line}/>')

    def line(self, points: Iterable[tuple[float, float]], colour: str, width: float = 1.0) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        look = f'stroke="{LIGHT[colour]}" stroke-width="{width:g}"'
        self._marks.append(f'<polyline points="{path}" fill="none" {look}/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        """Draw a dot."""
        self._marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{LIGHT[colour]}"/>')

    def __str__(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {self._height}" width="{self._width}" '
            f'height="{self._height}" role="img" font-family="system-ui, sans-serif">'
        )
        paper = f'<rect width="{self._width}" height="{self._height}" fill="{WHITE}"/>'
        return "\n".join([head, f"<title>{escape(self._title)}</title>", paper, *self._marks, "</svg>", ""])


# The microbenchmark -------------------------------------------------------------------------------------------------


def draw_heat_maps(facts: Mapping[str, Any], prototype: Mapping[str, Any]) -> str:
    """Return how many planted groups are found by size and bias: proposed, reported, and reported by the prototype."""
    panels = [
        ("proposed by the search", facts["detected"]),
        ("reported", facts["reported"]),
        ("reported by the prototype", prototype["reported_in_cells"]),
    ]
    canvas = Canvas(70 + 230 * len(panels), 290, f"Planted groups found, of {facts['planted']}, by size and bias")
    for row, size in enumerate(facts["sizes"]):
        canvas.text(60, 82 + 32 * row, f"{size:,}", anchor="end")
    canvas.text(60, 52, "size", anchor="end", colour="soft")
    for number, (name, cells) in enumerate(panels):
        _draw_heat(canvas, 70 + 230 * number, name, cells, facts)
    return str(canvas)


def _draw_heat(
    canvas: Canvas, left: float, name: str, cells: Sequence[Sequence[float]], facts: Mapping[str, Any]
) -> None:
    canvas.text(left, 24, name, size=14)
    for column, delta in enumerate(facts["deltas"]):
        canvas.text(left + 50 * column + 24, 52, f"Δ {100 * delta:g} %", anchor="middle", colour="soft", size=12)
    for row, counts in enumerate(cells):
        for column, found in enumerate(counts):
            step = min(int(len(STEPS) * found / facts["planted"]), len(STEPS) - 1)
            canvas.box(left + 50 * column, 62 + 32 * row, 48, 30, STEPS[step])
            ink = WHITE if step >= 4 else "ink"
            canvas.text(left + 50 * column + 24, 82 + 32 * row, f"{found:.3g}", anchor="middle", colour=ink)


# Staples ------------------------------------------------------------------------------------------------------------


def draw_states(states: Sequence[Mapping[str, Any]], named: set[str]) -> str:
    """Return the gap between incomes in each state, one tile each; those that are reported have a ring."""
    by_name = {state["state"]: state for state in states}
    widest = max(state["gap"] for state in states)
    canvas = Canvas(660, 500, "How much more often people with low incomes pay the high price, by state")
    for row, line in enumerate(GRID):
        for column, name in enumerate(line.split()):
            if name in by_name:
                _draw_tile(canvas, 8 + 58 * column, 8 + 54 * row, by_name[name], widest, ring=name in named)
    below = 8 + 54 * len(GRID) + 22
    for step, colour in enumerate(STEPS):
        canvas.box(8 + 74 * step, below, 20, 16, colour)
        least = 100 * widest * step / len(STEPS)
        canvas.text(32 + 74 * step, below + 13, f"≥ {fixed(least, 1)}" if step else "less", size=12)
    canvas.text(8 + 74 * len(STEPS), below + 13, "points more often; ring: reported", size=12)
    return str(canvas)


def _draw_tile(canvas: Canvas, x: float, y: float, state: Mapping[str, Any], widest: float, *, ring: bool) -> None:
    step = min(max(int(len(STEPS) * state["gap"] / widest), 0), len(STEPS) - 1)
    canvas.box(x, y, 54, 50, STEPS[step], "ink" if ring else "none")
    ink = WHITE if step >= 4 else "ink"
    canvas.text(x + 27, y + 22, state["state"], anchor="middle", colour=ink)
    canvas.text(x + 27, y + 40, fixed(100 * state["gap"], 1, signed=True), anchor="middle", colour=ink, size=12)


# Time ---------------------------------------------------------------------------------------------------------------


def draw_times(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how training and testing share the time of each workload, with the seconds of three programs beside."""
    canvas = Canvas(760, 62 + 34 * len(rows), "Training and testing time of each workload")
    for x, words in ((170, "training"), (270, "testing")):
        canvas.box(x, 10, 14, 14, "group-a" if words == "training" else "group-b")
        canvas.text(x + 20, 22, words)
    for x, words in ((540, "here, s"), (640, "prototype, s"), (740, "paper, s")):
        canvas.text(x, 22, words, anchor="end", colour="soft", size=12)
    for number, row in enumerate(rows):
        y = 40 + 34 * number
        canvas.text(162, y + 17, row["name"], anchor="end")
        whole = row["training"] + row["testing"]
        share = 300 * row["training"] / whole if whole else 0.0
        canvas.box(170, y, share, 24, "group-a")
        canvas.box(170 + share, y, 300 - share, 24, "group-b")
        for x, words in ((540, digits(whole)), (640, row["prototype"]), (740, row["paper"])):
            canvas.text(x, y + 17, words, anchor="end")
    return str(canvas)


# Searches -----------------------------------------------------------------------------------------------------------

MEASURES = {
    "estimate_top_3": "the paper's measure: mean of the three largest estimates",
    "confirmed_top_3": "ours: mean of the three largest lower bounds that hold together",
}
GUIDED, UNGUIDED = "group-a", "group-b"


def search_means(outcomes: Iterable[Mapping[str, str]]) -> dict[tuple[int, str, int], dict[str, float]]:
    """Return means over splits of each search: by attributes, search and trees."""
    groups: dict[tuple[int, str, int], list[Mapping[str, str]]] = defaultdict(list)
    for row in outcomes:
        groups[int(row["attributes"]), row["search"], int(row["trees"])].append(row)
    return {
        key: {name: _mean(float(row[name]) for row in some) for name in ("candidates", *MEASURES)}
        for key, some in groups.items()
    }


def _mean(numbers: Iterable[float]) -> float:
    known = list(numbers)
    return sum(known) / len(known)


def draw_searches(means: Mapping[tuple[int, str, int], Mapping[str, float]]) -> str:
    """Return the strength of what guided and unguided searches find against the candidates they look at."""
    widths = sorted({attributes for attributes, *_ in means})
    canvas = Canvas(760, 560, "Guided and unguided search: strength against candidates looked at")
    canvas.dot(70, 18, GUIDED)
    canvas.text(80, 22, "guided: the tree, then forests")
    canvas.dot(300, 18, UNGUIDED)
    canvas.text(310, 22, "unguided: contexts drawn at random")
    for row, (measure, meaning) in enumerate(MEASURES.items()):
        canvas.text(40, 56 + 255 * row, meaning, colour="soft")
        for column, attributes in enumerate(widths):
            place = (60 + 370 * column, 75 + 255 * row)
            _draw_panel(canvas, place, {k: v for k, v in means.items() if k[0] == attributes}, measure)
            canvas.text(
                place[0] + 150, place[1] + 205, f"candidates, {attributes} attributes", anchor="middle", size=12
            )
    return str(canvas)


def _draw_panel(
    canvas: Canvas,
    place: tuple[float, float],
    means: Mapping[tuple[int, str, int], Mapping[str, float]],
    measure: str,
) -> None:
    left, top, width, height = *place, 300.0, 165.0
    lines = {
        colour: sorted((m["candidates"], 100 * m[measure]) for key, m in means.items() if key[1] in searches)
        for colour, searches in ((GUIDED, ("tree", "forest")), (UNGUIDED, ("unguided",)))
    }
    points = [point for line in lines.values() for point in line]
    first, last = (math.log(f(x for x, _ in points)) for f in (min, max))
    axis = axis_over(min(y for _, y in points) - 1, max(y for _, y in points) + 1, fixed)
    for tick in axis.ticks:
        y = top + height * (1 - tick.at / 100)
        canvas.line([(left, y), (left + width, y)], "rule")
        canvas.text(left - 8, y + 4, tick.label, anchor="end", size=12)
    for colour, line in lines.items():
        drawn = [
            (left + width * (math.log(x) - first) / (last - first), top + height * (1 - axis.at(y) / 100))
            for x, y in line
        ]
        canvas.line(drawn, colour, 2)
        for x, y in drawn:
            canvas.dot(x, y, colour)
    for x, anchor, value in ((left, "start", math.exp(first)), (left + width, "end", math.exp(last))):
        canvas.text(x, top + height + 18, f"{value:,.0f}", anchor=anchor, colour="soft", size=12)
