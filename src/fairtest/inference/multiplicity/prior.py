"""What is known of each hypothesis before the test set is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Prior:
    """The training set's evidence about each hypothesis of a family, and whether the test set points the same way.

    Attributes
    ----------
    evidence
        A normal deviate, 0 where nothing is known.
    direction
        1 where the test set's effect has the sign it had in training, −1 where it has the other, 0 where the
        hypothesis has no direction.
    share
        The training set's share of the people of both sets.
    depth
        How many predicates the context of each hypothesis has, one more than the deepest for strata; None where all
        are alike.
    """

    evidence: FloatArray
    direction: FloatArray
    share: float
    depth: IntArray | None = None

    @classmethod
    def ignorant(cls, size: int) -> Prior:
        """Return what one knows without a training set."""
        return cls(np.zeros(size), np.zeros(size), 0.5)

    def take(self, order: IntArray) -> Prior:
        """Return the prior of some hypotheses."""
        depth = None if self.depth is None else self.depth[order]
        return Prior(self.evidence[order], self.direction[order], self.share, depth)

    def one_sided(self, p: FloatArray) -> FloatArray:
        """Return p-values in the direction seen in training, two-sided ones where there is none."""
        return np.where(self.direction == 0, p, np.where(self.direction > 0, p / 2, 1 - p / 2))
