"""Bootstrap intervals for any effect: bias-corrected and accelerated (BCa), resampling people within strata.

For a user's own metric, and as an option for the others. Metrics with an interval of their own have a
better one: the bootstrap cannot draw what is not in the sample. If nobody of a group got an output, no
replicate has such a person either, and the interval collapses (10 of 10 against 0 of 20 gives [1, 1]).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from fairtest.exceptions import InputError
from fairtest.statistics.resampling.permutation import evaluate, strata_order
from fairtest.statistics.tables.random_tables import chunks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairtest.types import FloatArray, IntArray

FEWEST_DRAWS, MOST_DRAWS = 2_000, 200_000
MOST_JACKKNIFED = 500
"""Evaluations of the effect that the jackknife of people may cost; beyond, people are deleted in groups."""

Column: TypeAlias = NDArray[Any]
TableEffect: TypeAlias = Callable[["IntArray"], "FloatArray"]
RowEffect: TypeAlias = Callable[[Column, Column, "IntArray"], float]


def draws_for(alpha: float) -> int:
    """Return how many replicates an interval at error level α needs: ten beyond each bound.

    Between 2,000 and 200,000, so below α = 10⁻⁴ an interval is wider or narrower by chance.

    Examples
    --------
    >>> draws_for(0.05), draws_for(0.0005), draws_for(1e-6)
    (2000, 40000, 200000)
    """
    if not 0 < alpha < 1:
        raise InputError(f"The 'alpha' parameter must be a float between 0 and 1. Got {alpha} instead.")
    return int(np.clip(np.ceil(_draws_needed(alpha)), FEWEST_DRAWS, MOST_DRAWS))


def bca_from_table(
    counts: IntArray, effect: TableEffect, alpha: ArrayLike, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    r"""Return the BCa interval of an effect of counts.

    Resampling the people of a stratum is one multinomial draw of its cells, so the cost does not depend on
    their number. The bounds are the quantiles of the replicates at

    .. math:: Φ\Big(z_0 + \frac{z_0 + z}{1 − a (z_0 + z)}\Big), \quad z = ∓ z_{1 − α/2},

    where z₀ says how far the replicates are off-centre, and a how the standard error changes with the effect:
    :math:`a = Σ d³ / 6 (Σ d²)^{3/2}`, d the change of the effect when one person is left out, against the
    mean of the stratum. All people of a cell have the same d, so cells are weighted by their counts.

    Parameters
    ----------
    counts
        ``[stratum, output, protected]``.
    effect
        Maps ``[..., stratum, output, protected]`` to ``[...]``; NaN where it is undefined.
    alpha
        Error level of the interval, or several.
    draws
        Replicates; :func:`draws_for` says how many a level needs.

    Returns
    -------
    low, high
        In the shape of ``alpha``.

    Notes
    -----
    Undefined replicates are dropped. If more than half are, or ``alpha`` asks for more replicates than were
    drawn (fewer than ten are expected beyond each bound), the bound is the most extreme replicate: the
    widest there is, which for a tiny α may still be too narrow. The interval always contains the effect. If
    no replicate is defined it is (−∞, ∞); if the effect itself is not, (NaN, NaN).

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987), 171–185.
    A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application" (1997), sections 5.3 and 3.2
    (strata).

    Examples
    --------
    60 of 100 in one group and 40 of 100 in the other were accepted; no difference is not plausible.

    >>> def difference(counts):
    ...     rate = counts[..., 0, 0, :] / counts[..., 0, :, :].sum(axis=-2)
    ...     return rate[..., 0] - rate[..., 1]
    >>> table = np.array([[[60, 40], [40, 60]]])
    >>> low, high = bca_from_table(table, difference, 0.05, 2000, np.random.default_rng(0))
    >>> print(f"{low:.2f} to {high:.2f}")
    0.05 to 0.34
    """
    counts = np.asarray(counts, dtype=np.int64)
    parts = [evaluate(effect, _draw_tables(counts, part, rng)) for part in chunks(draws, counts.size)]
    observed = float(evaluate(effect, counts))
    change, weight = _cell_changes(counts, effect)
    return _bca(np.concatenate(parts), observed, _acceleration(change, weight), alpha)


def bca_from_rows(
    s: Column,
    o: Column,
    stratum: IntArray | None,
    effect: RowEffect,
    alpha: ArrayLike,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return the BCa interval of an effect of people: :func:`bca_from_table` for what no table holds.

    Parameters
    ----------
    s, o
        Columns of any type, one value for each person.
    stratum
        Code of the stratum of each person; None for one stratum. Each stratum keeps its size.
    effect
        Maps ``(s, o, stratum)`` to a number, whatever the order of people; NaN where it is undefined. It is
        called once for each replicate and up to about 500 times for the jackknife: with more people than
        that, random groups of people within a stratum are left out together.
    alpha, draws
        As for :func:`bca_from_table`, like the result.
    """
    s, o = np.asarray(s), np.asarray(o)
    stratum = np.zeros(len(s), dtype=np.int64) if stratum is None else np.asarray(stratum)
    order, strata = strata_order(stratum, len(s))

    def value(people: IntArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(effect(s[people], o[people], stratum[people]))

    start = np.repeat([part.start for part in strata], [part.stop - part.start for part in strata])
    size = np.repeat([part.stop - part.start for part in strata], [part.stop - part.start for part in strata])
    replicates = np.array([value(order[start + (rng.random(len(s)) * size).astype(np.int64)]) for _ in range(draws)])
    changes = [_group_changes(order, part, value, rng) for part in strata]
    change = np.concatenate(changes)
    return _bca(replicates, value(order), _acceleration(change, np.ones_like(change)), alpha)


def _draws_needed(alpha: ArrayLike) -> FloatArray:
    return 2 * (10 / np.asarray(alpha, dtype=np.float64))


def _draw_tables(counts: IntArray, draws: int, rng: np.random.Generator) -> IntArray:
    """Draw tables ``[draws, stratum, output, protected]``, each stratum multinomial with its own shares."""
    cells = counts.reshape(len(counts), -1)
    size = cells.sum(axis=1)
    share = np.where(size[:, None] > 0, cells / np.maximum(size, 1)[:, None], 1 / max(1, cells.shape[1]))
    return rng.multinomial(size, share, size=(draws, len(counts))).reshape(draws, *counts.shape)


def _cell_changes(counts: IntArray, effect: TableEffect) -> tuple[FloatArray, FloatArray]:
    """Return how the effect changes without one person of each cell, and the people of the cell."""
    occupied = np.flatnonzero(counts)
    without = np.empty(occupied.size)
    done = 0
    for part in chunks(occupied.size, counts.size):
        cells = occupied[done : done + part]
        tables = np.repeat(counts.reshape(1, -1), part, axis=0)
        tables[np.arange(part), cells] -= 1
        without[done : done + part] = evaluate(effect, tables.reshape(part, *counts.shape))
        done += part
    defined = np.isfinite(without)
    occupied, without = occupied[defined], without[defined]
    weight = counts.ravel()[occupied].astype(np.float64)
    return _off_mean(without, weight, occupied // max(1, counts[0].size)), weight


def _off_mean(without: FloatArray, weight: FloatArray, stratum: IntArray) -> FloatArray:
    """Return the weighted mean of the stratum minus each value.

    Within strata: leaving out a person also changes the size of the stratum, which resampling never does;
    that part is the same for all its people and cancels.
    """
    total = np.bincount(stratum, weight)
    mean = np.bincount(stratum, weight * without) / np.maximum(total, 1)
    return mean[stratum] - without


def _group_changes(
    order: IntArray, part: slice, value: Callable[[IntArray], float], rng: np.random.Generator
) -> FloatArray:
    """Return how the effect changes without each group of people of one stratum (a group of 1 when few)."""
    width = -(-order.size // MOST_JACKKNIFED)
    size = part.stop - part.start
    groups = np.array_split(part.start + rng.permutation(size), max(1, size // width))
    without = np.array([value(np.delete(order, group)) for group in groups if group.size < order.size])
    without = without[np.isfinite(without)]
    return np.asarray(without.mean() - without) if without.size else without


def _acceleration(change: FloatArray, weight: FloatArray) -> float:
    """Return a sixth of the skewness of the effect's influence; 0 where nothing changes it."""
    scale = np.abs(change).max(initial=0.0)
    if scale == 0:
        return 0.0
    change = change / scale
    return float(np.sum(weight * change**3) / (6 * np.sum(weight * change**2) ** 1.5))


def _bca(
    replicates: FloatArray, observed: float, acceleration: float, alpha: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    level = np.asarray(alpha, dtype=np.float64)
    defined = np.sort(replicates[~np.isnan(replicates)])
    if np.isnan(observed):
        return np.full_like(level, np.nan), np.full_like(level, np.nan)
    if not defined.size:
        return np.full_like(level, -np.inf), np.full_like(level, np.inf)
    below = np.searchsorted(defined, observed, "left") + np.searchsorted(defined, observed, "right")
    centre = ndtri(np.clip(below / (2 * defined.size), 0.5 / defined.size, 1 - 0.5 / defined.size))
    coarse = (replicates.size < _draws_needed(level)) | (2 * defined.size < replicates.size)
    z = ndtri(level / 2)
    lower = np.where(coarse, 0.0, _bca_level(centre, z, acceleration))
    upper = np.where(coarse, 1.0, _bca_level(centre, -z, acceleration))
    first, last = 1, defined.size
    low = defined[np.clip(np.floor(lower * (last + 1)), first, last).astype(np.int64) - 1]
    high = defined[np.clip(np.ceil(upper * (last + 1)), first, last).astype(np.int64) - 1]
    return np.minimum(low, observed), np.maximum(high, observed)


def _bca_level(centre: float, z: FloatArray, acceleration: float) -> FloatArray:
    """Return the level of the quantile to read; past the pole of the formula, the end it was heading for."""
    shifted = centre + z
    slope = 1 - acceleration * shifted
    safe = np.where(slope > 0, slope, 1.0)
    return np.where(slope > 0, ndtr(centre + shifted / safe), np.where(shifted > 0, 1.0, 0.0))
