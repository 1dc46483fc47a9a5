"""Do tests hold where they once broke? ``python -m calibration.holds [--runs 200] [--jobs 1] [--only ROW]``.

A hostile search found designs, outside the grid of the calibration, in which whole runs reported something false far
more often than in 5 % of data sets. Each row is one cause, with the settings in which it was found and two more. Prints
how many runs had a finding, with the limits of that share; exits with 1 where a lower limit (95 %, Bonferroni over the
cells) is above 5 %, or that of all cells together. With ``--counts FILE`` a run that was cut short goes on; with
``--page FILE`` what has been run so far becomes a page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from calibration.rules import limits
from calibration.worlds.explained import Explained
from calibration.worlds.predicted import Predicted
from calibration.worlds.unrelated import Unrelated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.worlds.base import World

__all__ = ["CELLS", "ROWS", "Cell", "main"]

LEVEL = 0.05
ROWS = {
    "1": "ETA, rare groups and rare counts",
    "2": "calibration, rare groups",
    "3": "two groups of equal means and unequal spread",
    "4": "large sparse tables",
    "5": "strata of two people",
    "6": "nobody is split off, rare group and rare amounts",
    "7": "a numeric explanatory attribute that explains everything",
    "8": "many small groups of unequal spread",
    "9": "several groups of equal means and unequal spread, skewed numbers",
    "10": "a number whose spread grows with the protected one",
    "11": "a few people of unequal spread, hardly two of them in a stratum",
}
PAPER = (("preset", "paper"),)
WHOLE = (("split", False),)
HALVES, FIFTH, RARE = (0.5, 0.5), (0.8, 0.2), (0.98, 0.02)
FEW_EACH = (0.9, *(0.005,) * 20)


@dataclass(frozen=True)
class Cell:
    """A world of a row.

    Attributes
    ----------
    before
        The runs with a finding when it was found, in a design as close as is known.
    dear
        Whether a run takes so long that half as many must do.
    """

    row: str
    world: World
    before: str = ""
    dear: bool = False

    def run(self, seed: int, repeat: int) -> bool:
        """Audit fresh people, the same whatever other cells are run."""
        key = crc32(repr(self.world).encode())
        return self.world.finds_something(np.random.default_rng([seed, key, repeat]))


def _tables(rows: int, columns: int, n: int) -> Unrelated:
    return Unrelated(n, (1 / rows,) * rows, output=f"values {columns}")


CELLS: tuple[Cell, ...] = (
    Cell("1", Unrelated(20_000, (0.985, 0.01, 0.005), output="poisson 0.03"), "40 of 60"),
    Cell("1", Unrelated(20_000, (0.97, 0.02, 0.01), output="poisson 0.1"), "30 of 50"),
    Cell("1", Unrelated(20_000, (0.85, 0.1, 0.05), output="poisson 0.03"), "25 of 50"),
    Cell("1", Unrelated(20_000, (0.985, 0.01, 0.005), PAPER, output="poisson 0.03"), "26 of 40"),
    Cell("1", Unrelated(10_000, (0.98, 0.01, 0.006, 0.004), output="amounts 0.02")),
    Cell("1", Unrelated(30_000, (0.994, 0.003, 0.003), output="poisson 0.3")),
    Cell("2", Predicted(20_000, (0.995, 0.005), base=-3.0), "19 of 30"),
    Cell("2", Predicted(20_000, RARE, higher=1.0, base=-3.0)),
    Cell("2", Predicted(20_000, (0.995, 0.005))),
    Cell("2", Predicted(30_000, (0.985, 0.01, 0.005), higher=1.0, base=-3.0)),
    Cell("3", Unrelated(6_000, FIFTH, output="log-normal 1.5", spread=(1.0, 3.0)), "40 of 60"),
    Cell("3", Unrelated(6_000, FIFTH, output="log-normal 1", spread=(1.0, 3.0)), "9 of 30"),
    Cell("3", Unrelated(6_000, FIFTH, output="exponential", spread=(1.0, 3.0)), "7 of 30"),
    Cell("3", Unrelated(6_000, (0.99, 0.01), output="normal", spread=(1.0, 27.0)), "23 of 200"),
    Cell("3", Unrelated(6_000, (0.95, 0.05), output="normal", spread=(1.0, 27.0)), "37 of 200"),
    Cell("3", Predicted(6_000, RARE, notion="signed", higher=1.0), "25 of 200"),
    Cell("3", Unrelated(6_000, FIFTH, output="log-normal 1.5", spread=(1.0, 3.0), metric="CORR")),
    Cell("3", Unrelated(2_000, (0.9, 0.1), output="log-normal 1.5", spread=(1.0, 2.0))),
    Cell("3", Unrelated(20_000, (0.98, 0.02), output="amounts 0.2", spread=(1.0, 2.0))),
    Cell("4", _tables(50, 50, 7_000), "36 of 40"),
    Cell("4", _tables(30, 100, 7_000), "34 of 40"),
    Cell("4", _tables(20, 50, 7_000), "9 of 40"),
    Cell("4", _tables(50, 100, 15_000)),
    Cell("4", Unrelated(10_000, (0.7, *(0.3 / 39,) * 39), output="values 40")),
    Cell("5", Unrelated(2_000, (0.5, 0.3, 0.2), output="log-normal 1", strata=900), "27 of 60"),
    Cell("5", Unrelated(2_000, (0.5, 0.3, 0.2), output="normal", strata=900)),
    Cell("5", Unrelated(1_000, (0.7, 0.2, 0.1), output="log-normal 1.5", strata=400)),
    Cell("5", Unrelated(3_000, (0.25,) * 4, output="amounts 0.2", strata=900), dear=True),
    Cell(
        "8", Unrelated(300, FEW_EACH, WHOLE, output="rounded 3", spread=(1.0, 9.0), strata=150), "19 of 20", dear=True
    ),
    Cell("8", Unrelated(1_000, FEW_EACH, output="normal", spread=(1.0, 9.0), strata=400), "5 of 20"),
    Cell("8", Unrelated(300, FEW_EACH, WHOLE, output="normal", spread=(1.0, 9.0)), "20 of 20"),
    Cell("8", Unrelated(300, (0.28, *(0.04,) * 18), WHOLE, output="normal", spread=(1.0, 9.0), strata=30), "15 of 20"),
    Cell(
        "8", Unrelated(1_000, (0.52, *(0.02,) * 24), WHOLE, output="normal", spread=(1.0, 9.0), strata=20), "17 of 20"
    ),
    Cell("8", Unrelated(300, (0.6, 0.393, 0.007), WHOLE, output="normal", spread=(1.0, 1.0, 9.0)), "4 of 20"),
    Cell("9", Unrelated(6_000, (0.6, 0.2, 0.2), output="log-normal 1.5", spread=(1.0, 1.0, 3.0)), "8 of 20"),
    Cell("9", Unrelated(6_000, (0.6, 0.2, 0.2), output="log-normal 1", spread=(1.0, 1.0, 3.0)), "7 of 20"),
    Cell("9", Unrelated(6_000, (0.6, 0.38, 0.02), output="log-normal 1", spread=(1.0, 1.0, 9.0)), "14 of 20"),
    Cell("9", Unrelated(6_000, (0.6, 0.2, 0.2), output="exponential", spread=(1.0, 1.0, 3.0)), "6 of 20"),
    Cell("9", Unrelated(3_000, (0.125,) * 8, output="exponential", spread=(1.0, 9.0)), "2 of 20"),
    Cell("9", Unrelated(3_000, (0.6, 0.2, 0.2), output="log-normal 1", spread=(1.0, 1.0, 3.0), strata=20), "2 of 20"),
    Cell("9", Unrelated(30_000, (0.6, 0.3, 0.1), columns=12, output="amounts 0.2", spread=(1.0, 9.0)), "11 of 12"),
    Cell("10", Unrelated(2_000, (), output="exponential", fan="exponential"), "5 of 24"),
    Cell("10", Unrelated(2_000, (), output="log-normal 1", fan="exponential"), "8 of 24"),
    Cell("10", Unrelated(2_000, (), output="log-normal 1", fan="log-normal 1"), "4 of 24"),
    Cell("10", Unrelated(10_000, (), output="log-normal 1", fan="exponential")),
    Cell("10", Unrelated(2_000, (), output="exponential", fan="exponential", strata=20)),
    Cell("11", Unrelated(7_000, (0.997, 0.003), WHOLE, 3, "normal", (1.0, 9.0), strata=150), "95 of 200"),
    Cell("11", Unrelated(7_000, (0.997, 0.003), (), 3, "normal", (1.0, 9.0), strata=150), "78 of 200"),
    Cell("11", Unrelated(7_000, (0.99, 0.01), WHOLE, 3, "normal", (1.0, 9.0), strata=150), "11 of 40"),
    Cell("11", Unrelated(7_000, (0.997, 0.003), WHOLE, 3, "log-normal 1", (1.0, 3.0), strata=150), "5 of 40"),
    Cell("11", Unrelated(300, (0.97, 0.03), WHOLE, 3, "normal", (1.0, 9.0), strata=30), "9 of 40"),
    Cell("6", Unrelated(1_000, RARE, WHOLE, 12, output="amounts 0.02"), "26 of 240"),
    Cell("6", Unrelated(1_000, RARE, WHOLE, 30, output="amounts 0.02")),
    Cell("6", Unrelated(2_000, (0.99, 0.01), WHOLE, 30, output="poisson 0.01")),
    Cell("7", Explained(6_000, HALVES), "1 of 40"),
    Cell("7", Explained(30_000, HALVES), "4 of 20"),
    Cell("7", Explained(100_000, HALVES), "9 of 10"),
    Cell("7", Explained(100_000, HALVES, shape="u-shaped")),
    Cell("7", Explained(30_000, HALVES, shape="steep", strength=2.0)),
    Cell("7", Explained(30_000, HALVES, output="number", explanation="skewed")),
    Cell("7", Explained(30_000, (0.5, 0.3, 0.2)), dear=True),
    Cell("7", Explained(30_000, (), output="number")),
    Cell("7", Explained(30_000, (), output="binary", shape="u-shaped")),
    Cell("7", Explained(30_000, (), output="number", shape="wave", strength=2.0), "5 of 5"),
    Cell("7", Explained(3_000, (), output="number", shape="wave", strength=2.0)),
    Cell("7", Explained(300, (), output="number", shape="u-shaped", strength=2.0)),
    Cell("7", Explained(3_000, HALVES, shape="steps", strength=2.0)),
    Cell("7", Explained(10_000, (), output="number", shape="steps", strength=2.0)),
    Cell("7", Explained(3_000, (0.5, 0.3, 0.2), output="number", shape="ripples", strength=2.0)),
    Cell("7", Explained(1_000, (), columns=12, output="number", shape="ripples", strength=2.0), "7 of 8"),
    Cell("7", Explained(1_000, HALVES, columns=12, output="number", shape="ripples", strength=2.0), "4 of 8"),
    Cell("7", Explained(300, (), columns=12, output="number", shape="ripples", strength=2.0), "2 of 8"),
    Cell("7", Predicted(20_000, RARE, higher=2.0, form="score", base=-3.0), "60 of 60"),
    Cell("7", Predicted(6_000, RARE, higher=2.0, form="score", base=-3.0)),
    Cell("7", Predicted(50_000, (0.99, 0.01), higher=2.0, form="score", base=-3.0, risks="skewed")),
    Cell("7", Predicted(20_000, (0.95, 0.05), higher=2.0, form="score", base=-3.0, risks="even")),
    Cell("7", Predicted(20_000, (0.9, 0.1), higher=2.0, form="score", base=-3.0)),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, miscalibrated=0.5), "98 of 200"),
    Cell("7", Predicted(20_000, HALVES, notion="equalized-odds", higher=1.0, form="number"), "7 of 20"),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, miscalibrated=2.0)),
    Cell("7", Predicted(50_000, FIFTH, notion="equalized-odds", higher=1.0, form="number", miscalibrated=2.0)),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, form="number", miscalibrated=0.5)),
)


@dataclass
class Count:
    """How often a cell was run, in how many of these runs something was found, and what they took."""

    runs: int = 0
    found: int = 0
    seconds: float = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells and return 1 if one reports too often."""
    options = _options(arguments)
    chosen = [cell for cell in CELLS if options.only in (None, cell.row)]
    counts = _read(options.counts, chosen)
    try:
        _run_rounds(chosen, counts, options)
    except KeyboardInterrupt:
        print("Stopped; what was run counts.")
    print(_table(chosen, counts))
    if options.page:
        options.page.write_text(_page(chosen, counts), encoding="utf-8")
    broken = [c for c in counts if limits(c.found, c.runs, LEVEL / len(chosen))[0] > LEVEL]
    together = Count(sum(c.runs for c in counts), sum(c.found for c in counts))
    all_together = limits(together.found, together.runs, LEVEL)[0] > LEVEL
    print(f"{len(broken)} of {len(chosen)} cells report too often{', and all together' if all_together else ''}")
    return int(bool(broken) or all_together)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m calibration.holds", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200, help="runs of each cell; half as many of dear ones")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    parser.add_argument("--only", choices=tuple(ROWS), help="one row")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    parser.add_argument("--counts", type=Path, help="where counts are kept after each run, to go on from")
    parser.add_argument("--page", type=Path, help="where to write a page of what was run")
    return parser.parse_args(arguments)


