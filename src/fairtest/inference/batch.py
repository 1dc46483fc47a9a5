"""A batch of hypotheses: the same metric in many contexts of one test set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.engine.contract import Rows
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.inference.monte_carlo import Sampler
    from fairtest.metrics.registry import Metric
    from fairtest.summaries import Summary
    from fairtest.types import FloatArray, IntArray

__all__ = ["Batch", "Keyed", "canonical_table"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Hypotheses that are tested in the same way.

    Attributes
    ----------
    summary
        One entry along the leading axis for each hypothesis.
    fetch
        From the number of a hypothesis to its people, for methods that need them.
    seed
        Where randomness starts.
    memo
        What a procedure has computed once and needs again.
    """

    metric: Metric
    summary: Summary
    fetch: Callable[[int], Rows]
    seed: int
    memo: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.size)

    @property
    def size(self) -> IntArray:
        """The people of each hypothesis."""
        return self.summary.size

    @property
    def effect(self) -> FloatArray:
        """The effect of each hypothesis, NaN where undefined."""
        if self.metric.summary is not SummaryKind.ROWS:
            return np.asarray(self.metric.effect(self.summary), dtype=float)
        return np.array([self._effect_of_rows(i) for i in range(len(self))], dtype=float)

    def _effect_of_rows(self, i: int) -> float:
        people = self.rows(i)
        if not len(people):
            return np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(self.metric.effect(people.protected, people.output, people.stratum))

    def rows(self, i: int) -> Rows:
        """Return the people of a hypothesis in an order that does not hang on that of the data."""
        people = self.fetch(i)
        order = np.lexsort((people.output, people.protected, people.stratum))
        return Rows(people.protected[order], people.output[order], people.stratum[order], {})

    def generator(self, *content: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> np.random.Generator:
        """Return a generator that hangs on the seed and on the numbers at hand only, not on their place in line."""
        digest = hashlib.blake2b(digest_size=16)
        for array in content:
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return np.random.default_rng([self.seed, int.from_bytes(digest.digest(), "little")])

    def take(self, at: IntArray) -> Batch:
        """Return some of the hypotheses."""
        places = at.tolist()
        return Batch(self.metric, self.summary.take(at), lambda i: self.fetch(places[i]), self.seed)

    def keyed(self, sampler: Sampler, *content: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Keyed:
        """Return a sampler that draws from :meth:`generator`."""
        return Keyed(sampler, self.generator(*content))


class Keyed:
    """A sampler with a generator of its own."""

    def __init__(self, sampler: Sampler, rng: np.random.Generator) -> None:
        self._sampler = sampler
        self._rng = rng

    def draw(self, count: int, rng: np.random.Generator, /) -> int:  # noqa: ARG002 - part of the protocol
        """Return the hits among ``count`` draws."""
        return self._sampler.draw(count, self._rng)


def canonical_table(table: IntArray) -> IntArray:
    """Return ``[..., output, protected]`` without empty lines, lines ordered by size: names leave no trace in it."""
    axes = tuple(range(table.ndim - 2))
    rows, columns = table.sum(axis=(*axes, -1)), table.sum(axis=(*axes, -2))
    row_order = np.argsort(-rows, kind="stable")[: np.count_nonzero(rows)]
    column_order = np.argsort(-columns, kind="stable")[: np.count_nonzero(columns)]
    return table[..., row_order[:, None], column_order]
