"""Medians, ratios of means and rates of rows that are not one person each: do their single intervals hold the truth?

``python -m calibration.numbers --rows`` draws two groups with several rows of each person, which depend on each other,
with weights that have to do with group and number, or with both, and counts intervals at 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from calibration.sections import exact_limits
from fairtest.engine.contract import Rows
from fairtest.inference.effective import shrink_alpha
from fairtest.inference.weighed_gaps import weigh_gaps
from fairtest.inference.weighed_rates import weigh_rate
from fairtest.statistics.design import RowSums
from fairtest.statistics.domains import weighted_median_interval
from fairtest.statistics.numbers.mean_difference import TwoGroups
from fairtest.statistics.numbers.mean_ratio import mean_ratio_interval
from fairtest.statistics.numbers.medians import median_gap_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fairtest.types import Interval

ALPHA, LEAST = 0.05, 0.94
TIMES = 0.8
"""By what the numbers of the group are multiplied."""
HABIT = 0.5
"""How much of what a row has is the habit of its person."""


def _hours(rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return hours of which two fifths are 40, from ranks."""
    return np.where(rank < 0.3, 20 + np.floor(rank / 0.3 * 20), np.where(rank < 0.7, 40, 41 + 20 * (rank - 0.7) / 0.3))


SHAPES: dict[str, tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], float]] = {
    "log-normal ½": (lambda rank: np.exp(3 + 0.5 * special.ndtri(rank)), float(np.exp(3))),
    "exponential": (lambda rank: -np.log1p(-rank), float(np.log(2))),
    "hours, many alike": (_hours, 40.0),
}
"""How numbers follow from ranks, and their median."""


@dataclass(frozen=True)
class Design:
    """Whose the rows are and what they weigh.

    Attributes
    ----------
    rows
        How many a person has on average, more or fewer.
    by_row
        Whether the group is that of the row, and not of the person.
    weighted
        Whether rows are drawn with chances that have to do with group and number, and weighted by their inverse.
    """

    people: int
    rows: int = 1
    by_row: bool = False
    weighted: bool = False
    share: float = 0.3

    def draw(self, rng: np.random.Generator, shape: str) -> Rows:
        """Return rows of two groups, 1 and the reference 0."""
        person = np.repeat(np.arange(self.people), rng.integers(1, 2 * self.rows, self.people))
        n = person.size
        group = rng.random(n) < self.share if self.by_row else (rng.random(self.people) < self.share)[person]
        habit = rng.normal(size=self.people)[person]
        own = np.sqrt(HABIT) * habit + np.sqrt(1 - HABIT) * rng.normal(size=n)
        number = SHAPES[shape][0](special.ndtr(own)) * np.where(group, TIMES, 1.0)
        weight = np.exp(0.6 * rng.normal(size=n) + 0.3 * group + 0.5 * (own > 0)) if self.weighted else np.full(n, 0.4)
        chance = np.minimum(0.4 / weight, 1.0)
        at = rng.random(n) < chance
        stratum = np.zeros(np.count_nonzero(at), dtype=np.int64)
        drawn = 1 / chance[at] if self.weighted else None
        return Rows(group[at].astype(int), number[at], stratum, {}, person[at] if self.rows > 1 else None, drawn)


DESIGNS = {
    "rows of people": Design(150, rows=4),
    "rows of many people": Design(1_500, rows=6),
    "group of the row": Design(120, rows=5, by_row=True),
    "weights": Design(800, weighted=True),
    "rows and weights": Design(500, rows=4, weighted=True),
    "a rare group, rows and weights": Design(1_500, rows=4, weighted=True, share=0.06),
}


@dataclass(frozen=True)
class RowCell:
    """How many intervals of one design held the truth: of medians' gaps, ratios of means, and rates."""

    name: str
    runs: int
    hits: dict[str, int]

    def broken(self, cells: int) -> list[str]:
        """Return what holds the truth too seldom."""
        tests = 3 * cells
        return [kind for kind, n in self.hits.items() if exact_limits(n, self.runs, 2 * 0.05 / tests)[1] < LEAST]

    def line(self) -> str:
        """Return the cell as a line of a table."""
        return f"| {self.name} | {self.runs:,} | {' | '.join(f'{n / self.runs:.4f}' for n in self.hits.values())} |"


def run_row_cells(runs: int) -> Iterator[RowCell]:
    """Yield the cells of all shapes and designs, one by one."""
    for shape, (_, median) in SHAPES.items():
        for place, (name, design) in enumerate(DESIGNS.items()):
            rng = np.random.default_rng([29, place, len(shape)])
            truth = {"medians": (TIMES - 1) * median, "ratio": TIMES, "rate": 0.5}
            hits = dict.fromkeys(truth, 0)
            for _ in range(runs):
                found = intervals_of(design.draw(rng, shape), median)
                for kind, (low, high) in found.items():
                    hits[kind] += bool(low - 1e-9 <= _true_rate(shape, kind, truth[kind]) <= high + 1e-9)
            yield RowCell(f"{shape}, {name}", runs, hits)


def _true_rate(shape: str, kind: str, otherwise: float) -> float:
    """Return the truth: of numbers that are alike, more than half are at most the median."""
    return 0.7 if kind == "rate" and shape.startswith("hours") else otherwise


def intervals_of(rows: Rows, median: float) -> dict[str, Interval]:
    """Return the single intervals of one sample; the rate is that of the group with at most the group's true median."""
    numbers, is_group = np.asarray(rows.output), rows.protected == 1
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    worth = weigh_gaps(rows, 0, [1], [0], is_number=True)
    medians, ends, sums = [], [], []
    for member in (is_group, ~is_group):
        some = rows.take(member)
        own = RowSums.of(some.person, some.weight, np.zeros(len(some), dtype=int))
        order = np.argsort(numbers[member])
        share = np.cumsum(own.weight[order]) / own.mass
        medians.append(float(numbers[member][order][np.searchsorted(share, 0.5 - 1e-12)]))
        ends.append(weighted_median_interval(own, numbers[member], ALPHA))
        mean = np.average(numbers[member], weights=weight[member])
        powers = [(weight[member] * (numbers[member] - mean) ** power).sum() for power in (2, 3)]
        sums.append([own.mass, mean, *powers])
    (first, second), correlation = medians, worth.correlate_medians(0, 1, (medians[0], medians[1]))
    n, mean, s2, s3 = np.array(sums[::-1]).T[:, None, None]
    scale, df = worth.weigh_ratio(0, 0, 1, float(mean[0, 0, 1] / mean[0, 0, 0]))
    two = TwoGroups(n * scale, mean, s2 * scale, s3 * scale)
    [ratio] = mean_ratio_interval(two, shrink_alpha(np.array([ALPHA]), np.array([df])))
    rate = weigh_rate(rows, numbers <= median * TIMES + 1e-9, is_group)
    return {
        "medians": median_gap_interval(first, ends[0], second, ends[1], correlation),
        "ratio": ratio,
        "rate": (0.0, 1.0) if rate is None else rate.interval,
    }
