"""The paper's microbenchmark: how large must a group be, and how strong its bias, to be found?

Run ``python -m examples.microbenchmark``: 240 runs on a million made-up people each, a few minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import fairtest as ft
from examples.command import Clock, Sources, main
from fairtest.datasets.planted import microbenchmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.datasets.planted import Microbenchmark

PEOPLE = 988_871
SIZES = (100, 500, 1_000, 2_000, 5_000, 10_000)
DELTAS = (0.025, 0.05, 0.10, 0.15)
TRIALS = 10
PLANTED = 10


@dataclass(frozen=True)
class Trial:
    """What one run found of ten planted groups: proposed by the search, and reported; and findings that are false."""

    size: int
    delta: float
    seed: int
    detected: int
    reported: int
    findings: int
    false: int


@dataclass(frozen=True)
class Story:
    """All runs, and the time of one of them; there is no report to keep."""

    trials: Sequence[Trial]
    clock: Clock
    people: int = PEOPLE

    @property
    def reports(self) -> dict[str, ft.Report]:
        """None: 240 are too many."""
        return {}

    def cell(self, size: int, delta: float) -> list[Trial]:
        """Return the runs with groups of one size and one bias."""
        return [
            trial for trial in self.trials if (trial.size, trial.delta) == (size, delta)
        ]

    def mean(self, what: str, size: int, delta: float) -> float:
        """Return how many planted groups are detected, or reported, on average over the runs of a cell."""
        cell = self.cell(size, delta)
        return float(sum(getattr(trial, what) for trial in cell) / len(cell))

    def total(self, what: str) -> float:
        """Return the sum of the means over all cells, of which each has ten planted groups."""
        return sum(self.mean(what, size, delta) for size in SIZES for delta in DELTAS)


def ask(population: Microbenchmark, seed: int, clock: Clock) -> tuple[ft.Report, int]:
    """Ask whether the output goes with income; count the planted groups that the search proposes."""
    source = ft.DataSource(population.frame, seed=seed)
    income = ft.Testing(source, protected="Income", output="Output")
    with clock.training():
        training = ft.train(income, min_size=50)[0]
    with clock.testing():
        ft.test(income)
        report = ft.report(income)[0]
    return report, len(population.found_by(training.found[0].contexts))


def try_once(
    size: int, delta: float, seed: int, clock: Clock, people: int = PEOPLE
) -> Trial:
    """Plant ten groups, look for them, and compare."""
    population = microbenchmark(size, delta, seed=seed, people=people)
    report, detected = ask(population, seed, clock)
    contexts = [finding.context for finding in report.findings]
    false = sum(map(population.is_false, contexts))
    return Trial(
        size,
        delta,
        seed,
        detected,
        len(population.found_by(contexts)),
        len(contexts),
        false,
    )


def cells() -> Iterator[tuple[int, float, int]]:
    """Yield size, bias and first seed of each cell."""
    for i, size in enumerate(SIZES):
        for j, delta in enumerate(DELTAS):
            yield size, delta, 10_000 * (len(DELTAS) * i + j)


def run(sources: Sources, trials: int = TRIALS, people: int = PEOPLE) -> Story:  # noqa: ARG001, nothing is needed
    """Try every cell a few times."""
    clock = Clock()
    tried = [
        try_once(size, delta, first + k, clock, people)
        for size, delta, first in cells()
        for k in range(trials)
    ]
    return Story(tried, clock.divided(len(tried)), people)


def tell(story: Story) -> Iterator[str]:
    """Say how many of ten planted groups are found, by size and bias."""
    runs = len(story.trials)
    yield f"{story.people:,} people, {PLANTED} planted groups a run, {runs} runs; means over the runs of a cell\n"
    for what, words in (
        ("detected", "proposed by the search"),
        ("reported", "reported: confirmed on the test set"),
    ):
        yield f"Planted groups {words}"
        yield f"{'size of group':>14}" + "".join(
            f"{f'Δ {100 * delta:g} %':>10}" for delta in DELTAS
        )
        for size in SIZES:
            yield f"{size:>14,}" + "".join(
                f"{story.mean(what, size, delta):>10.1f}" for delta in DELTAS
            )
        yield f"{story.total(what):.1f} of {PLANTED * len(SIZES) * len(DELTAS)}\n"
    false = sum(trial.false > 0 for trial in story.trials)
    findings = sum(trial.findings for trial in story.trials)
    yield f"{findings:,} findings in all; a false one in {false} of {runs} runs"


if __name__ == "__main__":
    main(run, tell, __doc__)
