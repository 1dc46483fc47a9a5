"""An online shop that shows some customers a discount: made-up people, with a bias that is known.

Over everybody the discount has next to nothing to do with income, and nothing at all with race or gender. In two
groups of customers it has: see :data:`PLANTED`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class PlantedBias:
    """A group in which low-income customers are shown the discount more or less often than high-income ones.

    Attributes
    ----------
    where
        The values that all customers of the group share.
    age_above
        The age that all of them have passed, or None.
    points
        The rate of low-income minus that of high-income customers, in percentage points.
    """

    where: Mapping[str, str]
    age_above: int | None
    points: float

    def __str__(self) -> str:
        parts = [f"{column} = {value}" for column, value in self.where.items()]
        return ", ".join(parts + ([] if self.age_above is None else [f"age > {self.age_above}"]))

    def mask(self, people: pl.DataFrame) -> NDArray[np.bool_]:
        """Return who belongs to the group."""
        inside = np.ones(people.height, dtype=bool)
        for column, value in self.where.items():
            inside &= (people[column] == value).to_numpy()
        if self.age_above is not None:
            inside &= people["age"].to_numpy() > self.age_above
        return inside


PLANTED = (
    PlantedBias({"region": "West", "city": "urban"}, None, -15.0),
    PlantedBias({"region": "Midwest"}, 60, 20.0),
)
"""The whole truth: in these groups income matters, by so many points; nowhere else, and no other attribute does."""

BASE_RATE = {"Northeast": 0.34, "South": 0.30, "Midwest": 0.32, "West": 0.36}
"""How often the discount is shown by region, in the middle between both incomes."""


def pricing(people: int = 40_000, seed: int = 0) -> pl.DataFrame:
    """Return customers of the shop, and whether each was shown the discount.

    Parameters
    ----------
    people
        How many.
    seed
        Other customers for another seed.

    Returns
    -------
    polars.DataFrame
        ``customer`` (an identifier), ``region``, ``city``, ``gender``, ``race``, ``age``, ``income`` (low or high),
        ``referrer`` (missing for three in ten), ``discount`` (Yes or No).

    Examples
    --------
    >>> customers = pricing(1_000)
    >>> customers.shape
    (1000, 9)
    >>> [str(bias) for bias in PLANTED]
    ['region = West, city = urban', 'region = Midwest, age > 60']
    """
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "customer": [f"C{number:07d}" for number in range(people)],
            "region": _draw_values(rng, people, {"Northeast": 0.18, "South": 0.37, "Midwest": 0.21, "West": 0.24}),
            "city": _draw_values(rng, people, {"urban": 0.38, "suburban": 0.42, "rural": 0.20}),
            "gender": _draw_values(rng, people, {"female": 0.51, "male": 0.49}),
            "race": _draw_values(rng, people, {"White": 0.62, "Hispanic": 0.17, "Black": 0.13, "Asian": 0.08}),
            "age": np.clip(rng.gamma(9.0, 5.2, people), 18, 90).astype(np.int64),
            "income": _draw_values(rng, people, {"low": 0.5, "high": 0.5}),
            "referrer": _draw_values(rng, people, {"search": 0.4, "newsletter": 0.2, "social media": 0.1, None: 0.3}),
        }
    )
    shown = rng.random(people) < _rates(frame)
    return frame.with_columns(discount=pl.Series(np.where(shown, "Yes", "No")))


def _draw_values(
    rng: np.random.Generator, people: int, shares: Mapping[str, float] | Mapping[str | None, float]
) -> pl.Series:
    codes = rng.choice(len(shares), size=people, p=list(shares.values()))
    return pl.Series(list(shares), dtype=pl.String).gather(codes)


def _rates(people: pl.DataFrame) -> NDArray[np.float64]:
    rates = people["region"].replace_strict(BASE_RATE).to_numpy().astype(np.float64)
    towards = np.where((people["income"] == "low").to_numpy(), 0.5, -0.5)
    for bias in PLANTED:
        rates += bias.mask(people) * towards * bias.points / 100
    return rates
