"""Two numbers of known correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.errors import NOISES

if TYPE_CHECKING:
    from calibration.designs.base import Floats


@dataclass(frozen=True)
class Pair:
    """Two numbers of known correlation.

    Attributes
    ----------
    r
        The correlation in each stratum (one value: the same in all).
    noise
        The errors of o given s; "unequal spread": normal, growing with the size of s; "log-normal pair …": both.
    share, spread
        For a binary s: the share of the group, and how many times larger its errors are; share 0: a normal s.
    """

    r: tuple[float, ...]
    noise: str
    share: float = 0.0
    spread: float = 1.0

    def sample(self, rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[Floats, Floats]:
        """Return both numbers, [replicate, stratum, person]."""
        r = np.resize(self.r, shape[1])[:, None]
        if self.noise.startswith("log-normal pair"):
            return self._lognormal_pair(rng, shape, r)
        if self.share:
            return self._binary(rng, shape, r)
        s = rng.standard_normal(shape)
        if self.noise == "unequal spread":
            return s, r * s + np.sqrt(1 - r**2) * np.abs(s) * rng.standard_normal(shape)
        return s, r * s + np.sqrt(1 - r**2) * NOISES[self.noise](rng, shape)

    def _binary(self, rng: np.random.Generator, shape: tuple[int, int, int], r: Floats) -> tuple[Floats, Floats]:
        s = (rng.random(shape) < self.share).astype(float)
        within = 1 - self.share + self.share * self.spread**2
        gap = r / np.sqrt(1 - r**2) * np.sqrt(within / (self.share * (1 - self.share)))
        return s, gap * s + np.where(s > 0, self.spread, 1.0) * NOISES[self.noise](rng, shape)

    def _lognormal_pair(
        self, rng: np.random.Generator, shape: tuple[int, int, int], r: Floats
    ) -> tuple[Floats, Floats]:
        sigma = float(self.noise.split()[-1])
        common = np.log1p(r * np.expm1(sigma**2)) / sigma**2
        z = rng.standard_normal(shape)
        other = common * z + np.sqrt(1 - common**2) * rng.standard_normal(shape)
        scale = np.exp(sigma**2)  # keeps powers within reach
        return np.exp(sigma * z) / scale, np.exp(sigma * other) / scale
