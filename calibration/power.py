"""Power: how many planted contexts are reported, through the public interface and with its default settings.

``narrow`` is the microbenchmark of the paper: about a million people, ten (state, race) contexts of one size in which
the rates of two income groups differ by 2Δ; six sizes, four Δ. A planted context counts when a reported context has
exactly its state and race. ``wide`` has 15 columns, planted contexts of two and three predicates and thresholds; one
counts when four fifths of a reported context are inside it, or the two share six tenths of their people.

    python -m calibration.power narrow --trials 10
    python -m calibration.power wide --trials 12 --delta 0.10
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft
from fairtest.datasets.planted import microbenchmark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

SIZES = (100, 500, 1000, 2000, 5000, 10_000)
DELTAS = (0.025, 0.05, 0.10, 0.15)


@dataclass(frozen=True)
class Trial:
    """What one run reported."""

    hits: int
    reported: int
    false: bool
    seconds: float


def narrow(size: int, delta: float, seed: int, people: int = 988_871, **options: Any) -> Trial:
    """Run the microbenchmark once."""
    population = microbenchmark(size, delta, seed=seed, people=people)
    start = process_time()
    report = ft.audit(population.frame, "Income", "Output", min_size=50, seed=seed, **options)
    seconds = process_time() - start
    contexts = [finding.context for finding in report.findings]
    false = any(map(population.is_false, contexts))
    return Trial(len(population.found_by(contexts)), len(contexts), false, seconds)


def wide(delta: float, seed: int, people: int = 200_000, **options: Any) -> Trial:
    """Run the wide schema once."""
    frame, planted = wide_population(delta, seed, people)
    start = process_time()
    report = ft.audit(frame, "income", "output", seed=seed, **options)
    seconds = process_time() - start
    found = [f.context.mask(frame) for f in report.findings]
    hits = sum(any(_same(f, p) for f in found) for p in planted)
    somewhere = np.logical_or.reduce(planted)
    return Trial(hits, len(found), any((f & somewhere).sum() < 0.01 * f.sum() for f in found), seconds)


def _same(found: NDArray[np.bool_], planted: NDArray[np.bool_]) -> bool:
    both = (found & planted).sum()
    return bool(both >= 0.8 * found.sum() or both / (found | planted).sum() >= 0.6)


def wide_population(delta: float, seed: int, n: int) -> tuple[pl.DataFrame, list[NDArray[np.bool_]]]:
    """Return people in 15 columns, and who belongs to each of ten planted contexts of 0.4 to 1.5 % of them."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, 52) ** -0.8
    codes = {
        "state": rng.choice(51, n, p=weights / weights.sum()),
        "race": rng.choice(6, n, p=[0.62, 0.13, 0.13, 0.06, 0.02, 0.04]),
        "gender": rng.integers(0, 2, n),
        **{f"c{i}": rng.integers(0, k, n) for i, k in enumerate((3, 4, 5, 7, 8, 10))},
    }
    numbers = {f"x{i}": rng.normal(size=n) for i in range(6)}
    income = rng.integers(0, 2, n)
    planted = list(_plant(codes, numbers, rng, n))
    rate = np.full(n, 0.5)
    for inside in planted:
        rate[inside] = np.where(income[inside] == 1, 0.5 + delta, 0.5 - delta)
    levels = {name: np.array([f"v{j:02d}" for j in range(51)])[code] for name, code in codes.items()}
    output = {"income": np.where(income == 1, "high", "low"), "output": (rng.random(n) < rate).astype(int)}
    return pl.DataFrame({**levels, **numbers, **output}), planted


def _plant(
    codes: dict[str, NDArray[np.int64]], numbers: dict[str, NDArray[np.float64]], rng: np.random.Generator, n: int
) -> Iterator[NDArray[np.bool_]]:
    """Yield contexts of five shapes, of the wanted size and hardly overlapping."""

    def value(column: str) -> NDArray[np.bool_]:
        return codes[column] == rng.integers(0, codes[column].max() + 1)

    def number() -> NDArray[np.float64]:
        return numbers[f"x{rng.integers(0, 6)}"]

    def categories() -> NDArray[np.bool_]:
        first, second = rng.choice(6, 2, replace=False)
        return (codes[f"c{first}"] == rng.integers(0, 3)) & (codes[f"c{second}"] == rng.integers(0, 3))

    shapes: list[tuple[int, Callable[[], NDArray[np.bool_]]]] = [
        (3, lambda: value("state") & value("race")),
        (2, lambda: value("state") & value("race") & value("gender")),
        (2, lambda: value("race") & categories()),
        (2, lambda: value("state") & (number() > 0.8 * rng.normal())),
        (1, lambda: value("race") & value("gender") & (number() <= 0.8 * rng.normal())),
    ]
    taken = np.zeros(n, dtype=bool)
    for wanted, draw in shapes:
        made = 0
        while made < wanted:
            inside = draw()
            size = inside.sum()
            if 0.004 * n <= size <= 0.015 * n and (inside & taken).sum() <= 0.05 * size:
                taken |= inside
                made += 1
                yield inside


def _narrow_table(trials: int, first: int, **options: Any) -> None:
    total, everything = 0.0, []
    for i, size in enumerate(SIZES):
        row = [
            [narrow(size, delta, first + 10_000 * (len(DELTAS) * i + j) + k, **options) for k in range(trials)]
            for j, delta in enumerate(DELTAS)
        ]
        means = [float(np.mean([t.hits for t in cell])) for cell in row]
        total += sum(means)
        everything += [t for cell in row for t in cell]
        print(f"{size:>7,}  " + "  ".join(f"{m:5.1f}" for m in means), flush=True)
    _summary(f"{total:.1f} of 240 planted contexts reported", everything)


def _summary(what: str, trials: list[Trial]) -> None:
    false = sum(t.false for t in trials)
    reported = np.mean([t.reported for t in trials])
    print(
        f"{what}; a false finding in {false} of {len(trials)} runs; {reported:.1f} contexts reported a run, at most ",
        end="",
    )
    print(f"{max(t.reported for t in trials)}; {np.mean([t.seconds for t in trials]):.2f} CPU-s a run")


def main() -> None:
    """Run one of the two benchmarks."""
    parser = argparse.ArgumentParser(description="How many planted contexts are reported.")
    parser.add_argument("which", choices=["narrow", "wide"])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--delta", type=float, default=0.10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", default=None)
    given = parser.parse_args()
    if given.which == "narrow":
        _narrow_table(given.trials, given.seed, preset=given.preset)
        return
    trials = [wide(given.delta, given.seed + k, preset=given.preset) for k in range(given.trials)]
    _summary(f"{np.mean([t.hits for t in trials]):.2f} of 10 planted contexts found", trials)


if __name__ == "__main__":
    main()
