"""Samplers: what draws from the null distribution of a hypothesis, and which hypotheses are to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np

    from fairtest.types import BoolArray


class Sampler(Protocol):
    """Draws from the null distribution of one hypothesis."""

    def draw(self, count: int, rng: np.random.Generator, /) -> int:
        """Return how many of ``count`` fresh draws are at least as extreme as what was observed."""


class KeyedSampler:
    """A sampler with a generator of its own; ``cost`` is that of a draw, one from a small table being 1."""

    def __init__(self, sampler: Sampler, rng: np.random.Generator) -> None:
        self._sampler = sampler
        self._rng = rng
        self.cost = float(getattr(sampler, "cost", 1.0))

    def draw(self, count: int, rng: np.random.Generator, /) -> int:  # noqa: ARG002 - part of the protocol
        """Return the hits among ``count`` draws."""
        return self._sampler.draw(count, self._rng)

    def exact(self) -> float | None:
        """Return the p-value that draws would approach, if the sampler knows it."""
        known = getattr(self._sampler, "exact", None)
        return None if known is None else known()


@dataclass(frozen=True)
class Draws:
    """Hypotheses of a batch whose p-values are drawn.

    Attributes
    ----------
    places
        Their numbers.
    samplers_of
        What makes the samplers of some of them, together: people may have to be fetched from far away.
    """

    places: Sequence[int] = ()
    samplers_of: Callable[[Sequence[int]], Iterable[Sampler]] = lambda _: ()

    def where(self, kept: BoolArray) -> Draws:
        """Return those at the places where ``kept``, of the whole batch, is true."""
        return Draws([i for i in self.places if kept[i]], self.samplers_of)

    def samplers(self) -> dict[int, Sampler]:
        """Return the sampler of each."""
        return dict(zip(self.places, self.samplers_of(self.places), strict=True))
