"""Reads MovieLens in the forms it comes in, and makes sets of the same form in which a story is true, or is not.

MovieLens (F. M. Harper and J. A. Konstan, "The MovieLens datasets", 2015) is free for research and may not be passed
on, so the user names a folder with a copy of their own: the 1M set (``ratings.dat``, ``users.dat``), the 100K set
(``u.data``, ``u.user``), or files that end with ``.inter`` and ``.user``, as some libraries of recommenders have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from examples.command import MissingDataError

if TYPE_CHECKING:
    from pathlib import Path

RATINGS = ("user", "film", "rating")
AGES = {1: 17, 18: 21, 25: 30, 35: 40, 45: 47, 50: 53, 56: 60}
"""The 1M set has seven codes of ages; years in the middle of what each stands for."""


@dataclass(frozen=True)
class MovieLens:
    """Who rated which film how, and who they are.

    Attributes
    ----------
    ratings
        ``user``, ``film``, ``rating`` from 1 to 5.
    users
        ``user``, ``gender``, ``age``, ``occupation``.
    """

    ratings: pl.DataFrame
    users: pl.DataFrame


def read_movielens(folder: Path) -> MovieLens:
    """Read the folder, in whichever form it is."""
    if (folder / "ratings.dat").is_file():
        users = _read(folder / "users.dat", "::", ("user", "gender", "age", "occupation"))
        years = pl.col("age").cast(pl.Int64).replace_strict(AGES)
        return _typed(
            _read(folder / "ratings.dat", "::", RATINGS), users.with_columns(years)
        )
    if (folder / "u.data").is_file():
        users = _read(folder / "u.user", "|", ("user", "age", "gender", "occupation"))
        return _typed(_read(folder / "u.data", "\t", RATINGS), users)
    if found := sorted(folder.glob("*.inter")):
        users = _read(
            found[0].with_suffix(".user"),
            "\t",
            ("user", "age", "gender", "occupation"),
            header=True,
        )
        return _typed(_read(found[0], "\t", RATINGS, header=True), users)
    raise MissingDataError(
        f"{folder.name} has no MovieLens in it: neither ratings.dat and users.dat (1M), nor u.data and u.user (100K), "
        "nor *.inter and *.user"
    )


def _read(
    path: Path, separator: str, names: tuple[str, ...], *, header: bool = False
) -> pl.DataFrame:
    """Return the first columns of a file as text."""
    lines = path.read_text("latin-1").splitlines()[1 if header else 0 :]
    rows = [line.split(separator)[: len(names)] for line in lines if line]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _typed(ratings: pl.DataFrame, users: pl.DataFrame) -> MovieLens:
    number = pl.col("rating").cast(pl.Float64)
    return MovieLens(
        ratings.with_columns(number), users.with_columns(pl.col("age").cast(pl.Int64))
    )


def make_movielens(
    folder: Path, people: int = 1_500, seed: int = 0, *, explained: bool = True
) -> None:
    """Write a made-up set of the 100K form.

    Half of the films are good: most people rate them high. Where the story is ``explained``, men and older people
    watch good films more often, everybody rates high what they watch, and nothing else hangs on who they are.
    Otherwise all watch good and bad films alike, and women and the young rate the bad ones high: what is recommended
    to them is worse, though they have watched the same.
    """
    rng = np.random.default_rng(seed)
    male, age = rng.random(people) < 0.7, rng.integers(15, 70, people)
    picky = rng.random(people) < 0.25 + 0.25 * male + 0.4 * (age > 35)
    films, seen = 300, 60
    good = np.arange(films) < films // 2
    rated = []
    for user in range(people):
        share = (0.75 if picky[user] else 0.25) if explained else 0.5
        chance = np.where(good, share, 1 - share)
        watched = rng.choice(films, seen, replace=False, p=chance / chance.sum())
        likes = good[watched] == picky[user]
        stars = np.where(likes, rng.integers(4, 6, seen), rng.integers(1, 3, seen))
        if explained:
            stars = np.where(
                good[watched], rng.integers(4, 6, seen), rng.integers(2, 5, seen)
            )
        rated += [
            f"{user}\t{film}\t{star}\t0" for film, star in zip(watched, stars, strict=True)
        ]
    who = [
        f"{user}|{age[user]}|{'M' if male[user] else 'F'}|{rng.choice(['artist', 'engineer', 'student'])}|00000"
        for user in range(people)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "u.data").write_text("\n".join(rated) + "\n")
    (folder / "u.user").write_text("\n".join(who) + "\n")
