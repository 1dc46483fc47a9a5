"""The results as a page of the documentation: tables, and a plot."""

from __future__ import annotations

from math import floor, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.fresh import Run
    from benchmarks.growth import Size
    from benchmarks.measure import Measured

__all__ = ["growth_table", "own_table", "page", "peer_table", "plot"]

COLOURS = {"loading": "#767676", "tree": "#1b7837", "auto": "#2166ac", "yardstick": "#b35806"}
NAMES = {
    "loading": "reading and encoding",
    "tree": "tree, file to report",
    "auto": "default, file to report",
    "yardstick": "scikit-learn's tree grower, already binned",
}


def own_table(results: Sequence[Measured], unit: float) -> str:
    """Return what was measured beside what is laid down and the prototype."""
    rows = ["| | CPU s | yardsticks | at most | prototype | times faster |", "|---|---|---|---|---|---|"]
    for r in results:
        at_most = "" if r.at_most is None else f"{r.at_most:.2f}"
        old, faster = ("", "") if r.prototype is None else (f"{r.prototype:g}", f"{r.prototype / r.seconds:.0f}")
        rows.append(f"| {r.name.strip()} | {r.seconds:.3f} | {r.seconds / unit:.2f} | {at_most} | {old} | {faster} |")
    return "\n".join([*rows, f"| yardstick: numpy sorts ten million doubles | {unit:.3f} | 1 | | | |"])


def peer_table(runs: Sequence[Run]) -> str:
    """Return FairTest and the other tools on one task; times as multiples of FairTest's."""
    head = "| | CPU s | × FairTest | wall s | peak MB | conjunctions | sum of \\|gaps\\| |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    own = runs[0].cpu
    for run in runs:
        if run.ended:
            rows.append(f"| {run.name} | {run.ended} | | | | | |")
            continue
        many = run.answer.get("conjunctions", run.answer.get("looked_at", ""))
        gaps = f"{run.answer['gap_sum']:.3f}" if "gap_sum" in run.answer else ""
        times = f"{run.cpu:.3f} | {run.cpu / own:.1f} | {run.wall:.3f}"
        rows.append(f"| {run.name} | {times} | {run.peak_mb:,.0f} | {many:,} | {gaps} |")
    return "\n".join(rows)


def growth_table(sizes: Sequence[Size]) -> str:
    """Return each table's cost: seconds, multiples of loading and of the yardstick, and memory."""
    head = (
        "| rows × columns | min_size | search | tested | CPU s | wall s | loading CPU s | × loading | "
        "× yardstick | peak MB |"
    )
    rows = [head, "|---|---|---|---|---|---|---|---|---|---|"]
    for size in sizes:
        unit = size.runs["yardstick"].cpu if "yardstick" in size.runs else float("nan")
        for search in ("tree", "auto"):
            if search not in size.runs:
                continue
            run = size.runs[search]
            name = "default" if search == "auto" else search
            if run.ended:
                rows.append(f"| {size} | {size.min_size:,} | {name} | {run.ended} | | | | | | |")
                continue
            loading = run.answer["loading"]
            yardsticks = "" if isnan(unit) else f"{run.cpu / unit:.0f}"
            rows.append(
                f"| {size} | {size.min_size:,} | {name} | {run.answer['tested']:,} | {run.cpu:.2f} | {run.wall:.2f} | "
                f"{loading:.2f} | {run.cpu / loading:.1f} | {yardsticks} | {run.peak_mb:,.0f} |"
            )
    return "\n".join(rows)


def page(parts: Mapping[str, str]) -> str:
    """Return the page: a heading and a text for each part."""
    intro = (
        "# Benchmarks\n\nWritten by `make bench`. CPU seconds of one thread, the quickest of a few runs where a run is "
        "short; peak resident memory of a process of its own. Times on shared machines vary by some tenths: compare "
        "within a table, whose rows were measured one after the other.\n"
    )
    return "\n".join([intro, *(f"## {title}\n\n{text}\n" for title, text in parts.items())])


def plot(sizes: Sequence[Size]) -> str:
    """Return CPU time against rows as SVG, both axes logarithmic."""
    series = {
        name: [(size.rows, _seconds(size, name)) for size in sizes if name in size.runs and not size.runs[name].ended]
        for name in NAMES
    }
    series = {name: points for name, points in series.items() if points}
    values = [seconds for points in series.values() for _, seconds in points]
    left, right = log10(min(size.rows for size in sizes)), log10(max(size.rows for size in sizes))
    low, high = floor(log10(min(values))), floor(log10(max(values))) + 1
    width, height, edge = 640, 360, 60

    def x(rows: float) -> float:
        return edge + (log10(rows) - left) / max(right - left, 1e-9) * (width - 2 * edge)

    def y(seconds: float) -> float:
        return height - edge - (log10(seconds) - low) / (high - low) * (height - 2 * edge)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 90}" font-family="sans-serif" '
        'font-size="12" role="img" aria-labelledby="title">',
        '<title id="title">CPU seconds against the number of rows, 15 columns</title>',
        f'<rect width="{width}" height="{height + 90}" fill="#ffffff"/>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{edge}" x2="{width - edge}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{edge - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    below = height - edge + 20
    parts += [f'<text x="{x(s.rows):.1f}" y="{below}" text-anchor="middle">{s.rows:,}</text>' for s in sizes]
    parts.append(f'<text x="{width / 2}" y="{height - edge + 40}" text-anchor="middle">rows</text>')
    for number, (name, points) in enumerate(series.items()):
        line = " ".join(f"{x(rows):.1f},{y(seconds):.1f}" for rows, seconds in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(rows):.1f}" cy="{y(seconds):.1f}" r="3" fill="{COLOURS[name]}"/>'
            for rows, seconds in points
        ]
        at = height + 5 + 20 * number
        parts.append(
            f'<line x1="{edge}" x2="{edge + 24}" y1="{at}" y2="{at}" stroke="{COLOURS[name]}" stroke-width="2"/>'
        )
        parts.append(f'<text x="{edge + 32}" y="{at + 4}">{NAMES[name]}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _seconds(size: Size, name: str) -> float:
    return size.runs[name].cpu
