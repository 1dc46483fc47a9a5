"""Errors of numeric outputs: normal, skewed, heavy-tailed, counts and amounts that are mostly 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from calibration.designs.base import Floats

Noise: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _lognormal(sigma: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    mean, deviation = np.exp(sigma**2 / 2), np.sqrt(np.expm1(sigma**2) * np.exp(sigma**2))
    return (np.exp(sigma * rng.standard_normal(shape)) - mean) / deviation


def _count(mean: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return (rng.poisson(mean, shape) - mean) / np.sqrt(mean)


def _zero_inflated(share: float, sigma: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return amounts that are 0 for most people and log-normal for a share of them, in units of their deviation."""
    mean, square = share * np.exp(sigma**2 / 2), share * np.exp(2 * sigma**2)
    amounts = np.where(rng.random(shape) < share, np.exp(sigma * rng.standard_normal(shape)), 0.0)
    return np.asarray((amounts - mean) / np.sqrt(square - mean**2))


NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.standard_exponential(shape) - 1,
    "log-normal 0.5": partial(_lognormal, 0.5),
    "log-normal 1": partial(_lognormal, 1.0),
    "log-normal 1.5": partial(_lognormal, 1.5),
    "t5": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
    "zero-inflated": partial(_zero_inflated, 0.1, 0.5),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "count 0.03": partial(_count, 0.03),
    "count 0.1": partial(_count, 0.1),
    "rare amounts": partial(_zero_inflated, 0.03, 1.0),
}
"""Errors of mean 0 and variance 1."""
