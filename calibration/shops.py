"""Shops whose whole truth is known: in which contexts the rates (or means) of two income groups differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fairtest.datasets.pricing import PLANTED, pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
People = pl.DataFrame

REGION = {"Northeast": 0.18, "South": 0.37, "Midwest": 0.21, "West": 0.24}
CITY = {"urban": 0.38, "suburban": 0.42, "rural": 0.20}
RACE = {"White": 0.62, "Hispanic": 0.17, "Black": 0.13, "Asian": 0.08}
DEVICE = {"phone": 0.5, "laptop": 0.35, "tablet": 0.15}
BASE = {"Northeast": 0.34, "South": 0.30, "Midwest": 0.32, "West": 0.36}


@dataclass(frozen=True)
class Condition:
    """A planted condition: a column and its value, or a threshold that people are above."""

    column: str
    value: str | None = None
    above: float | None = None

    def holds(self, people: People) -> Mask:
        """Return who meets it."""
        column = people[self.column]
        return (column == self.value).to_numpy() if self.above is None else column.to_numpy() > self.above


@dataclass(frozen=True)
class Planted:
    """A context in which there is a gap of its own."""

    conditions: tuple[Condition, ...]

    def holds(self, people: People) -> Mask:
        """Return who is in it."""
        return np.logical_and.reduce([np.ones(people.height, bool), *(c.holds(people) for c in self.conditions)])


def where(**given: str | float) -> Planted:
    """Return a planted context: ``where(region="West", age=60)`` is people in the West above 60."""
    return Planted(
        tuple(Condition(c, v) if isinstance(v, str) else Condition(c, above=float(v)) for c, v in given.items())
    )


def gap_between_groups(people: People, truth: Floats, mask: Mask) -> float:
    """Return the true rate of low incomes minus that of high ones among some people."""
    low = (people["income"] == "low").to_numpy()
    inside, others = truth[mask & low], truth[mask & ~low]
    return float(inside.mean() - others.mean()) if inside.size and others.size else float("nan")


@dataclass(frozen=True)
class Scenario:
    """A world of people, and where it treats them differently.

    Attributes
    ----------
    people
        How many are audited.
    draw
        From a generator and a number to people, and what is true of each: their chance of "Yes" by group.
    planted
        The contexts that a report should name; the whole population is left out.
    everybody
        Whether the gap of the whole population is the story, so that any context beyond the planted ones is spurious.
    effect
        From people, their truth and a mask to the true effect among them.
    """

    people: int
    draw: Callable[[np.random.Generator, int], tuple[People, Floats]]
    planted: tuple[Planted, ...] = ()
    judged: bool = True
    everybody: bool = False
    protected: str = "income"
    output: str = "discount"
    reference: Mapping[str, Any] = field(default_factory=lambda: {"income": "high"})
    effect: Callable[[People, Floats, Mask], float] = gap_between_groups
    options: Mapping[str, Any] = field(default_factory=dict)


def _pick(rng: np.random.Generator, n: int, shares: Mapping[str, float]) -> NDArray[Any]:
    return np.array(list(shares))[rng.choice(len(shares), n, p=np.array(list(shares.values())) / sum(shares.values()))]


def draw_columns(rng: np.random.Generator, n: int, *, tied: bool = False) -> dict[str, NDArray[Any]]:
    """Return the columns of the bank: independent, or ``tied`` to each other."""
    region = _pick(rng, n, REGION)
    age = np.clip(rng.gamma(9, 5.2, n), 18, 90).astype(np.int64)
    if not tied:
        return {
            "region": region,
            "city": _pick(rng, n, CITY),
            "gender": _pick(rng, n, {"female": 0.51, "male": 0.49}),
            "race": _pick(rng, n, RACE),
            "age": age,
            "device": _pick(rng, n, DEVICE),
            "tenure": rng.exponential(3, n).round(3),
            "visits": np.minimum(rng.poisson(2, n), 8),
        }
    western = (region == "West") | (region == "Northeast")
    city = np.where(western, _pick(rng, n, {"urban": 0.6, "suburban": 0.3, "rural": 0.1}), _pick(rng, n, CITY))
    race = np.where(region == "West", _pick(rng, n, {**RACE, "Hispanic": 0.5}), _pick(rng, n, RACE))
    device = np.where(age > 55, _pick(rng, n, {**DEVICE, "laptop": 1.0}), _pick(rng, n, DEVICE))
    tenure = np.maximum((age - 18) / 8 + rng.normal(0, 1, n), 0).round(3)
    return {
        "region": region,
        "city": city,
        "gender": _pick(rng, n, {"female": 0.51, "male": 0.49}),
        "race": race,
        "age": age,
        "device": device,
        "tenure": tenure,
        "visits": np.minimum(rng.poisson(np.where(device == "phone", 3.0, 1.0)), 8),
    }


def _shop(gap: Callable[[People], Floats], *, tied: bool = False, low: float = 0.5, rate: float | None = None) -> Any:
    """Return people of a shop whose two income groups differ by ``gap`` points."""

    def draw(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
        columns = draw_columns(rng, n, tied=tied)
        people = pl.DataFrame({**columns, "income": np.where(rng.random(n) < low, "low", "high")})
        base = people["region"].replace_strict(BASE).to_numpy() + 0.02 * (columns["device"] == "laptop")
        base = base if rate is None else np.full(n, rate)
        truth = base + np.where((people["income"] == "low").to_numpy(), 0.5, -0.5) * gap(people) / 100
        return _answered(people, np.clip(truth, 0, 1), rng)

    return draw


def _answered(people: People, truth: Floats, rng: np.random.Generator) -> tuple[People, Floats]:
    return people.with_columns(discount=pl.Series(np.where(rng.random(people.height) < truth, "Yes", "No"))), truth


def _in(points: float, context: Planted) -> Callable[[People], Floats]:
    return lambda people: points * context.holds(people)


def _sum(*gaps: Callable[[People], Floats]) -> Callable[[People], Floats]:
    return lambda people: np.sum([gap(people) for gap in gaps], axis=0)


def _everywhere(points: float) -> Callable[[People], Floats]:
    return lambda people: np.full(people.height, points)


def _nested(people: People) -> Floats:
    return np.where(where(region="West", city="urban").holds(people), 30.0, 10.0 * where(region="West").holds(people))


def _raised(people: People) -> Floats:
    return np.where(where(region="West", city="urban").holds(people), 25.0, 6.0)


def _pricing(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    people = pricing(n, seed=int(rng.integers(2**31))).drop("customer")
    truth = people["region"].replace_strict(BASE).to_numpy()
    half = np.where((people["income"] == "low").to_numpy(), 0.5, -0.5)
    for bias in PLANTED:
        truth = truth + bias.mask(people) * half * bias.points / 100
    return people, truth


def _confounder(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    level = rng.choice(5, n, p=[0.15, 0.25, 0.25, 0.2, 0.15])
    columns = draw_columns(rng, n)
    low = rng.random(n) < 0.7 - 0.1 * level
    people = pl.DataFrame({**columns, "education": [f"e{e}" for e in level], "income": np.where(low, "low", "high")})
    gap = np.array([0, 0, 0, -12, -20.0])[level]
    return _answered(people, np.clip(0.25 + 0.08 * level + np.where(low, 0.5, -0.5) * gap / 100, 0, 1), rng)


def _proxy(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    people, truth = _shop(_in(15, where(region="West", city="urban")))(rng, n)
    other = _pick(rng, n, REGION)
    district = np.where(rng.random(n) < 0.95, people["region"].to_numpy(), other)
    return people.with_columns(district=pl.Series(district)), truth


MANY = (
    ({"state": "S00", "race": "Black"}, 25.0),
    ({"state": "S01", "race": "White"}, -20.0),
    ({"state": "S02", "gender": "female"}, 22.0),
    ({"state": "S03", "age": 50}, -25.0),
    ({"state": "S04", "race": "White"}, 30.0),
    ({"state": "S05", "gender": "male"}, -30.0),
    ({"state": "S06", "age": 40}, 28.0),
    ({"state": "S07", "gender": "female"}, 30.0),
)


def _many(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    weights = np.arange(1, 16) ** -0.5
    state = np.array([f"S{i:02d}" for i in range(15)])[rng.choice(15, n, p=weights / weights.sum())]
    columns = draw_columns(rng, n)
    people = pl.DataFrame(
        {
            "state": state,
            **{name: columns[name] for name in ("race", "gender", "age", "city", "device", "tenure")},
            "plan": _pick(rng, n, {"a": 0.5, "b": 0.3, "c": 0.2}),
            "income": np.where(rng.random(n) < 0.5, "low", "high"),
        }
    )
    gap = np.sum([points * where(**context).holds(people) for context, points in MANY], axis=0)
    return _answered(people, 0.4 + np.where((people["income"] == "low").to_numpy(), 0.5, -0.5) * gap / 100, rng)


def _prices(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    columns = draw_columns(rng, n)
    people = pl.DataFrame({**columns, "income": np.where(rng.random(n) < 0.5, "low", "high")})
    low = (people["income"] == "low").to_numpy()
    inside = where(region="West", city="urban").holds(people)
    price = 50 + 4 * (columns["city"] == "urban") + 6 * low * inside + rng.normal(0, 10, n)
    return people.with_columns(discount=pl.Series(price)), price


def _numbers(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    columns = draw_columns(rng, n)
    people = pl.DataFrame({**columns, "income": rng.normal(0, 1, n)})
    inside = where(region="South", age=50).holds(people)
    score = 0.3 * people["income"].to_numpy() * inside + 0.3 * (columns["city"] == "urban") + rng.normal(0, 1, n)
    return people.with_columns(discount=pl.Series(score)), score


def _correlation(people: People, truth: Floats, mask: Mask) -> float:
    low = (people["income"] == "low").to_numpy() if people["income"].dtype == pl.String else people["income"].to_numpy()
    return float(np.corrcoef(low[mask], truth[mask])[0, 1]) if mask.sum() > 2 else float("nan")


def _races(rng: np.random.Generator, n: int) -> tuple[People, Floats]:
    columns = draw_columns(rng, n)
    people = pl.DataFrame(columns).rename({"race": "income"})
    shift = (
        people["income"].replace_strict({"White": 0.06, "Hispanic": -0.10, "Black": -0.14, "Asian": 0.04}).to_numpy()
    )
    return _answered(people, 0.40 + shift * where(region="West", city="urban").holds(people), rng)


def _information(people: People, truth: Floats, mask: Mask) -> float:
    group = people["income"].to_numpy()[mask]
    yes = truth[mask]
    if not yes.size:
        return float("nan")
    shares = np.array([[np.sum(yes[group == g]), np.sum(1 - yes[group == g])] for g in np.unique(group)]) / yes.size
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = shares * np.log(shares / shares.sum(0) / shares.sum(1, keepdims=True))
        entropy = [-np.nansum(m * np.log(m)) for m in (shares.sum(0), shares.sum(1))]
    return float(np.nansum(terms) / min(entropy))


WEST, PAIR = where(region="West"), where(region="West", city="urban")
SCENARIOS: dict[str, Scenario] = {
    "nothing": Scenario(20_000, _shop(_everywhere(0))),
    "global": Scenario(20_000, _shop(_everywhere(8)), everybody=True),
    "global+": Scenario(20_000, _shop(_raised), (PAIR,), everybody=True),
    "region small": Scenario(2_500, _shop(_in(34, WEST)), (WEST,)),
    "region": Scenario(20_000, _shop(_in(12, WEST)), (WEST,)),
    "pair": Scenario(20_000, _shop(_in(15, PAIR)), (PAIR,)),
    "triple": Scenario(
        20_000,
        _shop(_in(25, where(region="West", city="urban", gender="female"))),
        (where(region="West", city="urban", gender="female"),),
    ),
    "threshold": Scenario(20_000, _shop(_in(22, where(region="Midwest", age=60))), (where(region="Midwest", age=60),)),
    "nested": Scenario(20_000, _shop(_nested), (WEST, PAIR)),
    "overlap": Scenario(20_000, _shop(_sum(_in(12, WEST), _in(12, where(city="urban")))), (WEST, where(city="urban"))),
    "simpson": Scenario(
        10_000,
        _shop(_sum(_in(12, where(gender="female")), _in(-12, where(gender="male")))),
        (where(gender="female"), where(gender="male")),
    ),
    "pricing": Scenario(40_000, _pricing, (PAIR, where(region="Midwest", age=60))),
    "gradient": Scenario(
        20_000, _shop(lambda people: 30 * np.clip((people["age"].to_numpy() - 25) / 50, 0, 1)), judged=False
    ),
    "confounder": Scenario(20_000, _confounder, (where(education="e3"), where(education="e4"))),
    "proxy": Scenario(20_000, _proxy, (PAIR,)),
    "many": Scenario(50_000, _many, tuple(where(**context) for context, _ in MANY)),
    "mean": Scenario(10_000, _prices, (PAIR,), effect=_correlation, options={"metrics": "CORR"}),
    "slope": Scenario(20_000, _numbers, (where(region="South", age=50),), effect=_correlation, reference={}),
    "races": Scenario(20_000, _races, (PAIR,), effect=_information, reference={}),
    "global, tied": Scenario(20_000, _shop(_everywhere(8), tied=True), everybody=True),
    "pair, tied": Scenario(20_000, _shop(_in(12, PAIR), tied=True), (PAIR,)),
    "threshold, tied": Scenario(
        20_000, _shop(_in(25, where(region="Midwest", age=60)), tied=True), (where(region="Midwest", age=60),)
    ),
    "nested, tied": Scenario(20_000, _shop(_nested, tied=True), (WEST, PAIR)),
}
RARE = {
    "rare group, region": Scenario(40_000, _shop(_in(12, WEST), low=0.05), (WEST,)),
    "rare group, nested": Scenario(40_000, _shop(_nested, low=0.05), (WEST, PAIR)),
    "rare group, global": Scenario(40_000, _shop(_everywhere(8), low=0.05), everybody=True),
    "very rare group, region": Scenario(60_000, _shop(_in(30, WEST), low=0.01), (WEST,)),
    "very rare group, global": Scenario(60_000, _shop(_everywhere(20), low=0.01), everybody=True),
    "rare output, region": Scenario(40_000, _shop(_in(4, WEST), rate=0.03), (WEST,)),
    "rare output, global": Scenario(40_000, _shop(_everywhere(3), rate=0.03), everybody=True),
    "rare both, global": Scenario(60_000, _shop(_everywhere(5), rate=0.03, low=0.05), everybody=True),
}
"""Worlds with rare groups and rare outputs, in which comparisons are hardest to calibrate."""
