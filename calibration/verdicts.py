"""Does the user's own question get the right answer? Small data, and whole runs in which nothing is to be found.

``python -m calibration.verdicts small`` plants gaps over everybody and in one context, in 500 to 10,000 people, and
counts how often the population and the context are confirmed. ``null`` counts runs with a false finding in worlds where
some hypotheses are true and others are not, whatever is named first, over budgets, strata and metrics. ``adult --data
adult.csv.gz`` asks about subsamples of the census. Through the public interface, with default settings.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import beta

import fairtest as ft
from calibration.gathering import gather

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Null = Callable[
        [np.random.Generator, int], tuple[pl.DataFrame, dict[str, Any], Callable[[Any, pl.DataFrame], bool]]
    ]

SIZES = (500, 1_000, 2_000, 5_000, 10_000)
EVERYWHERE = (0, 3, 6, 10, 15)
SOMEWHERE = (0, 15, 25)


def columns(rng: np.random.Generator, n: int, number: int) -> dict[str, NDArray[Any]]:
    """Return contextual columns: categories of two to five values and numbers, by turns."""
    made: dict[str, NDArray[Any]] = {}
    for i in range(number):
        if i % 3 == 2:
            made[f"x{i}"] = rng.normal(0, 1, n).round(3)
        else:
            values = int(rng.integers(2, 6))
            made[f"x{i}"] = np.array([f"v{j}" for j in range(values)])[rng.choice(values, n, p=_shares(rng, values))]
    return made


def _shares(rng: np.random.Generator, values: int) -> NDArray[np.float64]:
    shares = rng.dirichlet(np.full(values, 3.0))
    return np.asarray(shares / shares.sum())


# Small data -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallWorld:
    """A gap over everybody, and one in a context that holds a quarter to two fifths of the people, in points."""

    people: int
    everywhere: float
    somewhere: float


def small_worlds() -> list[SmallWorld]:
    """Return every world in which there is something to find."""
    return [
        SmallWorld(n, e, s)
        for n in SIZES
        for e in EVERYWHERE
        for s in SOMEWHERE
        if (e or s) and not (e in (3, 15) and s)
    ]


def confirm(world: SmallWorld, seed: int) -> tuple[bool, bool | None, bool]:
    """Return whether the population, the planted context (None without one), and anything was confirmed."""
    rng = np.random.default_rng([seed, world.people, int(world.everywhere), int(world.somewhere)])
    n = world.people
    data = columns(rng, n, int(rng.integers(4, 14)))
    inside = _context(rng, data, n)
    group = rng.random(n) < rng.choice([0.5, 0.3])
    base = rng.choice([0.2, 0.4])
    gap = (world.everywhere + world.somewhere * inside) / 100
    yes = rng.random(n) < np.clip(base + np.where(group, 0.5, -0.5) * gap, 0.01, 0.99)
    frame = pl.DataFrame({**data, "group": np.where(group, "b", "a"), "yes": np.where(yes, "yes", "no")})
    report = ft.audit(frame, "group", "yes", seed=seed, favourable={"yes": "yes"})
    found = [f.context.mask(frame) for f in report.findings if len(f.context)]
    hit = any((m & inside).sum() >= 0.6 * (m | inside).sum() or (m & inside).sum() >= 0.8 * m.sum() for m in found)
    population = bool(report.populations[0].significant)
    return population, (hit if world.somewhere else None), population or bool(found)


def _context(rng: np.random.Generator, data: dict[str, NDArray[Any]], n: int) -> NDArray[np.bool_]:
    """Return a context of one or two predicates with 24 to 40 % of the people; the nearest there is, failing that."""
    best, distance = np.zeros(n, bool), np.inf
    for _ in range(60):
        inside = np.ones(n, bool)
        for name in rng.choice(list(data), size=int(rng.integers(1, 3)), replace=False):
            values = data[str(name)]
            if values.dtype.kind == "f":
                inside &= values > np.quantile(values, rng.choice([0.3, 0.5, 0.65]))
            else:
                inside &= values == rng.choice(np.unique(values))
        off = max(0.24 - inside.mean(), inside.mean() - 0.40, 0.0)
        if off < distance:
            best, distance = inside, off
        if off == 0:
            break
    return best


def small(seeds: range, jobs: int) -> None:
    """Print how often populations and planted contexts are confirmed, by size."""
    worlds = small_worlds()
    with ProcessPoolExecutor(jobs) as pool:
        answers = {s: list(pool.map(partial(confirm, seed=s), worlds, chunksize=4)) for s in seeds}
    rows = [(w, *a) for s in seeds for w, a in zip(worlds, answers[s], strict=True)]
    print("people  data sets  population  context  anything")
    for n in (*SIZES, None):
        here = [r for r in rows if n is None or r[0].people == n]
        populations = [r[1] for r in here if r[0].everywhere]
        contexts = [r[2] for r in here if r[2] is not None]
        print(
            f"{n or 'all':>6} {len(here):>10} {np.mean([r[1] for r in here]):11.2f} {np.mean(contexts):8.2f} "
            f"{np.mean([r[3] for r in here]):9.2f}   (gap everywhere: {np.mean(populations):.2f})"
        )


# Nothing to find ------------------------------------------------------------------------------------------------------


def _any_finding(report: Any, frame: pl.DataFrame) -> bool:  # noqa: ARG001
    return bool(report.findings) or any(
        f.significant or any(s.p_value is not None and s.p_value <= report.settings.level for s in f.strata)
        for f in report.populations
    )


def nothing(rng: np.random.Generator, n: int, share: float = 0.5) -> Any:
    """No association anywhere."""
    group = np.where(rng.random(n) < share, "b", "a")
    data = columns(rng, n, int(rng.integers(4, 9)))
    yes = np.where(rng.random(n) < rng.choice([0.1, 0.3, 0.5]), "yes", "no")
    return pl.DataFrame({**data, "group": group, "yes": yes}), {"protected": "group", "output": "yes"}, _any_finding


def explained(rng: np.random.Generator, n: int) -> Any:
    """Make an explanatory attribute explain everything."""
    level = rng.choice(4, n)
    group = rng.random(n) < 0.2 + 0.2 * level
    yes = rng.random(n) < 0.15 + 0.2 * level
    data = columns(rng, n, int(rng.integers(4, 9)))
    frame = pl.DataFrame(
        {
            **data,
            "level": [f"l{i}" for i in level],
            "group": np.where(group, "b", "a"),
            "yes": np.where(yes, "yes", "no"),
        }
    )
    return frame, {"protected": "group", "output": "yes", "explanatory": "level"}, _any_finding


def opposite_halves(rng: np.random.Generator, n: int) -> Any:
    """Let two halves show opposite gaps, so that the population shows nothing; other columns are noise."""
    half = rng.random(n) < 0.5
    group = rng.random(n) < 0.5
    yes = rng.random(n) < 0.4 + np.where(group, 0.5, -0.5) * np.where(half, 0.3, -0.3)
    data = columns(rng, n, int(rng.integers(3, 8)))
    frame = pl.DataFrame(
        {
            **data,
            "half": np.where(half, "first", "second"),
            "group": np.where(group, "b", "a"),
            "yes": np.where(yes, "yes", "no"),
        }
    )

    def false(report: Any, frame: pl.DataFrame) -> bool:  # noqa: ARG001
        named = [{p.column for p in f.predicates} for f in report.findings]
        return bool(report.populations[0].significant) or any("half" not in columns for columns in named)

    return frame, {"protected": "group", "output": "yes"}, false


def confounded(rng: np.random.Generator, n: int) -> Any:
    """Let a column account for the gap of the population: only contexts that fix it show none."""
    high = rng.random(n) < 0.5
    group = rng.random(n) < np.where(high, 0.8, 0.2)
    yes = rng.random(n) < np.where(high, 0.6, 0.2)
    data = columns(rng, n, int(rng.integers(3, 8)))
    frame = pl.DataFrame(
        {
            **data,
            "h": np.where(high, "high", "low"),
            "group": np.where(group, "b", "a"),
            "yes": np.where(yes, "yes", "no"),
        }
    )

    def false(report: Any, frame: pl.DataFrame) -> bool:  # noqa: ARG001
        return any("h" in {p.column for p in f.predicates} for f in report.findings)

    return frame, {"protected": "group", "output": "yes"}, false


def two_attributes(rng: np.random.Generator, n: int) -> Any:
    """Let one of two attributes show a gap everywhere, the other none."""
    real, idle = rng.random(n) < 0.5, rng.random(n) < 0.4
    yes = rng.random(n) < 0.35 + np.where(real, 0.1, -0.1)
    data = columns(rng, n, int(rng.integers(4, 9)))
    frame = pl.DataFrame(
        {
            **data,
            "real": np.where(real, "b", "a"),
            "idle": np.where(idle, "d", "c"),
            "yes": np.where(yes, "yes", "no"),
        }
    )

    def false(report: Any, frame: pl.DataFrame) -> bool:  # noqa: ARG001
        shown = [f for f in (*report.populations, *report.findings) if f.protected == "idle"]
        return any(f.significant for f in shown)

    return frame, {"protected": ["real", "idle"], "output": "yes", "exclude": []}, false


def _metric(kind: str) -> Null:
    """No association, for other kinds of columns."""

    def null(rng: np.random.Generator, n: int) -> Any:
        data = columns(rng, n, int(rng.integers(4, 9)))
        groups = np.array(["a", "b", "c", "d"])[rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])]
        number, other = rng.exponential(1, n), rng.normal(0, 1, n)
        asked: dict[str, Any] = {"protected": "s", "output": "o"}
        s: Any = groups
        o: Any = number
        if kind == "NMI":
            o = np.array(["u", "v", "w"])[rng.choice(3, n)]
        elif kind in ("CORR", "RANK"):
            s = other
            asked["metrics"] = kind
        elif kind == "two means":
            s = np.where(rng.random(n) < 0.3, "b", "a")
        return pl.DataFrame({**data, "s": s, "o": o}), asked, _any_finding

    return null


NULLS: dict[str, tuple[Null, dict[str, Any]]] = {
    "nothing": (nothing, {}),
    "nothing, group of 6 %": (partial(nothing, share=0.06), {}),
    "explained": (explained, {}),
    "opposite halves": (opposite_halves, {}),
    "confounded": (confounded, {}),
    "two attributes": (two_attributes, {}),
    "nothing, budget 2": (nothing, {"budget": 2}),
    "two attributes, budget 3": (two_attributes, {"budget": 3}),
    "explained, budget 2": (explained, {"budget": 2}),
    "NMI": (_metric("NMI"), {}),
    "CORR": (_metric("CORR"), {}),
    "ETA": (_metric("ETA"), {}),
    "RANK": (_metric("RANK"), {}),
    "two means": (_metric("two means"), {}),
}


def false_finding(name: str, seed: int) -> bool:
    """Return whether a run finds anything that is not there; with a budget, whether any of its runs does."""
    design, how = NULLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    frame, asked, false = design(rng, int(rng.integers(600, 1_501)))
    source = ft.DataSource(frame, seed=seed, favourable={"yes": "yes"} if "yes" in frame.columns else None, **how)
    wrong = False
    for _ in range(how.get("budget", 1)):
        testing = ft.Testing(source, **asked)
        ft.train([testing])
        ft.test([testing])
        wrong |= false(ft.report([testing])[0], frame)
    return wrong


def _false_finding(key: tuple[str, int]) -> bool:
    return false_finding(*key)


def null(seeds: range, jobs: int, only: list[str], results: str | None) -> None:
    """Print how many runs have a false finding."""
    names = [n for n in NULLS if not only or any(part in n for part in only)]
    total = runs = 0
    for name in names:
        wrong = sum(gather(_false_finding, [(name, seed) for seed in seeds], jobs, results).values())
        total, runs = total + wrong, runs + len(seeds)
        low = beta.ppf(0.05 / len(names), wrong, len(seeds) - wrong + 1) if wrong else 0.0
        print(f"{name:28} {wrong:4} of {len(seeds)}  {wrong / len(seeds):.3f}  lower limit {low:.3f}", flush=True)
    print(f"{'all':28} {total:4} of {runs}  {total / max(runs, 1):.3f}")


# Adult ----------------------------------------------------------------------------------------------------------------


def adult(path: str, seeds: range) -> None:
    """Print how often subsamples of the census confirm what the census shows."""
    table = pl.read_csv(path).drop("fnlwgt").with_columns(white=pl.col("race") == "White").drop("race")
    for protected, sizes in (("white", (1_000, 3_000)), ("sex", (500, 2_000))):
        for n in sizes:
            confirmed, contexts = 0, []
            for seed in seeds:
                report = ft.audit(table.sample(n, seed=seed), protected, "income", seed=seed)
                confirmed += bool(report.populations[0].significant)
                contexts.append(report.significant)
            print(
                f"{protected}, {n:,} people: confirmed {confirmed} of {len(seeds)}, {np.mean(contexts):.1f} significant"
            )


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(prog="python -m calibration.verdicts", description=__doc__)
    parser.add_argument("what", choices=["small", "null", "adult"])
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--data")
    parser.add_argument("--results", help="a file that keeps results of null runs: those that were cut short add up")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    if given.what == "small":
        small(seeds, given.jobs)
    elif given.what == "null":
        null(seeds, given.jobs, given.only, given.results)
    else:
        adult(given.data, seeds)


if __name__ == "__main__":
    main()
