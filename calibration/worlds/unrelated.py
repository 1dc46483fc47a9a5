"""Worlds in which output and group have nothing to do with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from calibration.worlds.base import COLUMNS, SETTINGS, SHARES, SIZES, World, one_of, random_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibration.worlds.base import Floats

OUTPUTS = (
    "normal",
    "exponential",
    "log-normal 1",
    "log-normal 1.5",
    "t 3",
    "poisson 0.03",
    "poisson 0.3",
    "poisson 3",
    "amounts 0.02",
    "amounts 0.2",
    "rounded 3",
    "grades 5",
    "binary 0.01",
    "binary 0.3",
    "values 6",
    "values 30",
)
SPREADS: tuple[tuple[float, ...], ...] = ((1.0,), (1.0, 3.0), (1.0, 0.3), (1.0, 1.0, 4.0), (1.0, 9.0))
STRATA = (0, 0, 0, 3, 20, 150, 900)
FANS = ("", "", "normal", "exponential", "log-normal 1")


@dataclass(frozen=True)
class Unrelated(World):
    """An output of the same mean in every group.

    Attributes
    ----------
    output
        The law of the output: a name and a number, as in ``"log-normal 1.5"`` or ``"poisson 0.03"``.
    spread
        How many times further a group's numbers lie from their common mean, group by group, from the start again.
    strata
        The values of an explanatory attribute that explains nothing; 0: there is none.
    metric
        The metric by name; none: the usual one.
    fan
        The law of a protected number with which the spread of the output grows; none: it does not, and a protected
        number is normal.
    """

    output: str = "normal"
    spread: tuple[float, ...] = (1.0,)
    strata: int = 0
    metric: str = ""
    fan: str = ""

    sort = "unrelated"

    @classmethod
    def any_of(cls, rng: np.random.Generator) -> Self:
        """Return any groups, law, spread and strata."""
        groups = one_of(rng, (*SHARES, (), random_shares(rng)))
        strata = one_of(rng, STRATA)
        return cls(
            *(one_of(rng, SIZES), groups, one_of(rng, SETTINGS), one_of(rng, COLUMNS)),
            *(one_of(rng, OUTPUTS), one_of(rng, SPREADS), strata),
            fan=one_of(rng, FANS),
        )

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw the group, then the output, in the spread of the group."""
        group = self.protected(rng)
        if self.groups:
            code = np.unique(group, return_inverse=True)[1]
            spread = np.resize(self.spread, len(self.groups))[code]
        else:
            group, spread = self._fan_out(group, rng)
        frame = {"group": group, "output": self._outputs(spread, rng)}
        if self.strata:
            frame["stratum"] = np.char.add("s", rng.integers(self.strata, size=self.n).astype(str))
        return pl.DataFrame(frame)

    def _fan_out(self, number: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return a protected number and the spread that the output has there."""
        law, _, parameter = self.fan.partition(" ")
        if not law:
            return number, np.full(self.n, self.spread[0])
        number = NUMBERS[law](rng, np.ones(self.n), float(parameter or 0))
        return number, 0.2 + number - number.min() if law != "normal" else 0.2 + np.abs(number)

    def _outputs(self, spread: Floats, rng: np.random.Generator) -> NDArray[Any]:
        law, _, number = self.output.partition(" ")
        if law in LEVELS:
            return LEVELS[law](rng, self.n, float(number))
        return NUMBERS[law](rng, spread, float(number or 0))

    def question(self) -> dict[str, Any]:
        """Ask for the output by group, given the strata."""
        law, _, number = self.output.partition(" ")
        asked: dict[str, Any] = {"protected": "group", "output": "output"}
        if law not in LEVELS:
            asked["numeric"] = ["output"]
        if law == "grades":
            asked["ordered"] = {"output": [f"v{i}" for i in range(int(number))]}
        if self.strata:
            asked["explanatory"] = "stratum"
            asked["categorical"] = ["stratum"]
        if self.metric:
            asked["metrics"] = self.metric
        return asked


def _log_normal(rng: np.random.Generator, spread: Floats, sigma: float) -> Floats:
    around: Floats = np.exp(sigma * rng.standard_normal(spread.size)) - np.exp(sigma**2 / 2)
    return spread * around


def _amounts(rng: np.random.Generator, spread: Floats, share: float) -> Floats:
    """Return amounts that few have: with more spread fewer of them, and larger ones."""
    some = rng.random(spread.size) < np.minimum(share / spread**2, 1.0)
    size = rng.lognormal(0, 1, spread.size) / np.minimum(share / spread**2, 1.0)
    return np.where(some, size.round(2), 0.0)


def _value_names(rng: np.random.Generator, n: int, values: float) -> NDArray[Any]:
    return np.char.add("v", rng.integers(int(values), size=n).astype(str))


NUMBERS: dict[str, Callable[[np.random.Generator, Floats, float], NDArray[Any]]] = {
    "normal": lambda rng, spread, _: spread * rng.standard_normal(spread.size),
    "exponential": lambda rng, spread, _: spread * (rng.standard_exponential(spread.size) - 1),
    "log-normal": _log_normal,
    "t": lambda rng, spread, freedom: spread * rng.standard_t(freedom, spread.size),
    "poisson": lambda rng, spread, mean: rng.poisson(mean, spread.size),
    "amounts": _amounts,
    "rounded": lambda rng, spread, digits: np.rint(digits * spread * rng.standard_normal(spread.size)),
}
"""Laws of numbers, given each person's spread and a parameter; the mean does not hang on the spread."""
LEVELS: dict[str, Callable[[np.random.Generator, int, float], NDArray[Any]]] = {
    "binary": lambda rng, n, share: rng.random(n) < share,
    "values": _value_names,
    "grades": _value_names,
}
