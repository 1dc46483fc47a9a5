"""Worlds in which one number explains both output and group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from scipy.special import expit

from calibration.worlds.base import COLUMNS, SETTINGS, SIZES, World, one_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibration.worlds.base import Floats

SHAPES = ("linear", "steep", "u-shaped", "wave", "step", "steps", "ripples")


@dataclass(frozen=True)
class Explained(World):
    """A group and an output that both follow a number, and given that number have nothing to do with each other.

    Attributes
    ----------
    output
        ``"binary"``, or ``"number"`` (the curve and normal noise).
    shape
        How both follow the number.
    strength
        How much the log-odds, or the mean, move with a standard deviation of the number.
    explanation
        How the number itself is spread: ``"normal"`` or ``"skewed"``.
    """

    output: str = "binary"
    shape: str = "linear"
    strength: float = 1.0
    explanation: str = "normal"

    sort = "explained"

    @classmethod
    def any_of(cls, rng: np.random.Generator) -> Self:
        """Return any shape and strength, with few or many groups, or a number in their place."""
        return cls(
            one_of(rng, SIZES),
            one_of(rng, ((0.5, 0.5), (0.9, 0.1), (0.98, 0.02), (0.5, 0.3, 0.2), (0.9, 0.07, 0.03), ())),
            one_of(rng, SETTINGS),
            one_of(rng, COLUMNS),
            one_of(rng, ("binary", "number")),
            one_of(rng, SHAPES),
            one_of(rng, (0.3, 1.0, 2.0)),
            one_of(rng, ("normal", "skewed")),
        )

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw the number, then group and output, each by itself."""
        z = rng.standard_normal(self.n)
        moved = self.strength * bend(self.shape, z)
        given = z if self.explanation == "normal" else np.exp(z)
        if self.output == "binary":
            output: NDArray[Any] = rng.random(self.n) < expit(moved - 1)
        else:
            output = moved + rng.standard_normal(self.n)
        return pl.DataFrame({"group": self._groups(moved, rng), "given": given, "output": output})

    def _groups(self, moved: Floats, rng: np.random.Generator) -> NDArray[Any]:
        """Draw groups: the last is the likelier the larger the curve, of three the one in the middle the less so."""
        if not self.groups:
            return moved + rng.standard_normal(self.n)
        slopes = np.linspace(0, 1, len(self.groups))
        odds = np.exp(np.log(self.groups) + slopes * moved[:, None])
        cumulated = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
        chosen: NDArray[Any] = self.names[(rng.random(self.n)[:, None] > cumulated[:, :-1]).sum(axis=1)]
        return chosen

    def question(self) -> dict[str, Any]:
        """Ask for the output by group given the number."""
        return {"protected": "group", "output": "output", "explanatory": "given"}


def bend(shape: str, z: Floats) -> Floats:
    """Return a curve of a standard normal number, of about unit spread.

    Examples
    --------
    >>> bend("u-shaped", np.array([-1.0, 0.0, 1.0])).round(2).tolist()
    [0.0, -0.71, 0.0]
    """
    curves: dict[str, Callable[[Floats], Floats]] = {
        "linear": lambda z: z,
        "steep": lambda z: 1.1 * np.tanh(4 * z),
        "u-shaped": lambda z: (z**2 - 1) / np.sqrt(2),
        "wave": lambda z: np.sqrt(2) * np.sin(3 * z),
        "step": lambda z: np.sign(z - 0.4),
        "steps": lambda z: np.sign(np.sin(5 * z + 1)),
        "ripples": lambda z: np.sqrt(2) * np.sin(12 * z),
    }
    return curves[shape](z)
