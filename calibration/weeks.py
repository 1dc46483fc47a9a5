"""Weeks of daily reports on people without bias: how many say something false, all seven reports together.

Run it with ``make weeks``, or ``python -m calibration.weeks --weeks 200``. Each day brings new people; everybody who
came before is searched, and the day's people are tested at their share of an error rate of 5 % over the life of a
monitor, as a periodic report of the service does it. The rate of the output goes up and down with days and regions;
of one region, women and men come in another proportion. Nothing goes with sex.
"""

from __future__ import annotations

import argparse
import sys
from time import process_time

import numpy as np
import polars as pl

from calibration.rules import limits
from fairtest.data.holdout import series_weight
from fairtest.data.source import DataSource
from fairtest.investigations.testing import Testing
from fairtest.pipeline.periodic import put_under_budget, run_question

DAYS, RATE = 7, 0.05


def draw_people(rng: np.random.Generator, day: int, n: int) -> pl.DataFrame:
    """Return the people of a day."""
    region = rng.integers(0, 5, n)
    sex = rng.random(n) < np.where(region == 0, 0.3, 0.5)
    chance = 0.3 + 0.05 * region + 0.1 * np.sin(day)
    return pl.DataFrame({
        "sex": np.where(sex, "f", "m"),
        "region": [f"region {each}" for each in region],
        "job": [f"job {each}" for each in rng.integers(0, 12, n)],
        "age": rng.integers(18, 80, n),
        "purpose": [f"purpose {each}" for each in rng.integers(0, 6, n)],
        "granted": rng.random(n) < chance,
    })  # fmt: skip


def count_false_reports(seed: int, people: int) -> int:
    """Return how many of the reports of a week say something."""
    rng = np.random.default_rng((20_26, seed))
    before, wrong = draw_people(rng, 0, people), 0
    for day in range(1, DAYS + 1):
        today = draw_people(rng, day, people)
        source = DataSource.divided(before, today, RATE * series_weight(day), seed, name="week")
        budget = put_under_budget(source)
        # where the region decides both, only people of one region are compared
        run_question(Testing(source, "sex", "granted", explanatory="region"), {}, {})
        wrong += any(each.report.significant + each.report.significant_strata for each in budget.answers)
        before = pl.concat([before, today])
    return wrong


def main() -> None:
    """Print each week in which something was said, and how many there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weeks", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--people", type=int, default=2000)
    given = parser.parse_args()
    start, wrong = process_time(), 0
    for week in range(given.first, given.first + given.weeks):
        false = count_false_reports(week, given.people)
        wrong += bool(false)
        if false:
            print(f"week {week}: {false} of {DAYS} reports", flush=True)
    low, high = limits(wrong, given.weeks, 0.025)
    shares = sum(series_weight(day) for day in range(1, DAYS + 1))
    print(
        f"{wrong} of {given.weeks} weeks with something false: {wrong / given.weeks:.1%} [{low:.1%}, {high:.1%}], "
        f"where {RATE * shares:.1%} are allowed; {process_time() - start:.0f} CPU-s",
        flush=True,
    )
    sys.exit(low > RATE * shares)


if __name__ == "__main__":
    main()
