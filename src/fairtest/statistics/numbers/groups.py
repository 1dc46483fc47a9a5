"""Groups of people with a number each, reduced to sums: what one-way tests and intervals read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True)
class Groups:
    """Central sums of a numeric output, contexts × groups or contexts × strata × groups.

    Attributes
    ----------
    n
        The number of people; 0 for a group that is absent.
    mean
        The mean of the group (anything finite or NaN where it is absent).
    s2, s3, s4
        The sums of squares, cubes and fourth powers of the deviations from the mean of the group.
    """

    n: FloatArray | IntArray
    mean: FloatArray
    s2: FloatArray
    s3: FloatArray
    s4: FloatArray


@dataclass(frozen=True)
class Layout:
    """The groups that carry information, as contexts × strata × groups; 0 for whatever is absent.

    Strata with a single group carry none and are emptied.

    Attributes
    ----------
    deviation
        The mean of the group minus the mean of its stratum.
    """

    n: FloatArray
    deviation: FloatArray
    s2: FloatArray
    s3: FloatArray
    s4: FloatArray

    @classmethod
    def from_groups(cls, groups: Groups) -> Layout:
        """Lay out groups with or without strata."""
        n = np.asarray(groups.n, dtype=np.float64)
        if n.ndim == 2:
            n = n[:, None, :]
        used = (n > 0) & ((n > 0).sum(axis=2, keepdims=True) > 1)
        fields = (groups.n, groups.mean, groups.s2, groups.s3, groups.s4)
        n, mean, s2, s3, s4 = (np.where(used, np.asarray(v, dtype=np.float64).reshape(n.shape), 0.0) for v in fields)
        size = np.maximum(n.sum(axis=2, keepdims=True), 1.0)
        deviation = np.where(used, mean - (n * mean).sum(axis=2, keepdims=True) / size, 0.0)
        return cls(n, deviation, s2, s3, s4)

    def take(self, at: FloatArray | IntArray) -> Layout:
        """Return some of the contexts."""
        return Layout(self.n[at], self.deviation[at], self.s2[at], self.s3[at], self.s4[at])

    @property
    def between(self) -> FloatArray:
        """The variation between the groups of each stratum."""
        return np.asarray((self.n * self.deviation**2).sum(axis=2))

    @property
    def total(self) -> FloatArray:
        """All variation of each stratum."""
        return np.asarray(self.between + self.s2.sum(axis=2))
