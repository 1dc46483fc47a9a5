"""What a world is: people of whom nothing false may be reported, and how they are audited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import fairtest as ft
from fairtest.metrics.procedure import Procedure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import polars as pl

    from fairtest.metrics.batch import Batch

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
COLUMNS = (0, 0, 3, 12)
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
        with without_intervals():
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


def without_intervals() -> AbstractContextManager[object]:
    """Leave intervals out, on which no p-value hangs: in many strata they are most of the work."""

    def unknown(_: Procedure, batch: Batch, *__: object) -> tuple[Floats, Floats]:
        nothing = np.full(len(batch), np.nan)
        return nothing, nothing.copy()

    return patch.object(Procedure, "interval", unknown)


def one_of(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    """Return one of several choices, each as likely as another."""
    return choices[int(rng.integers(len(choices)))]


def random_shares(rng: np.random.Generator) -> tuple[float, ...]:
    """Return shares of two to thirty groups, the rarest perhaps 0.3 %."""
    weights = rng.lognormal(0, rng.uniform(0, 2.5), int(rng.integers(2, 31)))
    shares = np.maximum(np.sort(weights / weights.sum())[::-1], 0.003)
    return tuple(float(f"{share:.3g}") for share in shares / shares.sum())
