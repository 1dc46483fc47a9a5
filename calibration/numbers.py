"""Do the intervals of the difference of two medians, and of the ratio of two means, hold the truth?

``python -m calibration.numbers`` draws two groups of known shape and counts, at 95 % and at 99.95 %. A cell fails when
the upper Clopper–Pearson limit of its coverage, Bonferroni over all cells, is below 94 % or 99.9 %. With ``--rows``, of
rows that are not one person each (:mod:`calibration.numbers_of_rows`).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibration.numbers_of_rows import run_row_cells
from calibration.sections import PAGE, exact_limits, write_section
from fairtest.statistics.numbers.mean_difference import TwoGroups
from fairtest.statistics.numbers.mean_ratio import mean_ratio_interval
from fairtest.statistics.numbers.medians import median_gap_interval, median_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
    Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

LEVELS = {0.05: 0.94, 0.0005: 0.999}
"""The least coverage of intervals at each level."""
MOST_NUMBERS = 10_000_000
"""A cell draws at most so many numbers: large groups are drawn less often."""


def _pay(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.asarray(rng.lognormal(3, 0.5, n))


def _heavy(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.asarray(np.abs(rng.standard_t(3, n)))


def _gains(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.where(rng.random(n) < 0.6, rng.exponential(1.0, n), 0.0)


def _hours(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.where(rng.random(n) < 0.45, 40.0, rng.integers(20, 61, n)).astype(float)


SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(10, 2, n), 10.0),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), float(np.log(2))),
    "log-normal ½": (_pay, float(np.exp(3))),
    "log-normal 1": (lambda rng, n: rng.lognormal(0, 1, n), 1.0),
    "absolute t with 3 degrees": (_heavy, 0.7648923284),
    "exponential, two fifths 0": (_gains, float(np.log(1.2))),
    "hours, many alike": (_hours, 40.0),
}
"""How numbers are drawn, and their median."""
SIZES = ((25, 25), (40, 40), (30, 300), (200, 1_000), (2_000, 2_000), (50_000, 50_000))
TIMES = (1.0, 0.7)
"""By what the numbers of the first group are multiplied."""


@dataclass(frozen=True)
class Cell:
    """How many intervals of one design held the truth, by level."""

    name: str
    runs: int
    medians: dict[float, int]
    ratios: dict[float, int]

    def broken(self, kind: str, cells: int) -> list[float]:
        """Return the levels at which the intervals of medians or of ratios hold the truth too seldom."""
        hits = self.medians if kind == "medians" else self.ratios
        tests = 2 * len(LEVELS) * cells
        return [a for a, least in LEVELS.items() if exact_limits(hits[a], self.runs, 2 * 0.05 / tests)[1] < least]

    def line(self) -> str:
        """Return the cell as a line of a table."""
        shares = (" / ".join(f"{hits[a] / self.runs:.4f}" for a in LEVELS) for hits in (self.medians, self.ratios))
        return f"| {self.name} | {self.runs:,} | {' | '.join(shares)} |"


def run_cells(runs: int, most: int = MOST_NUMBERS) -> Iterator[Cell]:
    """Yield the cells of all shapes and sizes, one by one."""
    for name, (draw, median) in SHAPES.items():
        for times in TIMES:
            for first, second in SIZES:
                rng = np.random.default_rng([5, first, second, int(10 * times)])
                number = max(min(runs, most // (first + second)), 1)
                draws = [(np.sort(times * draw(rng, first)), np.sort(draw(rng, second))) for _ in range(number)]
                truth = (times - 1) * median
                yield Cell(
                    f"{name}, {first:,} and {second:,}, times {times:g}",
                    number,
                    {a: sum(_holds_medians(pair, truth, a) for pair in draws) for a in LEVELS},
                    {a: _count_ratios(draws, times, a) for a in LEVELS},
                )


def _holds_medians(pair: Pair, truth: float, alpha: float) -> bool:
    """Whether the interval of the difference of two medians holds the truth."""
    (first, ends), (second, other) = ((float(np.median(v)), median_interval(v, alpha)) for v in pair)
    low, high = median_gap_interval(first, ends, second, other)
    return low - 1e-9 <= truth <= high + 1e-9


def _count_ratios(draws: Sequence[Pair], truth: float, alpha: float) -> int:
    """Return how many intervals of the ratio of means hold the truth."""
    return sum(low <= truth <= high for low, high in mean_ratio_interval(_two_groups(draws), alpha))


def _two_groups(draws: Sequence[Pair]) -> TwoGroups:
    """Return the sums of each draw: those of the reference, the second of a pair, and of the group."""

    def measure(of: Callable[[NDArray[np.float64]], float]) -> NDArray[np.float64]:
        return np.array([[[of(b), of(a)]] for a, b in draws], dtype=float)

    return TwoGroups(
        measure(len),
        measure(lambda v: float(v.mean())),
        measure(lambda v: float(((v - v.mean()) ** 2).sum())),
        measure(lambda v: float(((v - v.mean()) ** 3).sum())),
    )


TITLE_OF_ROWS = "Medians, ratios and rates of several rows a person, with weights, or both: single intervals at 95 %"
TITLE = "Medians and ratios of means: single intervals that hold the truth"


def write_row_cells(runs: int, page: str) -> None:
    """Run the cells of rows that are not people, and write them into the page."""
    lines = ["| design | replicates | medians | ratio of means | rate |", "| --- | --- | --- | --- | --- |"]
    cells = []
    for cell in run_row_cells(runs):
        cells.append(cell)
        lines.append(cell.line())
        print(lines[-1], flush=True)
    broken = [f"{cell.name} ({kind})" for cell in cells for kind in cell.broken(len(cells))]
    lines += ["", f"Cells in which the rule is broken: {'; '.join(broken) or 'none'}."]
    print(lines[-1])
    write_section(page, "numbers-rows", TITLE_OF_ROWS, lines)


def main() -> None:
    """Run all cells, a line for each as it is done, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--out", default=PAGE, help="the page")
    parser.add_argument("--rows", action="store_true", help="of rows that are not one person each")
    asked = parser.parse_args()
    if asked.rows:
        write_row_cells(asked.runs, asked.out)
        return
    cells = []
    lines = ["| design | replicates | medians, 95 / 99.95 % | ratio, 95 / 99.95 % |", "| --- | --- | --- | --- |"]
    for cell in run_cells(asked.runs):
        cells.append(cell)
        lines.append(cell.line())
        print(lines[-1], flush=True)
    broken = {
        kind: [f"{cell.name} ({100 * (1 - a):g} %)" for cell in cells for a in cell.broken(kind, len(cells))]
        for kind in ("medians", "ratios")
    }
    for kind, names in broken.items():
        lines += ["", f"Cells of {kind} in which the rule is broken: {'; '.join(names) or 'none'}."]
        print(lines[-1])
    write_section(asked.out, "numbers", TITLE, lines)


if __name__ == "__main__":
    main()
