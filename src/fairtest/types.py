"""Names for the shapes of values that travel between the layers."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer]
BoolArray: TypeAlias = NDArray[np.bool_]

Level: TypeAlias = str | bool | int | float | dt.date
"""One value of a column, as the user wrote it (a date stands for a day number)."""

Interval: TypeAlias = tuple[float, float]
"""Low and high; an infinite bound is open."""


EPOCH = dt.date(1970, 1, 1)
"""Day 0 of the numbers that stand for dates."""


def day_number(date: dt.date) -> float:
    """Return the number that stands for a date."""
    return float((date - EPOCH).days)


class Kind(StrEnum):
    """What a column holds, as far as statistics care."""

    BINARY = "binary"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    NUMERIC = "numeric"
    IDENTIFIER = "identifier"


class SummaryKind(StrEnum):
    """Which small table a metric reads (section 1 of the statistics)."""

    COUNTS = "counts"
    MOMENTS = "moments"
    GROUP_MOMENTS = "group moments"
    RANKS = "ranks"
    WEIGHTS = "weights"
    ROWS = "rows"
