"""Several groups: do the gaps to a reference group hold together, and is any of them a fluke too often?

``python -m calibration.groups cover`` draws data of known rates or means and counts the runs in which *all*
simultaneous intervals of the gaps hold the truth. ``false`` counts whole runs, contexts included, in which anything
false is reported: a population, a gap or a group of people. Both through the public interface, with default settings.
``cover-rows`` and ``false-rows`` are the same where people have several rows, which depend on each other, or where rows
have weights that have to do with group and output, or both.
Each writes its part of ``docs/groups.md``; :mod:`calibration.numbers` writes that on medians and ratios.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import special

import fairtest as ft
from calibration.sections import PAGE, exact_limits, write_section
from calibration.verdicts import columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

HABIT = 0.5
"""How much of what a row has is the habit of its person."""
NAMES = ("white", "black", "asian", "other")
CENSUS = (0.86, 0.09, 0.03, 0.02)
EVEN = (0.4, 0.3, 0.2, 0.1)
TAGS = (0.25, 0.25, 0.25, 0.25)
"""Shares like those of the image tags of the paper: four groups of about the same size."""


@dataclass(frozen=True)
class Groups:
    """Four groups with their shares, and what each has: a rate, or the mean of a number.

    Attributes
    ----------
    values
        The rate or the mean of each group.
    number
        ``""`` for rates, else ``"normal"``, ``"exponential"`` or ``"lognormal"``.
    confounded
        Whether groups are spread unevenly over an attribute that explains part of the output, and is conditioned on.
    rows
        How many rows a person has on average, more or fewer; they depend on each other.
    by_row
        Whether the group is that of the row, and not of the person.
    weighted
        Whether people are drawn with chances that have to do with group and output, and weighted by their inverse.
    """

    people: int
    shares: tuple[float, ...]
    values: tuple[float, ...]
    number: str = ""
    confounded: bool = False
    rows: int = 1
    by_row: bool = False
    weighted: bool = False

    @property
    def design(self) -> dict[str, Any]:
        """What is said of the rows."""
        person = {"person": "who"} if self.rows > 1 else {}
        return person | ({"weights": "weight"} if self.weighted else {})

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return a data set."""
        if self.design:
            return self._draw_rows(rng)
        codes = rng.choice(len(self.shares), self.people, p=self.shares)
        level = np.asarray(self.values)[codes]
        made: dict[str, Any] = {"race": np.array(NAMES)[codes]}
        if self.confounded:
            job = (rng.random(self.people) < np.array([0.3, 0.5, 0.4, 0.6])[codes]).astype(int)
            made["job"] = np.array(["desk", "floor"])[job]
            level = level - (0.1 if not self.number else 1.0) * job
        if not self.number:
            made["out"] = np.where(rng.random(self.people) < level, "yes", "no")
        else:
            made["out"] = level + _noise(rng, self.people, self.number)
        return pl.DataFrame(made)

    def _draw_rows(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return a data set in which rows are not one person each; each row alone is as in :meth:`draw`."""
        each = rng.integers(1, 2 * self.rows, self.people)
        person = np.repeat(np.arange(self.people), each)
        n = person.size
        codes = rng.choice(len(self.shares), n if self.by_row else self.people, p=self.shares)
        codes = codes if self.by_row else codes[person]
        habit = rng.normal(size=self.people)[person] if self.rows > 1 else rng.normal(size=n)
        rank = special.ndtr(np.sqrt(HABIT) * habit + np.sqrt(1 - HABIT) * rng.normal(size=n))
        level = np.asarray(self.values)[codes]
        out = level + _number_at(rank, self.number) if self.number else (rank < level).astype(float)
        made: dict[str, Any] = {"race": np.array(NAMES)[codes], "who": person}
        made["out"] = out if self.number else np.where(out > 0, "yes", "no")
        if not self.weighted:
            return pl.DataFrame(made)
        high = out > np.median(out) if self.number else out > 0
        weight = np.exp(0.6 * rng.normal(size=n) + 0.3 * (codes == 1) + 0.5 * high)
        chance = np.minimum(0.4 / weight, 1.0)
        drawn = rng.random(n) < chance
        return pl.DataFrame(made | {"weight": 1 / chance}).filter(pl.Series(drawn))


def _noise(rng: np.random.Generator, n: int, kind: str) -> NDArray[np.float64]:
    """Return numbers with mean 0."""
    if kind == "normal":
        return rng.normal(0, 1, n)
    if kind == "exponential":
        return rng.exponential(1.0, n) - 1.0
    return np.asarray(rng.lognormal(0, 1, n) - np.exp(0.5))


def _number_at(rank: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return numbers with mean 0 that have these ranks among all."""
    if kind == "normal":
        return np.asarray(special.ndtri(rank))
    if kind == "exponential":
        return np.asarray(-np.log1p(-rank) - 1.0)
    return np.asarray(np.exp(special.ndtri(rank)) - np.exp(0.5))


DESIGNS = {
    "rates, census": Groups(5_000, CENSUS, (0.25, 0.12, 0.27, 0.12)),
    "rates, census, large": Groups(40_000, CENSUS, (0.25, 0.12, 0.27, 0.12)),
    "labels of pictures": Groups(2_600, TAGS, (0.05, 0.12, 0.04, 0.05)),
    "rates, rare": Groups(5_000, CENSUS, (0.02, 0.04, 0.02, 0.01)),
    "rates, even": Groups(1_500, EVEN, (0.5, 0.4, 0.5, 0.6)),
    "rates given job": Groups(5_000, EVEN, (0.5, 0.4, 0.5, 0.35), confounded=True),
    "means, normal": Groups(2_000, EVEN, (10.0, 10.2, 10.0, 9.7), "normal"),
    "means, lognormal": Groups(5_000, CENSUS, (10.0, 10.4, 10.0, 9.5), "lognormal"),
    "means given job": Groups(3_000, EVEN, (10.0, 10.2, 10.0, 9.7), "exponential", confounded=True),
    "rates, rows of people": Groups(1_000, EVEN, (0.5, 0.4, 0.5, 0.6), rows=4),
    "rates, rows of people, census": Groups(1_500, CENSUS, (0.25, 0.12, 0.27, 0.12), rows=5),
    "rates, group of the row": Groups(600, EVEN, (0.3, 0.2, 0.3, 0.35), rows=5, by_row=True),
    "rates, weights": Groups(6_000, EVEN, (0.25, 0.15, 0.25, 0.3), weighted=True),
    "rates, rows and weights": Groups(2_500, CENSUS, (0.25, 0.12, 0.27, 0.12), rows=4, weighted=True),
    "means, rows of people": Groups(1_000, EVEN, (10.0, 10.2, 10.0, 9.7), "exponential", rows=4),
    "means, weights": Groups(6_000, EVEN, (10.0, 10.2, 10.0, 9.7), "exponential", weighted=True),
    "means, rows and weights": Groups(2_500, EVEN, (10.0, 10.2, 10.0, 9.7), "lognormal", rows=4, weighted=True),
}


def covers(world: Groups, seed: int) -> bool:
    """Whether all simultaneous intervals of the gaps hold the truth."""
    given = {"explanatory": "job"} if world.confounded else {}
    frame = world.draw(np.random.default_rng([17, seed]))
    said = {"favourable": _favourable(world), **given, **world.design}
    report = ft.audit(frame, "race", "out", contextual=[], seed=seed, **said)
    truth = dict(zip(NAMES, world.values, strict=True))
    gaps = [
        (gap.interval, truth[str(gap.group)] - truth[str(comparison.reference)])
        for comparison in report.populations[0].comparisons
        for gap in comparison.gaps
    ]
    return all(interval is not None and interval[0] <= true <= interval[1] for interval, true in gaps)


def _unused(world: Groups) -> list[str]:
    """Return the columns that are there and mean nothing."""
    return ["who"] if world.weighted and world.rows == 1 else []


def _favourable(world: Groups) -> dict[str, str]:
    return {} if world.number else {"out": "yes"}


# Whole runs -----------------------------------------------------------------------------------------------------------

FALSE: dict[str, Groups] = {
    "nothing anywhere": Groups(1_200, EVEN, (0.4,) * 4),
    "one group differs, two do not": Groups(1_500, EVEN, (0.4, 0.55, 0.4, 0.4)),
    "one differs, census shares": Groups(4_000, CENSUS, (0.25, 0.12, 0.25, 0.25)),
    "labels of pictures, one differs": Groups(2_600, TAGS, (0.05, 0.12, 0.05, 0.05)),
    "means, one differs": Groups(1_500, EVEN, (10.0, 10.4, 10.0, 10.0), "exponential"),
    "explained by job": Groups(2_000, EVEN, (0.5,) * 4, confounded=True),
    "rows of people, nothing anywhere": Groups(500, EVEN, (0.4,) * 4, rows=4),
    "rows of people, one differs": Groups(800, EVEN, (0.4, 0.6, 0.4, 0.4), rows=4),
    "weights, nothing anywhere": Groups(3_000, EVEN, (0.4,) * 4, weighted=True),
    "weights, one differs": Groups(4_000, EVEN, (0.4, 0.55, 0.4, 0.4), weighted=True),
    "rows and weights, means": Groups(1_200, EVEN, (10.0,) * 4, "exponential", rows=3, weighted=True),
}


def is_false(name: str, seed: int) -> bool:
    """Whether a whole run reports something false: in these worlds a group differs from the reference as everywhere.

    A second attribute of two values is asked about that has nothing to do with the output. Contexts are never false
    where a group differs everywhere, since the link is in all of them; they are where nothing does.
    """
    world, rng = FALSE[name], np.random.default_rng([23, seed])
    frame = world.draw(rng)
    n = len(frame)
    more = {**columns(rng, n, 4), "coin": np.array(["a", "b"])[rng.integers(0, 2, n)]}
    frame = frame.with_columns(pl.Series(k, v) for k, v in more.items())
    given = {"explanatory": "job"} if world.confounded else {}
    said = {"favourable": _favourable(world), "exclude": _unused(world), **given, **world.design}
    report = ft.audit(frame, ["race", "coin"], "out", seed=seed, min_size=100, **said)
    truth = dict(zip(NAMES, world.values, strict=True))
    differs = len(set(world.values)) > 1
    race, coin = report.attributes
    wrong = [
        gap.significant and truth[str(gap.group)] == truth[str(comparison.reference)]
        for comparison in race.population.comparisons
        for gap in comparison.gaps
    ]
    links = [*([] if differs else [race]), coin]
    return any(wrong) or any(a.population.significant or a.findings or a.significant_strata for a in links)


# Running --------------------------------------------------------------------------------------------------------------

WORDS = {
    "cover": "Runs in which all simultaneous intervals of the gaps to the reference hold the truth together",
    "false": "Whole runs, contexts included, in which anything false is reported",
    "cover-rows": "The same for several rows a person, weights, or both: all intervals of the gaps hold together",
    "false-rows": "The same for several rows a person, weights, or both: whole runs with anything false",
}


def main() -> None:
    """Run what is asked for, a line for each design as it is done, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=tuple(WORDS))
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--out", default=PAGE, help="the page")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.runs)
    lines = ["| design | runs | of them | 95 % limits |", "| --- | --- | --- | --- |"]
    what, _, rows = asked.what.partition("-")
    worlds = DESIGNS if what == "cover" else FALSE
    for name in (name for name, world in worlds.items() if bool(world.design) == bool(rows)):
        hits = sum(covers(DESIGNS[name], seed) if what == "cover" else is_false(name, seed) for seed in seeds)
        low, high = exact_limits(hits, asked.runs)
        lines.append(f"| {name} | {asked.runs} | {hits} | {100 * low:.1f} to {100 * high:.1f} % |")
        print(lines[-1], flush=True)
    write_section(asked.out, asked.what, WORDS[asked.what], lines)


if __name__ == "__main__":
    main()
