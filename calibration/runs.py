"""Whole runs on data without any association: search, validation and report, through the public interface.

A run reports a false finding if anything is significant: a context, the whole population or a stratum. Each
combination of metric, form, size of contexts and share of the group is run with every search and correction; every run
has its own data, so runs can be counted together over whatever differs between them.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ADULT", "Setting", "Tally", "adult_runs", "adult_settings", "null_runs", "settings", "tallies"]

ADULT = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "adult.csv.gz"
SEARCHES = ("tree", "exhaustive", "auto")
CORRECTIONS = ("pooled", "holm", "weighted-holm", "bonferroni", "bh")
FIXED = "fixed"
"""In place of a search: everybody is tested, in contexts fixed beforehand."""
QUESTIONS = {
    "DIFF": ("sex", "hired"),
    "RATIO": ("sex", "hired"),
    "NMI": ("race", "choice"),
    "MEAN": ("sex", "pay"),
    "CORR": ("sex", "pay"),
    "ETA": ("race", "pay"),
    "RANK": ("sex", "pay"),
}
SAMPLE = 8_000


@dataclass(frozen=True)
class Setting:
    """How a null run is set up; ``contexts`` is "small" or "large", ``share`` that of the rarest group."""

    metric: str
    conditional: bool
    contexts: str
    share: float
    search: str
    correction: str

    @property
    def form(self) -> str:
        """The metric, with the word that says whether it is conditional."""
        return f"conditional {self.metric}" if self.conditional else self.metric


@dataclass(frozen=True)
class Tally:
    """How many runs of a kind had a finding."""

    what: str
    found: int
    runs: int


def settings() -> list[Setting]:
    """Return all combinations; conditional RATIO, which is resampled, and what is not split in small contexts only."""
    every = product(QUESTIONS, (False, True), ("small", "large"), (0.5, 0.01), SEARCHES, CORRECTIONS)
    undivided = product(QUESTIONS, (False, True), ("small",), (0.5, 0.01), (FIXED,), ("holm", "max-t"))
    chosen = [Setting(*e) for e in (*every, *undivided)]
    return [s for s in chosen if not (s.form == "conditional RATIO" and s.search != "tree")]


def null_runs(repeats: int, seed: int = 0, which: Iterable[Setting] | None = None) -> Iterator[tuple[Setting, bool]]:
    """Run each setting ``repeats`` times on fresh data and say whether anything was found."""
    for i, setting in enumerate(settings() if which is None else which):
        for repeat in range(repeats):
            yield setting, _finds_something(setting, np.random.default_rng([seed, i, repeat]))


def _finds_something(setting: Setting, rng: np.random.Generator) -> bool:
    n, min_size, depth = (1_200, 60, 2) if setting.contexts == "small" else (5_000, 800, 3)
    fixed = setting.search == FIXED
    protected, output = QUESTIONS[setting.metric]
    report = ft.audit(
        _people(n, setting.share, rng),
        protected,
        output,
        contextual=["age", "city"] if setting.conditional else ["age", "city", "job"],
        explanatory="job" if setting.conditional else None,
        metrics=setting.metric,
        search="exhaustive" if fixed else setting.search,
        correction=setting.correction,
        min_size=min_size,
        max_depth=1 if fixed else depth,
        split=not fixed,
        seed=int(rng.integers(2**31)),
    )
    return report.significant > 0


def _people(n: int, share: float, rng: np.random.Generator) -> pl.DataFrame:
    """Draw people of whom nothing is associated with anything; one group is rare, the pay is skewed."""
    rest = (1 - share) / 3
    race = [rest, rest, rest, share] if share < 0.25 else [0.25] * 4
    return pl.DataFrame(
        {
            "sex": _at_least_two(np.where(rng.random(n) < share, "f", "m"), "f"),
            "race": rng.choice(list("abcd"), n, p=race),
            "age": rng.integers(18, 80, n),
            "city": rng.choice(list("PQRST"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "job": rng.choice(list("JKL"), n, p=[0.5, 0.3, 0.2]),
            "hired": rng.random(n) < 0.25,
            "choice": rng.choice(["no", "maybe", "yes"], n, p=[0.6, 0.3, 0.1]),
            "pay": np.exp(rng.normal(0, 0.7, n)).round(2),
        }
    )


def _at_least_two(values: Any, level: str) -> Any:
    """Make sure that a level exists: a column of one value cannot be asked about."""
    values[:2] = level
    return values


def adult_settings() -> list[dict[str, Any]]:
    """Return the questions that fit Adult with its income permuted, all metrics among them."""
    return [
        {"protected": "sex", "output": "income", "metrics": "DIFF"},
        {"protected": "sex", "output": "income", "metrics": "RATIO"},
        {"protected": "race", "output": "income", "metrics": "NMI"},
        {"protected": "age", "output": "income", "metrics": "CORR"},
        {"protected": "race", "output": "hours_per_week", "metrics": "ETA"},
        {"protected": "age", "output": "hours_per_week", "metrics": "RANK"},
        {"protected": ["sex", "race"], "output": "income"},
        {"protected": "sex", "output": "income", "explanatory": "education_num"},
    ]


def adult_runs(runs: int, seed: int = 0, data: Path = ADULT) -> Iterator[tuple[dict[str, Any], bool]]:
    """Audit samples of Adult in which the output was permuted, with default settings, one question after the other."""
    with gzip.open(data) as file:
        frame = pl.read_csv(file.read())
    questions = adult_settings()
    for i in range(runs):
        rng = np.random.default_rng([seed, i])
        question = questions[i % len(questions)]
        sample = frame[rng.choice(len(frame), SAMPLE, replace=False)]
        shuffled = pl.Series(question["output"], sample[question["output"]].to_numpy()[rng.permutation(SAMPLE)])
        report = ft.audit(sample.with_columns(shuffled), **question, seed=int(rng.integers(2**31)))
        yield question, report.significant > 0


def tallies(results: Iterable[tuple[Setting, bool]]) -> list[Tally]:
    """Count null runs by everything that may matter."""
    views: dict[str, Callable[[Setting], str]] = {
        "all": lambda _: "all runs",
        "form": lambda s: s.form,
        "correction": lambda s: f"correction {s.correction}",
        "search": lambda s: f"search {s.search}",
        "both": lambda s: f"search {s.search}, correction {s.correction}",
        "contexts": lambda s: f"{s.contexts} contexts, group {s.share:.0%}",
    }
    counted: dict[str, list[bool]] = defaultdict(list)
    results = list(results)
    for view in views.values():
        for setting, found in results:
            counted[view(setting)].append(found)
    return [Tally(what, sum(found), len(found)) for what, found in counted.items()]
