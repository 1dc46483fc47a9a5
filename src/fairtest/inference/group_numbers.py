"""How a number is distributed in groups of people: means, quartiles, boxes, and the line through everybody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.model.finding import Group, Line
from fairtest.statistics.design import RowSums
from fairtest.statistics.domains import weighted_median_interval
from fairtest.statistics.numbers.medians import median_interval

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray, Interval, Level

QUARTILES = np.array([0, 0.25, 0.5, 0.75, 1])


def describe_group(
    name: Level,
    values: FloatArray,
    numbers: FloatArray | None = None,
    weight: FloatArray | None = None,
    person: IntArray | None = None,
    *,
    level: float | None = None,
) -> Group:
    """Return a number's mean, spread and quartiles in one group, which may be a bin of other ``numbers``.

    With a ``level``, the median has its interval. Rows may have weights, and be several of one ``person``.
    """
    n = values.size
    if not n or (weight is not None and not weight.any()):
        return Group(name, 0, None, None, None)
    ends = None if level is None else _finite(_find_median_interval(values, weight, person, level))
    people = None if person is None else int(np.unique(person).size)
    if weight is not None:
        return replace(_describe_weighted(name, values, numbers, weight), median_interval=ends, people=people)
    values = np.sort(values)  # sums then do not hang on the order of the rows
    return Group(
        name=name,
        size=n,
        mean=float(np.mean(values)),
        deviation=float(np.std(values, ddof=1)) if n > 1 else None,
        **_box(values, np.quantile(values, QUARTILES)),
        at=None if numbers is None else float(np.mean(np.sort(numbers))),
        median_interval=ends,
        people=people,
    )


def _find_median_interval(
    values: FloatArray, weight: FloatArray | None, person: IntArray | None, level: float
) -> Interval:
    if weight is None and person is None:
        return median_interval(np.sort(values), level)
    return weighted_median_interval(RowSums.of(person, weight, np.zeros(values.size, dtype=int)), values, level)


def _describe_weighted(name: Level, values: FloatArray, numbers: FloatArray | None, weight: FloatArray) -> Group:
    """Return the same of rows with weights: quantiles are the least values that so much of the weight is at or below.

    Examples
    --------
    >>> _describe_weighted("a", np.array([1.0, 2.0, 9.0]), None, np.array([1.0, 1.0, 2.0])).mean
    5.25
    """
    order = np.lexsort((weight, values))
    numbers = None if numbers is None else numbers[order]
    values, weight = values[order], weight[order]
    share = np.cumsum(weight) / weight.sum()
    # a hair less than each share, which rounding may have moved
    at = np.searchsorted(share, np.maximum(QUARTILES - 1e-12, 1e-12))
    mean = float(np.average(values, weights=weight))
    spread = float(np.average((values - mean) ** 2, weights=weight))
    return Group(
        name=name,
        size=values.size,
        mean=mean,
        deviation=float(np.sqrt(spread * values.size / (values.size - 1))) if values.size > 1 else None,
        **_box(values, values[np.minimum(at, values.size - 1)]),
        at=None if numbers is None else float(np.average(numbers, weights=weight)),
    )


def _box(values: FloatArray, quantiles: FloatArray) -> dict[str, Any]:
    """Return a box plot of sorted values, from their quartiles: whiskers reach one and a half boxes at the most."""
    low, q1, median, q3, high = (float(q) for q in quantiles)
    reach = 1.5 * (q3 - q1)
    near = values[(values >= q1 - reach) & (values <= q3 + reach)]
    return {
        "quantiles": (low, q1, median, q3, high),
        "whiskers": (float(near[0]), float(near[-1])),
        "beyond": int(values.size - near.size),
    }


def fit_line(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> Line | None:
    """Return the least-squares line of y on x, or None where x does not vary.

    Examples
    --------
    >>> fit_line(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    Line(intercept=0.0, slope=2.0)
    """
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    if not x.size or x[0] == x[-1]:
        return None
    w = np.ones(x.size) if weight is None else weight[order]
    mean_x, mean_y = np.average(x, weights=w), np.average(y, weights=w)
    slope = np.sum(w * (x - mean_x) * (y - mean_y)) / np.sum(w * (x - mean_x) ** 2)
    return Line(float(mean_y - slope * mean_x), float(slope))


def _finite(interval: Interval) -> Interval | None:
    return interval if np.isfinite(interval).all() else None
