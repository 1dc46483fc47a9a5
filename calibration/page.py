"""The page of the documentation that says what the calibration found."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from calibration.levels import LEVELS
from calibration.rules import NULL_RUNS, limits, null_runs_hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from calibration.levels import Cell
    from calibration.rules import Verdict
    from calibration.runs import Tally

__all__ = ["page"]

HEAD = """# Calibration

Written by `python -m calibration` (`make calibrate`); do not edit. Replicates of populations with a known effect are
put through the tests and intervals that the product uses. A cell fails when the upper Clopper–Pearson limit of its
coverage, Bonferroni over the cells, is below 94 % (nominal 95 %) or 99.9 % (nominal 99.95 %), and a null cell when the
lower limit of its level is above 6 % or 0.1 %. Cells known to be weak are listed, and the report must print their
warning in at least 90 % of data sets; in plain cells no warning may come up in more than 5 %. "Harmful" is the share of
intervals whose bound nearest 0 overstates the effect. Small numbers of replicates make extremes: the smallest of
hundreds of estimates lies below the truth.
"""


def page(cells: Sequence[Cell], verdict: Verdict, runs: Sequence[Tally], adult: Sequence[Tally], grid: int = 0) -> str:
    """Return the page in Markdown; ``grid`` is how many cells there are, if more than were run."""
    parts = [HEAD]
    if cells and grid > len(cells):
        parts.append(f"**This is a part of the grid: {len(cells):,} of {grid:,} cells, chosen by chance.**\n")
    if cells:
        parts += [_summary(cells), _by_size(cells), _lowest(cells)]
    parts.append(_weak(verdict))
    if verdict.broken:
        parts.append("## Broken\n\n" + "\n".join(f"- {line}" for line in verdict.broken) + "\n")
    if runs:
        parts.append(_null_runs("Whole runs without association", runs))
    if adult:
        parts.append(_null_runs("Adult with its output permuted, samples of 8,000", adult))
    return "\n".join(parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _grouped(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.design.form].append(cell)
    return groups


def _summary(cells: Sequence[Cell]) -> str:
    head = ("metric", "cells", "replicates", "least coverage", "largest level", "largest harmful", "p against interval")
    rows = []
    for form, group in _grouped(cells).items():
        null = [c for c in group if c.design.null]
        rows.append(
            (
                form,
                str(len(group)),
                f"{min(c.reps for c in group):,} to {max(c.reps for c in group):,}",
                _both([min(c.coverage[i] for c in group) for i in range(2)]),
                _both([max((c.level[i] for c in null), default=0.0) for i in range(2)]),
                _both([max(c.harm[i] for c in group) for i in range(2)]),
                _both([max(c.contradictions[i] / max(c.reps, 1) for c in group) for i in range(2)]),
            )
        )
    levels = " / ".join(f"{1 - a:.2%}".replace(".00%", "%") for a in LEVELS)
    return f"## By metric\n\nTwo numbers in a column are those at {levels}.\n\n" + _table(head, rows)


def _both(values: Sequence[float]) -> str:
    return f"{values[0]:.3f} / {values[1]:.4f}"


def _by_size(cells: Sequence[Cell]) -> str:
    places: dict[tuple[str, int, float], list[Cell]] = defaultdict(list)
    for cell in cells:
        places[cell.design.form, cell.design.n, cell.design.share].append(cell)
    shares = sorted({share for _, _, share in places}, reverse=True)
    rows = []
    for form, n in dict.fromkeys((form, n) for form, n, _ in sorted(places, key=lambda k: k[:2])):
        found = [places.get((form, n, share), []) for share in shares]
        least = [_both([min(c.coverage[i] for c in group) for i in range(2)]) if group else "" for group in found]
        rows.append((form, f"{n:,}", *least))
    head = ("metric", "people", *(f"rarest group {share:.0%}" for share in shares))
    return "## Least coverage by size and share of the rarest group\n\n" + _table(head, rows)


def _lowest(cells: Sequence[Cell]) -> str:
    """List the three cells of each metric that cover least, whether or not they fail."""
    head = ("cell", "replicates", "coverage", "level", "harmful", "warned")
    rows = []
    for group in _grouped(cells).values():
        for c in sorted(group, key=lambda c: float(c.coverage[0]))[:3]:
            warned = f"{c.loudest:.0%}"
            rows.append((c.design.name, f"{c.reps:,}", _both(c.coverage), _both(c.level), _both(c.harm), warned))
    return '## Where each metric covers least\n\n"Level" is power where the effect is not 0.\n\n' + _table(head, rows)


def _weak(verdict: Verdict) -> str:
    if not verdict.weak:
        return "## Cells known to be weak\n\nNone.\n"
    lines = []
    for entry in dict.fromkeys(e for _, e in verdict.weak):
        cells = [c for c, e in verdict.weak if e is entry]
        worst = _both([min(c.coverage[i] for c in cells) for i in range(2)])
        lines.append(f"- `{entry.cells}`: {len(cells)} cells, least coverage {worst}. The report: “{entry.warning}”")
        for c in cells:
            numbers = f"{_both(c.coverage)}, harmful {_both(c.harm)}, warned {c.warned(entry.warning):.0%}"
            lines.append(f"  - {c.design.name}: {numbers}")
    return "## Cells known to be weak\n\n" + "\n".join(lines) + "\n"


def _null_runs(title: str, runs: Sequence[Tally]) -> str:
    rows = []
    for t in runs:
        high = limits(t.found, t.runs, 0.025)[1]
        bound = "" if null_runs_hold(t.found, t.runs) else f" (not below {NULL_RUNS:.0%})"
        rows.append((t.what, f"{t.runs:,}", str(t.found), f"{t.found / t.runs:.1%}", f"{high:.1%}{bound}"))
    return f"## {title}\n\n" + _table(("runs", "number", "with a finding", "share", "95 % limit"), rows)
