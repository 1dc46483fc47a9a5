"""What several metrics ask before they trust an asymptotic method.

``docs/calibration.md`` lists the weak cells; the calibration fails if one of them is not warned of. Small samples of a
long-tailed population often look harmless, so the limits are low there, at the price of some false alarms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

FEW_PEOPLE = 10
FEW = "One of the two groups has fewer than ten people here: the interval may be too narrow."

FAR = 0.1
"""Above this, no correction can find a p-value small enough."""
SURE = 1e-3
"""Below this part of the smallest level nothing is drawn: G if no expected count is below 1, and η² within strata."""


def long_tails(people: FloatArray | IntArray, skewness: FloatArray, kurtosis: FloatArray) -> BoolArray:
    """Whether the fourth moments of a sample are too large for its size to be trusted.

    Examples
    --------
    >>> long_tails(np.array([50, 200, 10_000]), np.array([0.0, 1.5, 1.5]), np.array([5.0, 4.0, 9.0]))
    array([ True,  True, False])
    """
    limit = np.maximum(people / 200, 1.0) ** 0.25
    with np.errstate(invalid="ignore"):
        return np.asarray((kurtosis > 4.5 * limit) | (np.abs(skewness) > limit))
