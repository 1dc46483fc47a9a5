"""Made-up people of any number and with any number of columns: categories, whole numbers and decimals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["people", "write_people"]

CHUNK = 1_000_000
FIXED = ("sex", "hired")
KINDS = ("category", "category", "whole", "decimal")
"""What the columns after the first two are, in turn."""
MOST_LEVELS = 20
GAP, MORE = 0.02, 0.15
"""How much less often women are hired everywhere, and in one of the twenty kinds of jobs."""


def people(rows: int, columns: int, seed: int = 0, chunk: int = 0) -> pl.DataFrame:
    """Return people with two groups, a binary output and further columns, most of them of no importance.

    Whether somebody is hired depends on the first category and the first whole number; women are hired a little less
    often than men, and much less in one category of the second attribute.

    Parameters
    ----------
    columns
        How many in all, ``sex`` and ``hired`` included.
    chunk
        The number of the part, for tables that are made in parts.
    """
    rng = np.random.default_rng([seed, chunk])
    made: dict[str, pl.Series] = {}
    for number in range(columns - len(FIXED)):
        kind = KINDS[number % len(KINDS)]
        name = f"{kind}_{number:02d}"
        made[name] = pl.Series(name, _column(kind, number, rows, rng))
    sex = rng.random(rows) < 0.48
    rate = np.full(rows, 0.3)
    names = list(made)
    if names:
        rate += 0.02 * (made[names[0]].rank("dense").to_numpy() % 5)
    rate -= GAP * sex
    if len(names) > 1:
        rate -= MORE * (sex & (made[names[1]] == "b").to_numpy())
    hired = rng.random(rows) < rate
    first = {
        "sex": pl.Series("sex", np.where(sex, "woman", "man")),
        "hired": pl.Series("hired", np.where(hired, "yes", "no")),
    }
    return pl.DataFrame([*first.values(), *made.values()])


def _column(kind: str, number: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "category":
        levels = 2 + (number * 7) % (MOST_LEVELS - 1)
        names = np.array([chr(ord("a") + i) for i in range(levels)])
        shares = 1.0 / np.arange(1, levels + 1) ** 0.7
        return names[rng.choice(levels, rows, p=shares / shares.sum())]
    if kind == "whole":
        return rng.poisson(12 + number % 30, rows).astype(np.int64)
    return np.round(rng.lognormal(3.0, 0.8, rows), 3)


def write_people(path: Path, rows: int, columns: int, seed: int = 0) -> None:
    """Write people as Parquet, in parts of a million so that ten millions fit in memory."""
    if rows <= CHUNK:
        people(rows, columns, seed).write_parquet(path)
        return
    path.mkdir()
    for number, first in enumerate(range(0, rows, CHUNK)):
        part = people(min(CHUNK, rows - first), columns, seed, number)
        part.write_parquet(path / f"part-{number:03d}.parquet")
