"""Worlds in which nothing is unfair, for whole runs through the public interface.

Whatever such a run reports is false. There are three sorts: an output that has nothing to do with the group but perhaps
its spread (:class:`Unrelated`), an output and a group that both follow one number, the explanatory attribute
(:class:`Explained`), and predictions that keep the notion of fairness they are asked about (:class:`Predicted`). Each
can be drawn at random (``any_of``), so that a search can go through them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

import fairtest as ft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Explained", "Predicted", "Unrelated", "World", "any_world", "mutated"]

Floats: TypeAlias = NDArray[np.float64]
Options: TypeAlias = tuple[tuple[str, Any], ...]

SIZES = (300, 1_000, 3_000, 7_000, 20_000, 30_000)
SHARES: tuple[tuple[float, ...], ...] = (
    (0.5, 0.5),
    (0.8, 0.2),
    (0.95, 0.05),
    (0.99, 0.01),
    (0.997, 0.003),
    (0.6, 0.3, 0.1),
    (0.85, 0.1, 0.05),
    (0.97, 0.02, 0.01),
    (0.985, 0.01, 0.005),
    (0.98, 0.01, 0.005, 0.005),
    (0.125,) * 8,
    (0.9, *(0.005,) * 20),
)
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
COLUMNS = (0, 0, 3, 12)
SHAPES = ("linear", "steep", "u-shaped", "wave")
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
SETTINGS: tuple[Options, ...] = (
    (),
    (),
    (),
    (("preset", "paper"),),
    (("split", False),),
    (("split", False), ("correction", "max-t")),
    (("correction", "holm"),),
    (("correction", "weighted-holm"),),
    (("correction", "bonferroni"),),
    (("search", "tree"),),
)


@dataclass(frozen=True)
class World(ABC):
    """People of whom nothing false may be reported.

    Attributes
    ----------
    n
        How many they are.
    groups
        The shares of the protected groups; none: the protected attribute is a number.
    options
        What else the audit is given: preset, correction, search, ``split=False``.
    columns
        How many columns of nine values there are to cut contexts by, beside an age and a city.
    """

    n: int
    groups: tuple[float, ...]
    options: Options = ()
    columns: int = 0

    sort: ClassVar[str]

    @classmethod
    @abstractmethod
    def any_of(cls, rng: np.random.Generator) -> Self:
        """Return one of all worlds of this sort."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw protected attribute, output and whatever else the question needs."""

    @abstractmethod
    def question(self) -> dict[str, Any]:
        """Return the arguments of the audit but data, options and seed."""

    def finds_something(self, rng: np.random.Generator) -> bool:
        """Audit fresh people and say whether anything is significant: a context, the population or a stratum."""
        seed = int(rng.integers(2**31))
        return ft.audit(self.people(rng), **self.question(), **dict(self.options), seed=seed).significant > 0

    def people(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw people, with two columns of contexts; again where a column that is asked about is constant."""
        while True:
            frame = self.draw(rng)
            if all(frame[name].n_unique() > 1 for name in frame.columns):
                break
        cities = rng.choice(list("PQRST"), self.n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
        more = {f"column{i}": rng.choice(list("abcdefghi"), self.n) for i in range(self.columns)}
        return frame.with_columns(age=rng.integers(18, 80, self.n), city=cities, **more)

    def words(self) -> str:
        """Return all of it in one line."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        parts = [f"{name} {_shown(value)}" for name, value in values.items() if value not in ("", (), 0)]
        return f"{self.sort}: {', '.join(parts)}"

    def protected(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draw the group of each person, or a number, whatever else they are."""
        if not self.groups:
            return rng.standard_normal(self.n)
        return self.names[rng.choice(len(self.groups), self.n, p=np.asarray(self.groups) / sum(self.groups))]

    @property
    def names(self) -> NDArray[Any]:
        """The names of the groups."""
        return np.asarray([f"g{i:02d}" for i in range(len(self.groups))])


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        if len(value) > 4 and len(set(value[1:])) == 1:
            return f"{value[0]:g}/{value[1]:g} × {len(value) - 1}"
        return "/".join(f"{v[0]}={v[1]}" if isinstance(v, tuple) else f"{v:g}" for v in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _one_of(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


# Output and group have nothing to do with each other -----------------------------------------------------------------


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
    """

    output: str = "normal"
    spread: tuple[float, ...] = (1.0,)
    strata: int = 0
    metric: str = ""

    sort = "unrelated"

    @classmethod
    def any_of(cls, rng: np.random.Generator) -> Self:
        """Return any groups, law, spread and strata."""
        groups = _one_of(rng, (*SHARES, (), _random_shares(rng)))
        strata = _one_of(rng, STRATA)
        return cls(
            *(_one_of(rng, SIZES), groups, _one_of(rng, SETTINGS), _one_of(rng, COLUMNS)),
            *(_one_of(rng, OUTPUTS), _one_of(rng, SPREADS), strata),
        )

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw the group, then the output, in the spread of the group."""
        group = self.protected(rng)
        code = np.unique(group, return_inverse=True)[1] if self.groups else np.zeros(self.n, dtype=int)
        frame = {"group": group, "output": self._outputs(code, rng)}
        if self.strata:
            frame["stratum"] = np.char.add("s", rng.integers(self.strata, size=self.n).astype(str))
        return pl.DataFrame(frame)

    def _outputs(self, code: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        law, _, number = self.output.partition(" ")
        if law in LEVELS:
            return LEVELS[law](rng, self.n, float(number))
        return NUMBERS[law](rng, np.resize(self.spread, max(len(self.groups), 1))[code], float(number or 0))

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


def _random_shares(rng: np.random.Generator) -> tuple[float, ...]:
    """Return shares of two to thirty groups, the rarest perhaps 0.3 %."""
    weights = rng.lognormal(0, rng.uniform(0, 2.5), int(rng.integers(2, 31)))
    shares = np.maximum(np.sort(weights / weights.sum())[::-1], 0.003)
    return tuple(float(f"{share:.3g}") for share in shares / shares.sum())


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


# One number explains both --------------------------------------------------------------------------------------------


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
            _one_of(rng, SIZES),
            _one_of(rng, ((0.5, 0.5), (0.9, 0.1), (0.98, 0.02), (0.5, 0.3, 0.2), (0.9, 0.07, 0.03), ())),
            _one_of(rng, SETTINGS),
            _one_of(rng, COLUMNS),
            _one_of(rng, ("binary", "number")),
            _one_of(rng, SHAPES),
            _one_of(rng, (0.3, 1.0, 2.0)),
            _one_of(rng, ("normal", "skewed")),
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
    }
    return curves[shape](z)


# Predictions that are fair in the sense that is asked about -----------------------------------------------------------

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
        notion = _one_of(rng, NOTIONS)
        return cls(
            _one_of(rng, SIZES),
            _one_of(rng, (*SHARES[:-2], _random_shares(rng))),
            _one_of(rng, SETTINGS),
            _one_of(rng, COLUMNS),
            notion,
            _one_of(rng, (0.0, 0.5, 1.0, 2.0)),
            _one_of(rng, ("probability", "score", "number")),
            _one_of(rng, (1.0, 1.0, 0.5, 2.0)),
            _one_of(rng, (-3.0, -1.0)),
            _one_of(rng, tuple(RISKS)),
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


def any_world(rng: np.random.Generator) -> World:
    """Return one of all worlds; half of them have an output and a group that are unrelated."""
    chosen: type[World] = _one_of(rng, (Unrelated, Unrelated, Explained, Predicted))
    return chosen.any_of(rng)


def mutated(world: World, rng: np.random.Generator) -> World:
    """Return a world that differs in one thing or two."""
    other = type(world).any_of(rng)
    names = rng.permutation([f.name for f in fields(world)])[: int(rng.integers(1, 3))]
    return replace(world, **{str(name): getattr(other, str(name)) for name in names})
