r"""How level passes from whole populations to the gaps of their groups and on to contexts.

Each of m populations begins with 1/m of the level s·α. One with two groups, once rejected, passes its level on to the
populations that are left (Holm's procedure) and at last to the contexts. One with several groups keeps it: its gaps to
the reference group are tested with it, by Holm's procedure among themselves, and only when all of them are rejected
does it go on to the contexts.

Why a family-wise error of α holds: if all populations differ, a false gap costs at most the level its population kept,
and contexts have just the rest of α unless every gap was rejected, false ones among them. If some population does not
differ, contexts have (1 − s)·α unless it was rejected; the level of false populations is never that which a population
with several groups keeps. (A graph in the sense of Bretz, Maurer, Brannath and Posch 2009, with no edge from contexts.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.types import BoolArray, FloatArray


def adjust_populations(p: FloatArray, keeps: BoolArray) -> FloatArray:
    """Return p-values of populations corrected for each other; those that keep their level pass nothing on.

    Undefined ones (NaN) are no members.

    Examples
    --------
    Without one that keeps its level this is Holm's procedure; otherwise the others gain nothing from it:

    >>> p = np.array([0.001, 0.02])
    >>> adjust_populations(p, np.array([False, False])).tolist()
    [0.002, 0.02]
    >>> adjust_populations(p, np.array([True, False])).tolist()
    [0.002, 0.04]
    """
    adjusted = np.full(len(p), np.nan)
    order = [i for i in np.argsort(p, kind="stable").tolist() if not np.isnan(p[i])]
    members, released, largest = len(order), 0, 0.0
    for rejected, i in enumerate(order):
        share = (1 + released / (members - rejected)) / members
        largest = max(largest, float(p[i]) / share)
        adjusted[i] = min(largest, 1.0)
        released += not keeps[i]
    return adjusted


def holm(p: FloatArray) -> FloatArray:
    """Return p-values corrected by Holm's procedure; undefined ones (NaN) count too, and stay so.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    filled = np.nan_to_num(p, nan=1.0)
    order = np.argsort(filled, kind="stable")
    steps = np.maximum.accumulate(filled[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return np.where(np.isnan(p), np.nan, adjusted)


@dataclass(frozen=True, eq=False)
class Gates:
    """What of the level has passed on from populations to contexts, as corrected p-values.

    Attributes
    ----------
    share
        The populations' share of the level.
    kept
        The part of the level that populations with several groups keep for their gaps.
    populations, gaps
        The largest corrected p-value of the populations, and of populations and gaps.
    """

    share: float
    kept: float
    populations: float
    gaps: float

    @classmethod
    def of(cls, share: float, populations: Sequence[float], gaps: Sequence[FloatArray | None]) -> Gates:
        """Return the gates from corrected p-values; ``gaps`` has None for a population of two groups."""
        largest = max((1.0 if np.isnan(p) else p for p in populations), default=0.0)
        own = [1.0 if np.isnan(p).any() else float(p.max(initial=0.0)) for p in gaps if p is not None]
        keepers, members = sum(p is not None for p in gaps), sum(not np.isnan(p) for p in populations)
        return cls(share, share * keepers / max(members, 1), largest, max([largest, *own]))

    def level_for_contexts(self, level: float) -> float:
        """Return the level that contexts have."""
        if self.gaps <= level:
            return level
        return (1 - (self.kept if self.populations <= level else self.share)) * level

    def pass_on(self, p: FloatArray) -> FloatArray:
        r"""Return the p-values of contexts as they are compared with the level of the whole set.

        With κ corrected among the contexts, P the largest of the populations and G that of populations and gaps, it is
        :math:`\min\{κ/(1 − s), \max(κ/(1 − kept), P), \max(κ, G)\}`.
        """
        alone = p / (1 - self.share) if self.share < 1 else np.full_like(p, np.inf)
        rest = p / (1 - self.kept) if self.kept < 1 else np.full_like(p, np.inf)
        passed = np.minimum(np.maximum(rest, self.populations), np.maximum(p, self.gaps))
        return np.minimum(np.minimum(alone, passed), np.where(np.isnan(p), np.nan, 1.0))
