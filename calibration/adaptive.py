"""People who make the next question from the last answer: are they fooled?

Three ways to put several questions to the same data, on data in which nothing is associated with the output:

- *disjoint*: a budget of test sets, each of which answers once;
- *reusable*: one test set that says which links it confirms (``reuse=True``);
- *naive*: one test set that answers every question in full, each at the whole level. Anyone can do this by reading the
  same data again, and many do.

A run is fooled if anything at all is significant in any of its answers. Run with ``python -m calibration.adaptive``
(``make adaptive``); it writes ``docs/adaptive.md`` and exits with 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft
from calibration.rules import limits
from fairtest.data.reuse import LEAST_LEVEL, ReusedSet, thresholdout_people
from fairtest.inference.agreement import Said, bits_told, expectations, likely_real
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.numerics.rules import normal_quantile
from fairtest.statistics.rates.score import difference_p

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["STRATEGIES", "Tally", "freedman", "main", "milking", "planted"]

OUT = Path(__file__).resolve().parents[1] / "docs" / "adaptive.md"
ALPHA = 0.05
ATTRIBUTES = 16
SUBSETS = (16, 8, 4)
"""How many of the attributes, strongest first, go into each score of the one who builds scores."""
QUESTIONS, GROUPS, ARM = 21, 10, 200
"""Of the one who milks: questions, groups in each, and people of each group and attribute value."""


@dataclass(frozen=True)
class Tally:
    """How often something happened."""

    what: str
    hits: int
    runs: int

    def __str__(self) -> str:
        low, high = limits(self.hits, self.runs, 0.025)
        return f"{self.what} | {self.hits} of {self.runs} | {self.hits / self.runs:.1%} | {low:.1%} to {high:.1%}"


# Through the public interface: scores built from what was reported -------------------------------------------------


class Asker:
    """Puts questions to one data set under a strategy."""

    def __init__(self, frame: pl.DataFrame, strategy: str, questions: int, seed: int) -> None:
        self._frame, self._seed, self._naive = frame, seed, strategy == "naive"
        options: dict[str, Any] = {} if self._naive else {"budget": questions, "reuse": strategy == "reusable"}
        self._source = ft.DataSource(frame, seed=seed, **options)

    def ask(self, protected: Sequence[str], new: dict[str, Any] | None = None, **more: Any) -> ft.Report:
        """Ask about protected attributes, perhaps of columns that were made up since."""
        source = self._source
        if self._naive:  # the same seed splits the same people in the same way: the same test set, as if never used
            source = ft.DataSource(self._frame.with_columns(**(new or {})), seed=self._seed)
        elif new:
            source = source.with_columns(new)
        return ft.audit(source, list(protected), "output", **{"contextual": [], **more})


def freedman(strategy: str, rng: np.random.Generator, people: int = 1_500) -> bool:
    """Ask about many attributes, add those up that looked good, ask about the sum; return whether it was fooled.

    The signs and sizes are those that the reports show. A score of attributes that each lean a little one way on the
    test set leans far that way on the same test set (Freedman 1983).
    """
    names = [f"x{i}" for i in range(ATTRIBUTES)]
    x = rng.integers(0, 2, (people, ATTRIBUTES))
    columns = {name: pl.Series(x[:, i]) for i, name in enumerate(names)}
    frame = pl.DataFrame({**columns, "output": rng.random(people) < 0.4})
    asker = Asker(frame, strategy, 1 + len(SUBSETS), int(rng.integers(2**31)))
    first = asker.ask(names)
    fooled = first.significant > 0
    effect = np.array([(a.population.effect or 0.0) * (1 if a.reference == 0 else -1) for a in first.attributes])
    for size in SUBSETS:
        strongest = np.argsort(-np.abs(effect))[:size]
        score = (x[:, strongest] - 0.5) @ effect[strongest]
        made = pl.Series(score > np.median(score))
        fooled |= asker.ask([f"score{size}"], {f"score{size}": made}).significant > 0
    return fooled


# On the mechanism itself: answers milked for what they tell ---------------------------------------------------------

COUNTED, UNCOUNTED, FULL = "reusable", "yes or no, bits not counted", "yes or no, at the whole level"


def milking(strategy: str, rng: np.random.Generator) -> bool:
    """Ask about links that are real and just at the edge, learn from each yes or no, and ask a last, false question.

    In every group, people with the attribute have the output at the rate of one half; those without at a lower one, so
    chosen that the link is confirmed every other time. A yes says that those with it were lucky. At last the lucky
    groups are compared with the others, among people with the attribute only: nothing is there. Returns whether that
    is "confirmed". Every answer is as hard to foresee as can be, so the level falls as fast as it can.
    """
    budget = ReusedSet(QUESTIONS, ALPHA)
    lucky, rates = [], []
    for _ in range(QUESTIONS - 1):
        level = _level(budget, strategy)
        reach = float(normal_quantile(level / GROUPS))
        if strategy == COUNTED and budget.level * 2.0**-GROUPS < LEAST_LEVEL:
            break  # one more such question, and the last could not be asked
        other = _edge(reach)
        count, without = rng.binomial(ARM, 0.5, GROUPS), rng.binomial(ARM, other, GROUPS)
        confirmed = holm(_p_values(count, np.full(GROUPS, ARM), without, np.full(GROUPS, ARM))) <= level
        said = np.where(confirmed, Said.WITH_INTERVAL, Said.NOT_CONFIRMED)
        train = reach + rng.normal(0, 1, GROUPS)
        real = likely_real(np.concatenate(([0.0], train)), 1)[1:]
        expected = expectations(train, real, np.full(GROUPS, np.nan), level, 0.5)
        if strategy == COUNTED:
            with budget.draw():
                budget.tell(bits_told(said, expected))
        lucky.append(said > 0)
        rates.append(count)
    yes, count = np.concatenate(lucky), np.concatenate(rates)
    if yes.all() or not yes.any():
        return False
    sides = [np.array([v]) for v in (count[yes].sum(), ARM * yes.sum(), count[~yes].sum(), ARM * (~yes).sum())]
    return bool(_p_values(*sides)[0] <= _level(budget, strategy))


def _p_values(*counts: Any) -> Any:
    return difference_p(*(c[:, None] for c in counts))


def _level(budget: ReusedSet, strategy: str) -> float:
    return {COUNTED: budget.level, UNCOUNTED: ALPHA / QUESTIONS, FULL: ALPHA}[strategy]


def _edge(reach: float) -> float:
    """Return the rate against one half whose difference is just so many standard errors."""
    rates = np.linspace(0.001, 0.5, 2_000)
    pooled = (0.5 + rates) / 2
    deviate = (0.5 - rates) / np.sqrt(2 * pooled * (1 - pooled) / ARM)
    return float(rates[np.argmin(np.abs(deviate - reach))])


# What power is left -----------------------------------------------------------------------------------------------


def planted(strategy: str, questions: int, gap: float, rng: np.random.Generator, people: int = 6_000) -> bool:
    """Ask about other things first, and last about a real link in a quarter of the people; say whether it is found."""
    woman, city = rng.random(people) < 0.5, rng.choice(list("PQRS"), people)
    rate = np.where(woman & (city == "P"), 0.5 - gap, 0.5)
    others = {f"x{i}": pl.Series(rng.integers(0, 2, people)) for i in range(questions - 1)}
    basis = {"sex": np.where(woman, "f", "m"), "city": city, "job": rng.choice(list("JKL"), people)}
    frame = pl.DataFrame({**basis, **others, "output": rng.random(people) < rate})
    asker = Asker(frame, strategy, questions, int(rng.integers(2**31)))
    if strategy == "reusable":  # to disjoint sets, these questions would not matter
        for name in others:
            asker.ask([name], contextual=["city", "job"], search="exhaustive")
    report = asker.ask(["sex"], contextual=["city", "job"], search="exhaustive")
    return any(str(f.context).startswith("city = P") for f in report.findings)


# The page -----------------------------------------------------------------------------------------------------------

STRATEGIES = ("disjoint", "reusable", "naive")


def _tally(what: str, run: Callable[[np.random.Generator], bool], runs: int, key: Sequence[int]) -> Tally:
    hits = 0
    for i in range(runs):
        hits += run(np.random.default_rng([*key, i]))
        if sys.stderr.isatty():
            print(f"\r\033[K{what}: {i + 1} of {runs}", end="", file=sys.stderr, flush=True)
    return Tally(what, hits, runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the simulations, write the page, and return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m calibration.adaptive", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=300, help="runs of each strategy (default 300)")
    parser.add_argument("--power", type=int, default=40, help="runs for power (default 40)")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write the page")
    options = parser.parse_args(arguments)
    scores = [_tally(s, lambda rng, s=s: freedman(s, rng), options.runs, [options.seed, 1]) for s in STRATEGIES]
    kinds = (COUNTED, UNCOUNTED, FULL)
    milked = [_tally(s, lambda rng, s=s: milking(s, rng), 5 * options.runs, [options.seed, 2]) for s in kinds]
    power = [
        _tally(
            f"{questions} questions, gap of {100 * gap:.0f} points | {s}",
            lambda rng, s=s, q=questions, g=gap: planted(s, q, g, rng),
            options.power,
            [options.seed, 3, questions, round(100 * gap)],
        )
        for questions in (5, 20)
        for gap in (0.15, 0.2, 0.3)
        for s in STRATEGIES[:2]
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(page(scores, milked, power), encoding="utf-8")
    broken = _broken(scores, milked)
    print("\n".join([*broken, f"{len(broken)} promises broken"]))
    return int(bool(broken))


def _broken(scores: Sequence[Tally], milked: Sequence[Tally]) -> list[str]:
    """Return what is not as it must be: a promise clearly broken, or a trap that would catch nobody."""
    kept = [*scores[:2], milked[0]]
    traps = [scores[2], *milked[1:]]
    return [
        *(f"fooled too often: {t}" for t in kept if limits(t.hits, t.runs, ALPHA)[0] > ALPHA),
        *(f"no trap: {t}" for t in traps if limits(t.hits, t.runs, ALPHA)[0] <= ALPHA),
    ]


def page(scores: Sequence[Tally], milked: Sequence[Tally], power: Sequence[Tally]) -> str:
    """Return the page."""
    people = thresholdout_people(0.05, QUESTIONS, 1)
    return f"""# Questions made from answers