def _run_rounds(cells: Sequence[Cell], counts: Sequence[Count], options: argparse.Namespace) -> None:
    """Run every cell once, then every cell again: a run that is cut short has looked at all of them."""
    most = [options.runs // 2 if cell.dear else options.runs for cell in cells]
    with ProcessPoolExecutor(options.jobs) if options.jobs > 1 else nullcontext() as pool:
        while left := [i for i, count in enumerate(counts) if count.runs < most[i]]:
            least = min(counts[i].runs for i in left)
            now = [i for i in left if counts[i].runs == least]
            work = partial(_timed, options.seed, least)
            results = map(work, (cells[i] for i in now)) if pool is None else pool.map(work, [cells[i] for i in now])
            for i, (found, seconds) in zip(now, results, strict=True):
                counts[i].runs += 1
                counts[i].found += found
                counts[i].seconds += seconds
                _write(options.counts, cells, counts)


def _timed(seed: int, repeat: int, cell: Cell) -> tuple[bool, float]:
    started = time.process_time()
    return cell.run(seed, repeat), time.process_time() - started


def _read(path: Path | None, cells: Sequence[Cell]) -> list[Count]:
    """Return the counts kept in a file; cells that are not in it start at 0."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}
    return [Count(**kept.get(cell.world.words(), {})) for cell in cells]


def _write(path: Path | None, cells: Sequence[Cell], counts: Sequence[Count]) -> None:
    if path is None:
        return
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept |= {cell.world.words(): vars(count) for cell, count in zip(cells, counts, strict=True)}
    path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _table(cells: Sequence[Cell], counts: Sequence[Count]) -> str:
    lines = []
    for cell, count in zip(cells, counts, strict=True):
        title = f"Row {cell.row}: {ROWS[cell.row]}"
        lines += [title] if title not in lines else []
        before = f"   (once {cell.before})" if cell.before else ""
        seconds = f"{count.seconds / max(count.runs, 1):.2g} s"
        lines.append(f"  {_line(count.found, count.runs, len(cells))}   {seconds}   {cell.world.words()}{before}")
    found, runs = sum(c.found for c in counts), sum(c.runs for c in counts)
    return "\n".join([*lines, "All", f"  {_line(found, runs, 1)}"])


def _page(cells: Sequence[Cell], counts: Sequence[Count]) -> str:
    """Return the page in Markdown: a table for each row."""
    ran = [(cell, count) for cell, count in zip(cells, counts, strict=True) if count.runs]
    found, runs = sum(count.found for _, count in ran), sum(count.runs for _, count in ran)
    worst = max((limits(count.found, count.runs, LEVEL / len(ran))[0] for _, count in ran), default=0.0)
    lines = [
        "# Where tests once broke",
        "",
        "Written by `python -m calibration.holds` (`make holds`); do not edit. Worlds in which nothing is unfair, "
        "audited as a whole through the public interface, and how many runs had a finding all the same: before, when a "
        "design was found, and now. At most 5 % may. A lower limit is at 95 %, Bonferroni over the designs.",
        "",
        f"All of them: {found:,} of {runs:,} runs with a finding ({found / max(runs, 1):.1%}); the largest lower limit "
        f"is {worst:.1%}.",
    ]
    for row, title in ROWS.items():
        some = [(cell, count) for cell, count in ran if cell.row == row]
        if not some:
            continue
        lines += ["", f"## {row}. {title[0].upper()}{title[1:]}", "", "| design | before | now | lower limit |"]
        lines.append("| --- | --- | --- | --- |")
        for cell, count in some:
            low = limits(count.found, count.runs, LEVEL / len(ran))[0]
            now = f"{count.found} of {count.runs}"
            lines.append(f"| {cell.world.words()} | {cell.before} | {now} | {low:.1%} |")
    return "\n".join(lines) + "\n"


def _line(found: int, runs: int, cells: int) -> str:
    low = limits(found, runs, LEVEL / cells)[0]
    high = limits(found, runs, 0.025)[1]
    return f"{found:4d} of {runs} = {found / max(runs, 1):6.1%}  (at least {low:.1%}, at most {high:.1%})"


if __name__ == "__main__":
    sys.exit(main())
