"""What a design is: a population whose true effect is known, and how to draw replicates of its summary."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.engine.contract import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.data.summaries import Summary

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

SIZES = (50, 200, 1_000, 10_000, 100_000)
NUMBERS_AT_ONCE = 2_000_000
"""Numbers drawn at once; a batch of replicates is as large as this allows."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Replicates of one design.

    Attributes
    ----------
    truth
        The true effect of each replicate; NaN where it is another one because a group is absent.
    rows
        From the number of a replicate to its people.
    """

    summary: Summary
    truth: Floats
    rows: Callable[[int], Rows]


@dataclass(frozen=True, eq=False)
class Design:
    """A population of known effect.

    Attributes
    ----------
    kind
        What is special about it, in words.
    share
        The share of the rarest group; 0.5 where there are no groups.
    effect
        The true effect as written in tables; "0" where there is none.
    draw
        From a number of replicates and a source of randomness to the replicates.
    cost
        Numbers drawn for one replicate, or what weighs as much.
    """

    metric: str
    kind: str
    n: int
    share: float
    strata: int
    effect: str
    draw: Callable[[int, np.random.Generator], Drawn]
    cost: int

    @property
    def null(self) -> bool:
        """Whether there is no association at all."""
        return self.effect == "0"

    @property
    def form(self) -> str:
        """The metric, with the word that says whether it is conditional."""
        return self.metric if self.strata == 1 else f"conditional {self.metric}"

    @property
    def name(self) -> str:
        """All of it in one line, the key of its cell."""
        strata = "" if self.strata == 1 else f", {self.strata} strata"
        return f"{self.form}: {self.kind}, n={self.n}, share {self.share:g}{strata}, effect {self.effect}"

    @property
    def at_once(self) -> int:
        """How many replicates to draw in one batch."""
        return max(1, NUMBERS_AT_ONCE // self.cost)

    def generator(self, seed: int) -> np.random.Generator:
        """Return a source of randomness that hangs on the seed and the design only."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode())])


def stratum_sizes(n: int, strata: int) -> Ints:
    """Return sizes of strata that add up to n, the largest three times the smallest."""
    weight = np.linspace(1.0, 3.0, strata) if strata > 1 else np.ones(1)
    edges = np.rint(np.cumsum(weight) / weight.sum() * n).astype(np.int64)
    return np.diff(edges, prepend=0)


def no_rows(i: int) -> Rows:
    """Refuse to return people: counts hold all there is."""
    raise LookupError(f"Replicate {i} is a table of counts; its people are not kept.")


def averaged(effects: Floats, sizes: Ints, defined: NDArray[np.bool_]) -> Floats:
    """Return the effect of each replicate over the strata that carry information in it, weighted by their people."""
    weight = np.where(defined, sizes, 0)
    return (weight * effects).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)


def rows_of(s: NDArray[np.generic], o: NDArray[np.generic]) -> Callable[[int], Rows]:
    """Return what finds the people of a replicate in arrays [replicate, stratum, person]."""
    stratum = np.repeat(np.arange(s.shape[1], dtype=np.int32), s.shape[2])
    return lambda i: Rows(s[i].ravel(), o[i].ravel(), stratum, {})


def cost_of_permuting(n: int, most: int = 1_000) -> int:
    """Return how much more replicates cost that are permuted in part, those of up to ``most`` people."""
    return 25 if n <= most else 1
