"""People with planted links of every kind, and what the tests of Testing read off them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

import fairtest as ft
from fairtest.statistics.numbers import correlation, oneway

PEOPLE = 6000
ORDERED = {"grade": ["low", "mid", "high"]}


def make_people(n: int = PEOPLE, seed: int = 5) -> pl.DataFrame:
    """Associations are planted among people of city P up to 40 years old, and nowhere else."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.4
    race = rng.choice(["ash", "birch", "cedar"], n, p=[0.5, 0.35, 0.15])
    city = rng.choice(list("PQRS"), n)
    age = rng.integers(18, 80, n)
    there = (city == "P") & (age <= 40)
    years = rng.integers(0, 41, n)
    department = rng.choice(list("XYZ"), n)
    salary = rng.normal(50, 10, n) + 4 * (department == "Y") + there * (12.0 * (race == "cedar") + 0.4 * years)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "woman", "man"),
            "race": race,
            "years": years,
            "grade": np.array(["low", "mid", "high"])[rng.integers(0, 3, n)],
            "city": city,
            "age": age,
            "department": department,
            "shift": rng.choice(["day", "night"], n),
            "hours": rng.gamma(9, 4, n).round(1),
            "member": rng.random(n) < 0.5,
            "level": rng.integers(1, 5, n),
            "joined": [dt.date(2010, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 3000, n)],
            "hired": rng.random(n) < np.where(there & woman, 0.15, 0.5),
            "choice": np.where(there & (race == "cedar"), "no", rng.choice(["no", "maybe", "yes"], n)),
            "salary": salary,
            "points": np.rint(salary).astype(int),
        }
    )


FRAME = make_people()
PAIRS = {
    "DIFF": ("sex", "hired"),
    "RATIO": ("sex", "hired"),
    "NMI": ("race", "choice"),
    "CORR": ("years", "salary"),
    "ETA": ("race", "salary"),
    "RANK": ("years", "points"),
}
SETTINGS = {"search": "tree", "correction": "holm"}
CONTEXT = ["city", "age", "department", "shift", "member", "level", "joined"]


def audited(protected, output, frame: pl.DataFrame = FRAME, **options):
    """Return the report, and the people of its test set."""
    own = {
        k: options.pop(k)
        for k in ("categorical", "numeric", "ordered", "favourable", "reference", "seed")
        if k in options
    }
    source = ft.DataSource(frame, **{"ordered": ORDERED, "train_size": 0.5, **own})
    call = {"contextual": CONTEXT, "max_depth": 2, "min_size": 200, **SETTINGS, **options}
    for name in np.atleast_1d(call.get("explanatory") or []):
        call["contextual"] = call["contextual"] and [c for c in call["contextual"] if c != name]
    report = ft.audit(source, protected, output, **call)
    return report, frame[source.holdout.rows(1)]


def people_of(finding: ft.Finding, test: pl.DataFrame, everybody: pl.DataFrame = FRAME) -> pl.DataFrame:
    """Return the people a finding is about: those of the test set in its context, or everybody."""
    return test.filter(finding.context.mask(test)) if len(finding.context) else everybody


def levels_of(report: ft.Report, share: float = 0.5) -> tuple[float, float]:
    """Return the levels of simultaneous intervals by Holm's correction: of each population, and of each context."""
    populations = sum(p.p_value is not None for p in report.populations)
    strata = sum(s.p_value is not None for p in report.populations for s in p.strata)
    level, contexts = report.settings.level, report.tested - populations - strata
    left = (1 - share) * level * (0.8 if strata else 1)
    return share * level / populations, left / max(contexts, 1)


def all_of(report: ft.Report) -> list[ft.Finding]:
    return [*report.populations, *report.findings]


def count_table(frame: pl.DataFrame, output: str, protected: str, rows, columns) -> np.ndarray:
    o, s = frame[output].to_list(), frame[protected].to_list()
    return np.array([[sum(a == r and b == c for a, b in zip(o, s, strict=True)) for c in columns] for r in rows])


def rates_of(table: np.ndarray) -> list[np.ndarray]:
    """Return the group's hits and people, then the reference's, of ``[..., output, group]``."""
    return [table[..., 1, 1], table[..., :, 1].sum(-1), table[..., 1, 0], table[..., :, 0].sum(-1)]


def central_sums(x: np.ndarray, y: np.ndarray, stratum: np.ndarray) -> correlation.CentralSums:
    x, y = (np.asarray(v, dtype=float) for v in (x, y))
    for e in np.unique(stratum):
        at = stratum == e
        x, y = (np.where(at, v - v[at].mean(), v) for v in (x, y))
    orders = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4), (3, 0), (2, 1), (1, 2), (0, 3)]
    sums = [np.array([np.sum(x**i * y**j)]) for i, j in orders]
    return correlation.CentralSums(np.array([x.size]), np.array([np.unique(stratum).size]), *sums)


def groups_of(x: np.ndarray, group: np.ndarray) -> oneway.Groups:
    parts = [x[group == g] for g in np.unique(group)]
    sums = [[np.sum((p - p.mean()) ** k) for p in parts] for k in (2, 3, 4)]
    return oneway.Groups(
        np.array([[p.size for p in parts]]), *(np.array([v]) for v in ([p.mean() for p in parts], *sums))
    )
