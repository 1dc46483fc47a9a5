"""What the rows of a table are, where they are not one person each who counts as much as any other.

A log has several rows of a person, a survey has rows that stand for thousands. Both are said by a column: whose row it
is, and how much it weighs. Neither is ever a context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.table import HashedColumn
from fairtest.exceptions import InputError, setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.table import Column, Table
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True)
class Design:
    """Whose the rows are and what they weigh. It is small, and travels to any machine.

    Attributes
    ----------
    person
        The column that names people; None if every row is another person.
    weights
        The column of survey weights; None if all rows weigh the same.
    n_rows, n_people
        How many rows and people there are.
    effective
        With how many independent people of equal weight an estimate would be as precise if all rows of a person were
        alike: Kish's effective size, (Σ W)²/Σ W² of the people's weights W.
    mean_weight, largest_weight
        The average weight of a row, and the largest as a multiple of it.
    """

    person: str | None
    weights: str | None
    n_rows: int
    n_people: int
    effective: float
    mean_weight: float = 1.0
    largest_weight: float = 1.0

    @property
    def columns(self) -> frozenset[str]:
        """The columns that say it, which are never contexts."""
        return frozenset(name for name in (self.person, self.weights) if name is not None)

    @property
    def share(self) -> float:
        """As how many independent people a row counts while contexts are searched for and compared."""
        return self.effective / self.n_rows

    @property
    def effective_share(self) -> float:
        """As how many independent people a person counts then."""
        return self.effective / self.n_people

    @property
    def stands_for_people(self) -> bool:
        """Whether weights say for how many people a row stands; weights below 1 on average are relative only."""
        return self.weights is not None and self.mean_weight >= 1

    @property
    def counted_as(self) -> float:
        """As how many a row of average weight counts in tables."""
        return self.mean_weight if self.stands_for_people else 1.0

    def people_of(self, table: Table) -> IntArray | None:
        """Return a number for every row that tells people apart, the same in all parts of a table; None: all are."""
        return None if self.person is None else identities(table[self.person])

    def weights_of(self, table: Table) -> FloatArray | None:
        """Return what each row weighs, 1 on average, cut so that sums of any of them are exact; None if all are 1."""
        if self.weights is None:
            return None
        values = table[self.weights].values
        assert values is not None
        steps = 2.0 ** (51 - int(np.ceil(np.log2(max(self.n_rows, 2)))))
        return np.asarray(np.rint(values / self.mean_weight * steps) / steps)


def identities(column: Column) -> IntArray:
    """Return a number for every row that is the same for the same value."""
    if isinstance(column, HashedColumn):
        return np.asarray(column.bits.view(np.int64))
    if column.is_number:
        assert column.values is not None
        return np.asarray((column.values + 0.0).view(np.int64))  # −0 is 0
    assert column.codes is not None
    return column.codes.astype(np.int64)


def read_design(table: Table, person: str | None, weights: str | None) -> tuple[Design | None, NDArray[np.intp] | None]:
    """Return the design of a table, and the row on which the person of each row is first met; None: one row a person.

    A column of people who all have one row, or of equal weights, changes nothing and is forgotten here.
    """
    first = None if person is None else _first_rows(table, person)
    weight = None if weights is None else _weights(table, weights)
    if first is not None and np.array_equal(first, np.arange(table.n_rows)):
        person, first = None, None
    if weight is not None and weight.min() == weight.max():
        weights = weight = None
    if first is None and weight is None:
        return None, None
    own = np.ones(table.n_rows) if weight is None else weight
    by_person = own if first is None else np.bincount(first, weights=own)
    people = table.n_rows if first is None else int(np.count_nonzero(np.bincount(first)))
    effective = float(by_person.sum()) ** 2 / float((by_person**2).sum())
    mean = float(own.mean())
    return Design(person, weights, table.n_rows, people, effective, mean, float(own.max()) / mean), first


def _first_rows(table: Table, name: str) -> NDArray[np.intp]:
    """Return for every row where its person is first met."""
    if table[name].missing:
        raise InputError(
            f"{setting('person', name)}: the column has no value in {table[name].missing:,} rows, and it is not known "
            "whose they are. Leave these rows out, or give each of them a value of its own."
        )
    every = np.concatenate([identities(part[name]) for _, part in table.blocks([name])])
    _, first, place = np.unique(every, return_index=True, return_inverse=True)
    if first.size == 1:
        raise InputError(f"{setting('person', name)}: every row is of the same person. Name another column.")
    return np.asarray(first[place])


def _weights(table: Table, name: str) -> FloatArray:
    every = np.concatenate([_values(part[name]) for _, part in table.blocks([name])])
    wrong = np.isnan(every) | (every < 0) | np.isinf(every)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{setting('weights', name)}: weights are numbers from 0 on, and {int(wrong.sum()):,} rows have none such "
            f"(the first is row {row + 1:,}: {every[row]:g}). Leave these rows out, or give them a weight."
        )
    if not every.any():
        raise InputError(f"{setting('weights', name)}: every weight is 0. Name another column.")
    return every


def _values(column: Column) -> FloatArray:
    assert column.values is not None
    return column.values


def repeat_rows(table: Table, name: str) -> NDArray[np.intp]:
    """Return the rows of a table of counts, each as often as the column says."""
    values = _values(table[name])
    wrong = ~((values >= 0) & (values == np.rint(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{setting('counts', name)}: a row stands for a whole number of people from 0 on, and "
            f"{int(wrong.sum()):,} rows have none such (the first is row {row + 1:,}: {values[row]:g}). For survey "
            f"weights, say {setting('weights', name)}."
        )
    return np.repeat(np.arange(table.n_rows), values.astype(np.int64))
