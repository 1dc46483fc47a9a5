"""A million Americans as shoppers of Staples: where they live, their race, their income, and the price they are shown.

Places and stores are those of the paper's simulation; who lives where is the census of 2010
(:mod:`fairtest.datasets.census`). Incomes follow a model, which is stated here in full:

- a household's income is log-normal about a median, with a spread of :data:`SPREAD`;
- the median is that of its race (:data:`MEDIANS`), times that of its place over that of the nation;
- a place is metropolitan where many people live within fifteen miles: so many that :data:`METROPOLITAN` of all
  Americans, about the census's share, live in such places.

Nothing in it knows of stores or prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.spatial import KDTree
from scipy.special import ndtr

from fairtest.datasets.census import RACES

if TYPE_CHECKING:
    from pathlib import Path

    from fairtest.types import BoolArray, FloatArray

PEOPLE = 988_871
EARTH = 3_958.8
"""The radius of the Earth in miles."""
NEAR = 20.0
"""Within so many miles of a competitor's store the price is low."""
YEAR = 2010
"""Of the census, and of the medians."""
THRESHOLD = 50_000
SPREAD = 0.85
MEDIANS = {
    "White": 55_000,
    "Black": 32_000,
    "Asian": 64_000,
    "Native": 35_000,
    "Several": 49_000,
    "Hispanic": 38_000,
}
"""Median income of households by race in dollars: round numbers near those of the census bureau."""
NATION, INSIDE, OUTSIDE = 49_000, 51_000, 40_000
"""The same for the nation, and inside and outside metropolitan areas."""
METROPOLITAN = 0.84
NEIGHBOURHOOD = 15.0
LEFT_OUT = ("PR", "VI", "AS")
"""Territories, where the places' coordinates or the stores are missing."""


@dataclass(frozen=True)
class Places:
    """ZIP code areas: state, the people of each race, and what the model needs to know.

    Attributes
    ----------
    people
        A row an area, a column a race.
    miles
        The distance to the nearest store of a competitor.
    metropolitan
        Whether many people live near.
    """

    state: pl.Series
    people: FloatArray
    miles: FloatArray
    metropolitan: BoolArray


def great_circle(chord: FloatArray) -> FloatArray:
    """Return the way over the Earth in miles, from the length of the straight line through a globe of radius one.

    Examples
    --------
    >>> round(float(great_circle(np.array([2.0]))[0]))  # half around
    12437
    """
    return np.asarray(2 * EARTH * np.arcsin(np.minimum(chord / 2, 1.0)))


def on_globe(latitude: FloatArray, longitude: FloatArray) -> FloatArray:
    """Return points of a globe of radius one.

    Examples
    --------
    >>> on_globe(np.array([90.0]), np.array([12.0])).round(3).tolist()  # the north pole, at any longitude
    [[0.0, 0.0, 1.0]]
    """
    up, east = np.radians(latitude), np.radians(longitude)
    return np.column_stack(
        [np.cos(up) * np.cos(east), np.cos(up) * np.sin(east), np.sin(up)]
    )


def read_places(zips: Path, stores: Path, people: pl.DataFrame) -> Places:
    """Return the areas of the census whose coordinates are known."""
    text = {"zipcode": pl.String, "store": pl.String}
    known = pl.read_csv(zips, schema_overrides=text).filter(
        ~pl.col("state").is_in(LEFT_OUT)
    )
    areas = people.join(known, on="zipcode", how="inner", maintain_order="left")
    counts = areas.select(RACES.values()).to_numpy().astype(float)
    where = _points(areas)
    nearest, _ = KDTree(_points(pl.read_csv(stores, schema_overrides=text))).query(where)
    return Places(
        areas["state"],
        counts,
        great_circle(nearest),
        _is_metropolitan(where, counts.sum(axis=1)),
    )


def _points(frame: pl.DataFrame) -> FloatArray:
    return on_globe(frame["latitude"].to_numpy(), frame["longitude"].to_numpy())


def _is_metropolitan(where: FloatArray, people: FloatArray) -> BoolArray:
    """Return the areas with the most people around them, which have the census's share of all people together."""
    around = KDTree(where).query_ball_point(where, 2 * np.sin(NEIGHBOURHOOD / EARTH / 2))
    near = np.array([people[some].sum() for some in around])
    order = np.argsort(-near, kind="stable")
    inside = np.cumsum(people[order]) <= METROPOLITAN * people.sum()
    chosen = np.zeros(len(people), dtype=bool)
    chosen[order[inside]] = True
    return chosen


def draw_shoppers(places: Places, people: int = PEOPLE, seed: int = 0) -> pl.DataFrame:
    """Return people with ``state``, ``race``, ``gender``, ``income`` and the ``price`` they are shown."""
    rng = np.random.default_rng(seed)
    cells = rng.multinomial(people, (places.people / places.people.sum()).ravel())
    area, race = np.divmod(np.repeat(np.arange(cells.size), cells), len(RACES))
    names = tuple(RACES.values())
    median = np.array([MEDIANS[name] for name in names])[race]
    median = median * np.where(places.metropolitan, INSIDE, OUTSIDE)[area] / NATION
    high = rng.random(people) < ndtr(np.log(median / THRESHOLD) / SPREAD)
    return pl.DataFrame(
        {
            "state": places.state.gather(area),
            "race": pl.Series(names).gather(race),
            "gender": pl.Series(["female", "male"]).gather(rng.integers(0, 2, people)),
            "income": pl.Series(["<50K", ">=50K"]).gather(high.astype(np.intp)),
            "price": pl.Series(["low", "high"]).gather(
                (places.miles > NEAR)[area].astype(np.intp)
            ),
        }
    )
