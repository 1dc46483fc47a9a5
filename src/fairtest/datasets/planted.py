"""The paper's microbenchmark (section 6): a million people, and ten small groups in which the output hangs on income.

It measures how strong and how large an association has to be in order to be found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.model.context import Context

STATES = tuple(f"S{rank:02d}" for rank in range(1, 52))
RACES = {"White": 12.0, "Black": 2.5, "Hispanic": 2.5, "Asian": 1.0, "Native": 0.25, "Other": 0.35}
"""The races, with the weight of each in the distribution that a state's shares are drawn from."""
CONTEXTS = 10
CANDIDATES = 30

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Microbenchmark:
    """People, and the truth about them.

    Attributes
    ----------
    frame
        ``State``, ``Race``, ``Gender``, ``Income`` and ``Output``, a row for each person.
    planted
        The (state, race) of each group in which Output hangs on Income.
    delta
        There, Output is 1 for a share ½ + delta of people with high income and ½ − delta of people with low income;
        elsewhere for half of both.
    """

    frame: pl.DataFrame
    planted: tuple[tuple[str, str], ...]
    delta: float

    def found_by(self, contexts: Iterable[Context]) -> set[tuple[str, str]]:
        """Return the planted groups that some contexts name: exactly their state and race, with any gender."""
        return {(str(w.get("State")), str(w.get("Race"))) for w in map(_values, contexts)} & set(self.planted)

    def is_false(self, context: Context) -> bool:
        """Whether a context has nobody of a planted group in it."""
        where = _values(context)
        return not any(where.get("State", s) == s and where.get("Race", r) == r for s, r in self.planted)


def microbenchmark(context_size: int, delta: float, seed: int, people: int = 988_871) -> Microbenchmark:
    """Return a population with ten planted groups.

    State sizes fall with rank^−0.8; the shares of the six races differ from state to state. The ten groups are drawn
    among the thirty pairs of state and race whose size is nearest to the one wanted; a larger one is cut down to it
    by moving people to the largest race of their state (that is not planted itself).

    Parameters
    ----------
    context_size
        How many people each planted group should have.
    delta
        Half the difference between the rates of people with high and low income, from 0 to 0.5.
    seed
        Another population for another seed.
    people
        How many people there are in all.

    Examples
    --------
    >>> made = microbenchmark(context_size=100, delta=0.1, seed=0, people=20_000)
    >>> made.frame.columns
    ['State', 'Race', 'Gender', 'Income', 'Output']
    >>> len(made.planted)
    10
    """
    rng = np.random.default_rng(seed)
    sizes = _cell_sizes(rng, people)
    planted = _choose(rng, sizes, context_size)
    _cut_down(sizes, planted, context_size)
    state, race = np.divmod(np.repeat(np.arange(sizes.size), sizes.ravel()), len(RACES))
    income = rng.random(people) < _high_income(sizes)[state, race]
    rates = 0.5 + np.where(income, delta, -delta) * planted[state, race]
    frame = pl.DataFrame(
        {
            "State": _name_codes(STATES, state),
            "Race": _name_codes(tuple(RACES), race),
            "Gender": _name_codes(("female", "male"), rng.integers(0, 2, people)),
            "Income": _name_codes(("low", "high"), income.astype(np.intp)),
            "Output": (rng.random(people) < rates).astype(np.int8),
        }
    )
    names = tuple((STATES[s], tuple(RACES)[r]) for s, r in np.argwhere(planted))
    return Microbenchmark(frame, names, delta)


def _values(context: Context) -> dict[str, object]:
    return {predicate.column: predicate.value for predicate in context.predicates if predicate.op == "=="}


def _cell_sizes(rng: np.random.Generator, people: int) -> Codes:
    """Return the people of each state and race."""
    weights = np.arange(1, len(STATES) + 1) ** -0.8
    bounds = np.rint(np.cumsum(weights) / weights.sum() * people).astype(np.intp)
    shares = rng.dirichlet(list(RACES.values()), size=len(STATES))
    return np.asarray(rng.multinomial(np.diff(bounds, prepend=0), shares), dtype=np.intp)


def _choose(rng: np.random.Generator, sizes: Codes, context_size: int) -> NDArray[np.bool_]:
    """Return which cells are planted."""
    nearest = np.argsort(np.abs(sizes - context_size), axis=None, kind="stable")[:CANDIDATES]
    planted = np.zeros(sizes.shape, dtype=bool)
    planted.flat[rng.choice(nearest, size=CONTEXTS, replace=False)] = True
    return planted


def _cut_down(sizes: Codes, planted: NDArray[np.bool_], context_size: int) -> None:
    excess = np.where(planted, np.maximum(sizes - context_size, 0), 0)
    largest = np.where(planted, -1, sizes).argmax(axis=1)
    sizes -= excess
    sizes[np.arange(len(sizes)), largest] += excess.sum(axis=1)


def _high_income(sizes: Codes) -> NDArray[np.float64]:
    """Return the share of high incomes: half, and up to five points less for the smaller races of a state."""
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    return np.asarray(0.5 - 0.05 * (1 - shares / shares.max(axis=1, keepdims=True)), dtype=np.float64)


def _name_codes(names: tuple[str, ...], codes: NDArray[np.integer]) -> pl.Series:
    return pl.Series(names).gather(codes)
