"""Measures: numbers computed from several columns, person by person, such as the error of a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairtest.data.table import Column, Table
    from fairtest.types import BoolArray, FloatArray, Level


@dataclass(frozen=True)
class Measure:
    """A number computed from several columns.

    Like a variable it is a description: it computes from any table that has the columns, also on another machine if
    the function can be sent there.

    Attributes
    ----------
    columns
        The columns it is computed from.
    function
        From one array for each column to one number for each person. It never sees a missing value.
    stand_ins
        For each column what stands for its levels; None for a column of numbers.
    """

    columns: tuple[str, ...]
    function: Callable[..., Any]
    stand_ins: tuple[tuple[Level, ...] | None, ...]

    def __call__(self, table: Table) -> FloatArray:
        """Return each row's number, NaN where a column has no value."""
        found = np.full(table.n_rows, np.nan)
        known = self.find_complete_rows(table)
        found[known] = self.function(*self.arguments(table, known))
        return found

    def find_complete_rows(self, table: Table) -> BoolArray:
        """Return the rows that have a value in every column."""
        known = np.ones(table.n_rows, dtype=bool)
        for name in self.columns:
            known &= _present(table[name])
        return known

    def arguments(self, table: Table, rows: BoolArray) -> list[NDArray[Any]]:
        """Return what the function gets for some rows: an array for each column."""
        return [
            _read_values(table[name], stand_ins, rows)
            for name, stand_ins in zip(self.columns, self.stand_ins, strict=True)
        ]


def _present(column: Column) -> BoolArray:
    if column.is_number:
        assert column.values is not None
        return ~np.isnan(column.values)
    assert column.codes is not None
    return column.codes >= 0


def _read_values(column: Column, stand_ins: tuple[Level, ...] | None, rows: BoolArray) -> NDArray[Any]:
    if stand_ins is None:
        assert column.values is not None
        return column.values[rows]
    assert column.codes is not None
    numbers = all(isinstance(v, float) for v in stand_ins)
    return np.asarray(stand_ins, dtype=float if numbers else object)[column.codes[rows]]


def absolute(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return how far off each prediction is.

    Examples
    --------
    >>> absolute(np.array([3.0, 1.0]), np.array([1.0, 4.0]))
    array([2., 3.])
    """
    return np.abs(predicted - truth)


def squared(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the squares of the errors, in which large ones weigh more; of probabilities, the Brier score."""
    return np.square(predicted - truth)


def signed(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return prediction minus truth: above 0 where the prediction is too high.

    Examples
    --------
    >>> signed(np.array([3.0, 1.0]), np.array([1.0, 4.0]))
    array([ 2., -3.])
    """
    return predicted - truth


def log_loss(probability: FloatArray, truth: FloatArray) -> FloatArray:
    """Return minus the log of the probability that was given to what happened (0 or 1).

    A probability of exactly 0 or 1 counts as one that is a rounding error (2⁻⁵²) away from it, so that a single
    wrong certainty is a large loss and not an infinite one.

    Examples
    --------
    >>> log_loss(np.array([0.5, 1.0]), np.array([1.0, 0.0])).round(3)
    array([ 0.693, 36.044])
    """
    least = np.finfo(float).eps
    given = np.where(truth == 1, probability, 1 - probability)
    loss: FloatArray = -np.log(np.clip(given, least, 1 - least))
    return loss
