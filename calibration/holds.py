"""Do tests hold where they once broke? ``python -m calibration.holds [--runs 200] [--jobs 1] [--only ROW] [--seed 0]``.

A hostile search found designs, outside the grid of the calibration, in which whole runs reported something false far
more often than in 5 % of data sets. Each row is one cause, with the settings in which it was found and two more. Prints
how many runs had a finding, with the limits of that share; exits with 1 where a lower limit (95 %, Bonferroni over the
cells) is above 5 %, or that of all cells together.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from calibration.rules import limits
from calibration.worlds import Explained, Predicted, Unrelated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from calibration.worlds import World

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
}
PAPER = (("preset", "paper"),)
WHOLE = (("split", False),)
HALVES, FIFTH, RARE = (0.5, 0.5), (0.8, 0.2), (0.98, 0.02)


@dataclass(frozen=True)
class Cell:
    """A world of a row; ``before``: the runs with a finding when it was found, in a design as close as is known."""

    row: str
    world: World
    before: str = ""

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
    Cell("5", Unrelated(3_000, (0.25,) * 4, output="amounts 0.2", strata=900)),
    Cell("6", Unrelated(1_000, RARE, WHOLE, 12, output="amounts 0.02"), "26 of 240"),
    Cell("6", Unrelated(1_000, RARE, WHOLE, 30, output="amounts 0.02")),
    Cell("6", Unrelated(2_000, (0.99, 0.01), WHOLE, 30, output="poisson 0.01")),
    Cell("7", Explained(6_000, HALVES), "1 of 40"),
    Cell("7", Explained(30_000, HALVES), "4 of 20"),
    Cell("7", Explained(100_000, HALVES), "9 of 10"),
    Cell("7", Explained(100_000, HALVES, shape="u-shaped")),
    Cell("7", Explained(30_000, HALVES, shape="steep", strength=2.0)),
    Cell("7", Explained(30_000, HALVES, output="number", explanation="skewed")),
    Cell("7", Explained(30_000, (0.5, 0.3, 0.2))),
    Cell("7", Explained(30_000, (), output="number")),
    Cell("7", Explained(30_000, (), output="binary", shape="u-shaped")),
    Cell("7", Predicted(20_000, RARE, higher=2.0, form="score", base=-3.0), "60 of 60"),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, miscalibrated=0.5), "98 of 200"),
    Cell("7", Predicted(20_000, HALVES, notion="equalized-odds", higher=1.0, form="number"), "7 of 20"),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, miscalibrated=2.0)),
    Cell("7", Predicted(50_000, FIFTH, notion="equalized-odds", higher=1.0, form="number", miscalibrated=2.0)),
    Cell("7", Predicted(20_000, HALVES, higher=1.0, form="number", miscalibrated=0.5)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells and return 1 if one reports too often."""
    options = _options(arguments)
    chosen = [cell for cell in CELLS if options.only in (None, cell.row)]
    counts = []
    row = None
    for cell, found in zip(chosen, _runs(chosen, options), strict=True):
        if cell.row != row:
            row = cell.row
            print(f"Row {row}: {ROWS[row]}")
        counts.append(found)
        before = f"   (once {cell.before})" if cell.before else ""
        print(f"  {_line(found, options.runs, len(chosen))}   {cell.world.words()}{before}", flush=True)
    together = _line(sum(counts), options.runs * len(chosen), 1)
    print(f"All\n  {together}")
    broken = [c for c in counts if limits(c, options.runs, LEVEL / len(chosen))[0] > LEVEL]
    all_together = limits(sum(counts), options.runs * len(chosen), LEVEL)[0] > LEVEL
    print(f"{len(broken)} of {len(chosen)} cells report too often{', and all together' if all_together else ''}")
    return int(bool(broken) or all_together)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m calibration.holds", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200, help="runs of each cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    parser.add_argument("--only", choices=tuple(ROWS), help="one row")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    return parser.parse_args(arguments)


def _runs(cells: Sequence[Cell], options: argparse.Namespace) -> Iterator[int]:
    """Yield how many runs of each cell had a finding; the processes share the runs of a cell."""
    with ProcessPoolExecutor(options.jobs) if options.jobs > 1 else nullcontext() as pool:
        for cell in cells:
            run = partial(cell.run, options.seed)
            results = map(run, range(options.runs)) if pool is None else pool.map(run, range(options.runs))
            yield sum(results)


def _line(found: int, runs: int, cells: int) -> str:
    low = limits(found, runs, LEVEL / cells)[0]
    high = limits(found, runs, 0.025)[1]
    return f"{found:4d} of {runs} = {found / runs:6.1%}  (at least {low:.1%}, at most {high:.1%})"


if __name__ == "__main__":
    sys.exit(main())
