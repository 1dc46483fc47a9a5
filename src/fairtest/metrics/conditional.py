"""Conditioning on explanatory attributes: the average over strata, weighted by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import FloatArray


def stratum_weights(size: FloatArray, defined: FloatArray) -> FloatArray:
    """Return each stratum's share of the people in the strata where ``defined`` is a number.

    Strata without an effect (a group is absent) carry no information and get no weight.
    """
    used = np.where(np.isnan(defined), 0.0, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights: FloatArray = used / used.sum(axis=-1, keepdims=True)
    return weights


def strata_average(effect: FloatArray, variance: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the average over strata by size of an estimate, and the standard error that follows."""
    if effect.shape[-1] == 1:
        return effect[..., 0], np.where(np.isnan(effect), np.nan, np.sqrt(variance))[..., 0]
    w = stratum_weights(size, effect)
    return weighted_average(effect, size), np.sqrt((w**2 * variance).sum(axis=-1))


def weighted_average(effect: FloatArray, size: FloatArray) -> FloatArray:
    """Return Σ (nₑ/n)·effectₑ over the strata in which it is defined; NaN if there are none.

    Examples
    --------
    >>> float(weighted_average(np.array([0.2, np.nan, -0.1]), np.array([100.0, 50.0, 50.0])))
    0.1
    """
    if effect.shape[-1] == 1:
        return effect[..., 0]
    return np.where(
        np.isnan(effect).all(axis=-1), np.nan, (stratum_weights(size, effect) * np.nan_to_num(effect)).sum(-1)
    )
