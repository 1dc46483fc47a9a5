r"""The distribution of a sum of squares of normal numbers with any covariance, far into its tail.

The sum is :math:`\sum λ_k χ^2_1` with the eigenvalues λ of the covariance, and for any c between 0 and 1/(2 max λ)

.. math:: P(Q > q) = \frac{1}{2πi} \int_{c-i∞}^{c+i∞} e^{K(s) - sq} \frac{ds}{s}, \qquad
          K(s) = -\tfrac12 \sum \log(1 - 2 λ_k s).

(less 1 if c < 0). The path is led through the saddlepoint and bent to the right, where the integrand vanishes like a
normal density: a few dozen points give the probability to three digits *relative* to itself however small it is, which
is what a comparison with α/m needs.

References
----------
C. W. Helstrom, "Distribution of the sum of two sine waves and Gaussian noise", IEEE Transactions on Information Theory
38 (1992), 186–191; S. O. Rice, "Distribution of quadratic forms in normal random variables – evaluation by numerical
integration", SIAM Journal on Scientific and Statistical Computing 1 (1980), 438–448: integration through the
saddlepoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from fairtest.types import FloatArray

NEGLIGIBLE = 1e-9
"""Smaller eigenvalues, as parts of the largest, are rounding error."""
SADDLES = np.concatenate((-np.geomspace(1e3, 0.1, 16), 1 - np.geomspace(1.05, 8e-3, 48)))
"""Where the law is tabulated: twice the saddlepoint times the largest eigenvalue, any number below 1."""
CLEAR = 0.7
"""How far from 0, where the integrand has a pole, the path must stay, in terms of the width of the saddle."""
STEPS = (np.arange(48) + 0.5) / 48


@dataclass(frozen=True, eq=False)
class SumOfSquares:
    """The law of a sum of squares, as a table from its root to the normal deviate that is as rare.

    Examples
    --------
    Three numbers with the same variance make a χ² of three degrees of freedom.

    >>> law = SumOfSquares.from_eigenvalues(np.ones(3))
    >>> p = law.p(np.array([11.3449, 40.0]))  # 0.01 and 1.066e-8
    >>> print(f"{p[0]:.4f} {p[1]:.3g}")
    0.0100 1.07e-08
    """

    root: FloatArray
    deviate: FloatArray

    @classmethod
    def from_eigenvalues(cls, eigenvalues: FloatArray) -> SumOfSquares:
        """Return the law for the eigenvalues of a covariance."""
        largest = float(eigenvalues.max())
        part = eigenvalues[eigenvalues > NEGLIGIBLE * largest, None] / largest
        value = (part / (1 - SADDLES * part)).sum(axis=0)
        deviate = -ndtri(np.clip(_tail(part, value, SADDLES / 2), 1e-300, 1 - 1e-16))
        rising = deviate > np.maximum.accumulate(np.r_[-np.inf, deviate[:-1]])
        return cls(np.sqrt(largest * value)[rising], deviate[rising])

    def p(self, value: FloatArray) -> FloatArray:
        """Return the probability of a larger sum."""
        return np.asarray(ndtr(-np.interp(np.sqrt(value), self.root, self.deviate)))

    def quantile(self, p: float) -> float:
        """Return the value that is exceeded with probability ``p``."""
        return float(np.interp(-ndtri(p), self.deviate, self.root) ** 2)


def _tail(part: FloatArray, value: FloatArray, saddle: FloatArray) -> FloatArray:
    """Return the probability of more than each value, along s = c + w(iu + bu²), nearly the steepest path from c."""
    width = (2 * _derivative(part, saddle, 2)) ** -0.5
    left = saddle < CLEAR * width
    c = np.where(left, np.minimum(saddle, -CLEAR * width), saddle)
    width = (2 * _derivative(part, c, 2)) ** -0.5
    bend = 8 * _derivative(part, c, 3) * width**3 / 6
    length = np.sqrt(36 / (value * width * bend))
    u = STEPS[:, None] * length
    s = c + width * (1j * u + bend * u**2)
    cumulant = sum(-np.log(1 - 2 * s * p) / 2 for p in part[:, 0])
    integrand = np.exp(cumulant - s * value) / s * width * (1j + 2 * bend * u)
    return np.asarray(left + integrand.imag.sum(axis=0) * length / STEPS.size / np.pi)


def _derivative(part: FloatArray, s: FloatArray, order: int) -> FloatArray:
    """Return a derivative of K, but for its factor: 2 for the second, 8 for the third."""
    return np.asarray(((part / (1 - 2 * s * part)) ** order).sum(axis=0))
