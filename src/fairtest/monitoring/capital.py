r"""The capital of a monitor: how much of it is staked on each day, and on which hypotheses.

A monitor owns a capital of 1. On day t it stakes :math:`γ_t` of it, split over the hypotheses it follows; a stake is
then multiplied by what its bets pay. Where a hypothesis is true, nothing is won on average, so the chance that a
stake ever reaches 1/α is at most α times what was put into it, and over all hypotheses and all days these add up to
at most α.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairtest.exceptions import InputError, the

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.types import FloatArray, IntArray

Mode: TypeAlias = Literal["lifetime", "rate"]
"""``lifetime``: the chance of one false alarm, ever. ``rate``: the expected number of false alarms in a year."""
MODES = ("lifetime", "rate")
EXPONENT = 1.2
"""How fast the daily stakes of a lifetime fall: faster helps in the first weeks and hurts years later."""
ZETA = 5.591582441177753
"""Σ t^−1.2."""
YEAR = 365
SCHEMA, FOUND, LISTED = "schema", "found", "listed"
"""Where a hypothesis comes from: the columns themselves, a search, the user's list."""
_PARTS = {SCHEMA: 0.5, FOUND: 0.25, LISTED: 0.25}


def daily_stake(day: int, mode: Mode = "lifetime") -> float:
    """Return the share of the capital that is staked on a day; the first is 1.

    Examples
    --------
    >>> round(daily_stake(1), 6), round(daily_stake(30), 6), round(365 * daily_stake(30, "rate"), 6)
    (0.17884, 0.003019, 1.0)
    """
    if mode == "rate":
        return 1 / YEAR
    return float(day**-EXPONENT / ZETA)


def check_mode(mode: str) -> Mode:
    """Return the mode, or raise if there is no such mode."""
    if mode not in MODES:
        raise InputError(f"{the('mode')} must be {' or '.join(map(repr, MODES))}. Got {mode!r} instead.")
    return "lifetime" if mode == "lifetime" else "rate"


def share_capital(origins: Sequence[str], depths: IntArray, able: Sequence[bool]) -> FloatArray:
    """Return the share of a day's stake that each hypothesis gets; they add up to 1, or to 0 if none can have any.

    Half goes to the contexts that the columns make, a third of it to each depth; a quarter to those that a search
    found, a quarter to those the user listed. What has no taker goes to the others in proportion.

    Parameters
    ----------
    origins, depths
        Where each hypothesis comes from, and how many predicates its context has.
    able
        Whether it can have any: one that has alarmed cannot, until the bias is gone.

    Examples
    --------
    >>> share_capital(["schema"] * 4, np.array([0, 1, 1, 2]), [True] * 4).round(3)
    array([0.333, 0.167, 0.167, 0.333])
    """
    takers = np.asarray(able, dtype=bool)
    keys = [f"{o}/{d}" if o == SCHEMA else o for o, d in zip(origins, depths.tolist(), strict=True)]
    names, part = np.unique(keys, return_inverse=True) if keys else (np.array([]), np.zeros(0, dtype=int))
    members = np.bincount(part[takers], minlength=len(names))
    weights = np.array([_PARTS[name.partition("/")[0]] / (3 if "/" in name else 1) for name in names])
    weights = np.where(members > 0, weights, 0.0)
    if not weights.sum():
        return np.zeros(len(keys))
    each = np.divide(weights / weights.sum(), members, out=np.zeros(len(names)), where=members > 0)
    return np.where(takers, each[part], 0.0)
