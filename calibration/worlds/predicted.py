"""Worlds of predictions that are fair in the sense that is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from scipy.special import expit

from calibration.worlds.base import COLUMNS, SETTINGS, SHARES, SIZES, World, one_of, random_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibration.worlds.base import Floats

NOTIONS = (
    "calibration",
    "equalized-odds",
    "false-positive-rate",
    "false-negative-rate",
    "predictive-parity",
    "accuracy",
    "selection-rate",
    "signed",
)
RISKS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "skewed": lambda rng, n: rng.standard_exponential(n) - 1,
    "even": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
}
"""How log-odds are spread about their mean, with a variance of 1."""


@dataclass(frozen=True)
class Predicted(World):
    """Predictions and truths that keep a notion of fairness though groups differ.

    Attributes
    ----------
    notion
        The notion, or the error ``"signed"``.
    higher
        How much higher the log-odds of what is predicted, or its mean, are in all groups but the first.
    form
        What is predicted of what: a ``"probability"`` of one of two values, a ``"score"`` that is none, or a
        ``"number"``; wherever the notion is about labels, labels.
    miscalibrated
        How far predictions are off, in the same way in every group; 1: not at all.
    base
        The usual log-odds.
    risks
        How the log-odds, or means, are spread: ``"normal"``, ``"skewed"`` or ``"even"``.
    """

    notion: str = "calibration"
    higher: float = 0.0
    form: str = "probability"
    miscalibrated: float = 1.0
    base: float = -1.0
    risks: str = "normal"

    sort = "predicted"

    @classmethod
    def any_of(cls, rng: np.random.Generator) -> Self:
        """Return any notion with any groups; numbers and bad calibration where the notion is about them."""
        notion = one_of(rng, NOTIONS)
        return cls(
            one_of(rng, SIZES),
            one_of(rng, (*SHARES[:-2], random_shares(rng))),
            one_of(rng, SETTINGS),
            one_of(rng, COLUMNS),
            notion,
            one_of(rng, (0.0, 0.5, 1.0, 2.0)),
            one_of(rng, ("probability", "score", "number")),
            one_of(rng, (1.0, 1.0, 0.5, 2.0)),
            one_of(rng, (-3.0, -1.0)),
            one_of(rng, tuple(RISKS)),
        )

    @property
    def _with_numbers(self) -> bool:
        return self.form == "number" and self.notion in ("calibration", "equalized-odds")

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw the group, then what the notion lets hang on it, then the rest given that alone."""
        group = self.protected(rng)
        shift = 0.0 if self.notion in ("accuracy", "selection-rate") else self.higher
        risk = self.base + shift * (group != self.names[0]) + RISKS[self.risks](rng, self.n)
        predicted, truth = self._pair(risk, rng)
        return pl.DataFrame({"group": group, "predicted": predicted, "truth": truth})

    def _pair(self, risk: Floats, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.notion in ("calibration", "signed"):
            off = 1.0 if self.notion == "signed" else self.miscalibrated
            if self._with_numbers:
                return risk, np.sinh(off * risk) / off + rng.standard_normal(self.n)
            likely = rng.random(self.n) < expit(off * risk)
            return risk if self.form == "score" and self.notion == "calibration" else expit(risk), likely
        if self._with_numbers:
            return np.tanh(self.miscalibrated * risk) + 0.5 * rng.standard_normal(self.n), risk
        first = rng.random(self.n) < expit(risk)
        second = rng.random(self.n) < np.where(first, 0.7, 0.15)
        # sufficiency: the truth hangs on the prediction alone; separation: the prediction on the truth alone
        return (first, second) if self.notion == "predictive-parity" else (second, first)

    def question(self) -> dict[str, Any]:
        """Ask for the notion."""
        what = {"error": "signed"} if self.notion == "signed" else {"notion": self.notion}
        return {"protected": "group", "output": "predicted", "ground_truth": "truth", **what}