Written by `make adaptive`. A data set in which nothing is associated with the output is asked several questions, each
made from the answers before. A run is fooled if anything is significant in any of its answers; that may happen in 5 %
of all runs. Limits are those of Clopper and Pearson at 95 %.

## Scores

Through the public interface: {ATTRIBUTES} attributes are asked about; the strongest (all, half, a quarter of them) are
added up by the direction and size reported, and the score is asked about. 1,500 people, {1 + len(SUBSETS)} questions.

| test sets | fooled | share | limits |
|---|---|---|---|
{_rows(scores)}

*Disjoint* is a budget of test sets, *reusable* is `reuse=True`, *naive* reads the same data again for each question:
the same test set, each time at the whole level.

## Milking

On the mechanism itself, against the one who makes the most of a yes or no: {QUESTIONS - 1} questions of {GROUPS} real
links each, all at the edge of being confirmed, and a last, false question made of who was lucky. Saying no more than
yes or no is not enough; it is the level that falls with every bit that keeps the promise.

| | fooled | share | limits |
|---|---|---|---|
{_rows(milked)}

## What is left to find

Through the public interface: a link in a quarter of 6,000 people, asked about after questions about things that do not
matter. Found if that group, or one within it, is reported.

| | test sets | found | share | limits |
|---|---|---|---|---|
{_rows(power)}

## Beside Thresholdout

The guarantee published with Thresholdout is about means. For {QUESTIONS} questions, one of them contradicted, and means
to within ±5 points with an error of 5 % it needs at least {people:,} people in the test set; the levels above hold for
every number of people, since they come from counting and not from noise.
"""


def _rows(tallies: Sequence[Tally]) -> str:
    return "\n".join(f"| {t} |" for t in tallies)


if __name__ == "__main__":
    sys.exit(main())
