"""Several rows a person and survey weights: whole runs on data without any link, and what planted ones cost.

``python -m calibration.people null``: the share of runs with a finding, with ``person=`` and without it.
``python -m calibration.people coverage``: single intervals of planted effects over everybody, by metric.
``python -m calibration.people weights``: level and coverage under informative weights.
``python -m calibration.people power``: a planted context in a log of many rows, and with each person's rows averaged.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import beta

import fairtest as ft

QUESTIONS: dict[str, tuple[str, str, str | None]] = {
    "DIFF": ("sex", "yes", None),
    "DIFF rare": ("sex", "rare", None),
    "RATIO": ("sex", "yes", "RATIO"),
    "NMI": ("race", "grade", None),
    "MEAN": ("sex", "amount", None),
    "CORR": ("score", "amount", "CORR"),
    "RANK": ("score", "amount", "RANK"),
    "ETA": ("race", "amount", None),
}
"""Protected attribute, output and metric: every metric, DIFF also with a rate of 7 %."""
PEOPLE, ROWS = (300, 1500), (2, 5, 20, "unequal")
MOST_ROWS = 100


def log_of(rng: np.random.Generator, people: int, rows: int | str, *, fixed: bool) -> pl.DataFrame:
    """Return a log without any link, in which outputs of a person depend on each other.

    ``fixed`` says whether attributes are those of the person, or of the row.
    """
    each = np.minimum(rng.geometric(0.2, people), MOST_ROWS) if rows == "unequal" else np.full(people, int(rows))
    person = np.repeat(np.arange(people), each)
    n = person.size
    habit, noise = rng.normal(size=people)[person], rng.normal(size=n)

    def choose(values: list[str], share: list[float] | None = None, *, of_person: bool = fixed) -> Any:
        return rng.choice(values, people, p=share)[person] if of_person else rng.choice(values, n, p=share)

    return pl.DataFrame(
        {
            "user": [f"user {p}" for p in person],
            "sex": choose(["f", "m"], [0.3, 0.7]),
            "race": choose(list("abcd"), [0.6, 0.25, 0.1, 0.05]),
            "score": rng.normal(size=people)[person] + (0 if fixed else rng.normal(size=n)),
            "region": choose(list("NESW"), of_person=True),
            "age": rng.integers(18, 80, people)[person],
            "device": choose(list("pqr"), of_person=False),
            "dept": choose(list("xyz")),
            "yes": (1.5 * habit + noise > 0.8).astype(int),
            "rare": (1.5 * habit + noise > 2.7).astype(int),
            "grade": np.array(list("ABC"))[np.digitize(1.5 * habit + noise, [-0.5, 0.9])],
            "amount": np.exp(0.8 * habit + 0.6 * noise),
        }
    )


def found_anything(report: ft.Report) -> bool:
    """Whether a report claims any link."""
    return bool(report.findings) or any(attribute.population.significant for attribute in report.attributes)


def ask(log: pl.DataFrame, question: str, given: str | None, seed: int, *, by_person: bool) -> bool:
    """Return whether an audit of a log without links finds one."""
    protected, output, metric = QUESTIONS[question]
    roles = {"sex", "race", "score", "dept", "yes", "rare", "grade", "amount"} - {protected, output, given}
    report = ft.audit(
        log,
        protected=protected,
        output=output,
        metrics=metric,
        explanatory=given,
        exclude=sorted(roles | (set() if by_person else {"user"})),
        person="user" if by_person else None,
        min_size=30,
        seed=seed,
    )
    return found_anything(report)


def null_runs(first: int, seeds: int, *, beside: bool) -> None:
    """Print, after every seed, how many runs of each cell have a finding, and the same without ``person=``."""
    counts: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    cells = [
        cell
        for cell in product(QUESTIONS, (None, "dept"), PEOPLE, ROWS, (True, False))
        if not (cell[0] == "RATIO" and cell[1])
    ]
    for seed in range(first, first + seeds):
        for place, (question, given, people, rows, fixed) in enumerate(cells):
            if (place + seed) % 3:  # a third of the cells for each seed: what is cut short is balanced
                continue
            log = log_of(np.random.default_rng([seed, place]), people, rows, fixed=fixed)
            found = counts[question, given, people, rows, fixed]
            found[0] += ask(log, question, given, seed, by_person=True)
            found[1] += 1
            if beside and seed == first:
                found[2] += ask(log, question, given, seed, by_person=False)
                found[3] += 1
        _print_counts(counts, seed)


def _print_counts(counts: dict[tuple[Any, ...], list[int]], seed: int) -> None:
    print(f"seed {seed}")
    for name, place in (("metric", 0), ("given", 1), ("people", 2), ("rows", 3), ("fixed", 4), ("all", None)):
        sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for cell, found in counts.items():
            key = "" if place is None else cell[place]
            sums[key] = [a + b for a, b in zip(sums[key], found, strict=True)]
        for key, (hits, runs, hits_without, runs_without) in sums.items():
            beside = f"; without person= {hits_without} of {runs_without}" if runs_without else ""
            print(f"  {name} {key}: {hits} of {runs} (lower limit {_lower(hits, runs):.3f}){beside}", flush=True)
    worst = max((_lower(hits, runs, len(counts)) for hits, runs, *_ in counts.values()), default=0.0)
    print(f"  largest lower limit of a cell, over {len(counts)} cells: {worst:.3f}", flush=True)


def _lower(hits: int, runs: int, cells: int = 1) -> float:
    """Return the lower 95 % limit of a share, over several cells together."""
    return float(beta.ppf(0.05 / cells, hits, runs - hits + 1)) if hits else 0.0


def linked_log(rng: np.random.Generator, people: int, rows: int | str, *, fixed: bool) -> pl.DataFrame:
    """Return a log in which outputs have to do with sex, race and score, beside what people are in the habit of."""
    log = log_of(rng, people, rows, fixed=fixed)
    person = log["user"].rank("dense").to_numpy() - 1
    n = person.size
    woman, score = (log["sex"] == "f").to_numpy(), log["score"].to_numpy()
    level = np.array([{"a": 0.0, "b": 0.5, "c": -0.6, "d": 1.0}[r] for r in log["race"]])
    habit, noise = rng.normal(size=people)[person.astype(int)], rng.normal(size=n)
    latent = habit + noise + 0.5 * woman
    return log.with_columns(
        yes=pl.Series((latent > 0.8).astype(int)),
        rare=pl.Series((latent > 2.2).astype(int)),
        grade=pl.Series(np.array(list("ABC"))[np.digitize(habit + noise + level, [-0.5, 0.9])]),
        amount=pl.Series(np.exp(0.4 * (habit + noise) + 0.3 * woman + 0.25 * score + 0.2 * level)),
    )


def coverage_runs(first: int, seeds: int) -> None:
    """Print how often single intervals hold the effect that very many people have."""
    for rows, fixed in product(ROWS, (True, False)):
        large = linked_log(np.random.default_rng([7, fixed]), 60_000 if rows != 20 else 20_000, rows, fixed=fixed)
        for question in QUESTIONS:
            truth = _population(large, question, 0).effect
            hits = 0
            for seed in range(first, first + seeds):
                log = linked_log(np.random.default_rng([seed, 1]), 400, rows, fixed=fixed)
                low, high = _population(log, question, seed).interval_single or (np.nan, np.nan)
                hits += low <= truth <= high
            print(f"{question}, rows {rows}, fixed {fixed}: {hits} of {seeds}", flush=True)


def _population(log: pl.DataFrame, question: str, seed: int) -> Any:
    """Return what an audit says of everybody, without any context but one."""
    protected, output, metric = QUESTIONS[question]
    report = ft.audit(
        log, protected=protected, output=output, metrics=metric, contextual=["device"], person="user", seed=seed
    )
    return report.attributes[0].population


def survey_of(rng: np.random.Generator, n: int, spread: float, gap: float) -> pl.DataFrame:
    """Return a sample drawn with weights that have to do with group and output; the population has a gap."""
    woman = rng.random(n) < 0.4
    yes = rng.random(n) < 0.35 + gap * woman
    sigma = np.sqrt(np.log1p(spread**2))
    # the chance to be drawn falls with the weight, which is larger for women, and for those with yes
    weight = np.exp(sigma * rng.normal(size=n) + 0.4 * woman + 0.4 * yes)
    drawn = rng.random(n) < np.minimum(0.25 * weight.min() / weight * (np.median(weight) / weight.min()), 1.0)
    kept = {"sex": np.where(woman, "f", "m"), "yes": yes.astype(int), "region": rng.choice(list("NESW"), n)}
    chance = np.minimum(0.25 * np.median(weight) / weight, 1.0)
    return pl.DataFrame({name: column[drawn] for name, column in kept.items()} | {"weight": (1 / chance)[drawn]})


def weighted_runs(first: int, seeds: int) -> None:
    """Print level and coverage of the population's gap under informative weights."""
    for spread, gap in product((0.5, 1.0, 2.0), (0.0, 0.1)):
        covered = found = 0
        for seed in range(first, first + seeds):
            sample = survey_of(np.random.default_rng([seed, int(10 * spread), int(10 * gap)]), 8000, spread, gap)
            report = ft.audit(sample, protected="sex", output="yes", weights="weight", seed=seed)
            low, high = report.attributes[0].population.interval_single or (np.nan, np.nan)
            sign = 1 if report.attributes[0].reference == "m" else -1
            covered += low <= sign * gap <= high
            found += found_anything(report)
        what = "a finding" if gap == 0 else "the gap seen"
        print(f"spread {spread}, gap {gap}: covered {covered} of {seeds}, {what} {found} of {seeds}", flush=True)


