"""A small country in the form of the Staples data: a city with stores and villages without, in each of some states."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import polars as pl

from fairtest.datasets.census import RACES

if TYPE_CHECKING:
    from pathlib import Path

STATES = ("CA", "NY", "OK")


def write_country(folder: Path) -> pl.DataFrame:
    """Write coordinates and stores, and return the people by ZIP code and race; New York's villages have stores too."""
    zips, stores, people = [], [], []
    for number, state in enumerate(STATES):
        for place in range(10):
            code, city = f"{number}{place:04d}", place < 6
            away = 0.02 * place if city else 0.9 + 0.05 * place  # degrees: about 60 miles to the villages
            where = f"{33.0 + 4 * number + away},{-118.0 + 12 * number}"
            zips.append(f"{code},Town,{state},{where},-5,1")
            people.append([code, *(_people(race, city=city) for race in RACES)])
            if place == 0 or (place == 9 and state == "NY"):
                stores.append(f"{number},{code},{where}")
    text = "\n".join(["zipcode,city,state,latitude,longitude,timezone,dst", *zips, ""])
    (folder / "staples_zipcodes.csv.gz").write_bytes(gzip.compress(text.encode()))
    text = "\n".join(["store,zipcode,latitude,longitude", *stores, ""])
    (folder / "staples_competitor_stores.csv").write_text(text)
    return pl.DataFrame(people, schema=["zipcode", *RACES.values()], orient="row")


def _people(race: str, *, city: bool) -> int:
    return {"white": 3_000, "black": 900, "hispanic": 900}.get(race, 200) * (5 if city else 3)