def power_runs(first: int, seeds: int) -> None:
    """Print how often a planted context is reported: from 20 rows a person, and from one row with their average."""
    found = {"rows": 0, "averages": 0}
    for seed in range(first, first + seeds):
        rng = np.random.default_rng([seed, 20])
        people, rows = 2500, 20
        person = np.repeat(np.arange(people), rows)
        sex, region = rng.choice(["f", "m"], people), rng.choice(list("NESW"), people)
        shift = 0.35 * ((sex == "f") & (region == "N"))
        amount = (rng.normal(size=people) + shift)[person] + rng.normal(size=person.size)
        columns = {"sex": sex[person], "region": region[person], "age": rng.integers(18, 80, people)[person]}
        log = pl.DataFrame({"user": person, **columns, "amount": amount})
        averages = log.group_by("user", maintain_order=True).agg(
            pl.col("sex", "region", "age").first(), pl.mean("amount")
        )
        for name, table, person_column in (("rows", log, "user"), ("averages", averages, None)):
            barred = [] if person_column else ["user"]
            report = ft.audit(table, protected="sex", output="amount", person=person_column, exclude=barred, seed=seed)
            found[name] += any(str(f.context) == "region = N" for f in report.findings)
    print(f"planted context reported, {seeds} data sets: {found}")


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "coverage", "weights", "power"))
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=1000)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ft.FairTestWarning)
    if given.what == "null":
        null_runs(given.first, given.seeds, beside=True)
    else:
        runs = {"coverage": coverage_runs, "weights": weighted_runs, "power": power_runs}
        runs[given.what](given.first, given.seeds)


if __name__ == "__main__":
    main()
