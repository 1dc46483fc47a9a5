"""Columns that make no sense as contexts: coordinates, code numbers, and what gives the answer away.

They are left out unless the user names them, and the report says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.columns.decide import split_words
from fairtest.data.holdout import TRAIN
from fairtest.data.streaming.blocks import code_blocks, number_blocks, take_rows
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.data.variables import Variable
    from fairtest.types import FloatArray, IntArray

COORDINATES = frozenset(["lat", "latitude", "lng", "lon", "longitude"])
CODES = frozenset(["code", "id", "nbr", "postal", "postcode", "zip", "zipcode"])
MOST_LOOKED_AT = 2_000_000
"""Of so many people it is clear whether a column gives an attribute away."""
FEWEST_KNOWN, COPY = 20, 0.9995
"""The fewest people by which columns are judged, and the correlation from which on two numbers are the same."""
PURE, MIXED = 0.995, 0.9
"""A column gives an attribute away if at least PURE of the people have the attribute's commonest value among those with
their value of the column, and at most MIXED have the commonest value of all."""


def useless_columns(source: DataSource, roles: Iterable[tuple[str, Variable]], taken: Iterable[str]) -> dict[str, str]:
    """Return the columns that make no sense as contexts, with why.

    Parameters
    ----------
    roles
        What each variable is, in a word, and the variable: protected attributes and the output.
    taken
        Columns that have a role already.
    """
    known = set(taken)
    rows = source.holdout.rows(TRAIN)
    rows = rows[:: rows.size // MOST_LOOKED_AT + 1]
    codes = [(role, variable.name, _values(source, variable, rows)) for role, variable in roles]
    found = {}
    for column in source.table.columns.values():
        if column.name not in known and column.kind is not Kind.IDENTIFIER and (why := _why(column, codes, rows)):
            found[column.name] = why
    return found


def _why(column: Column, roles: list[tuple[str, str, NDArray[Any]]], rows: NDArray[np.intp]) -> str:
    words = set(split_words(column.name))
    if column.kind is Kind.NUMERIC:
        if words & COORDINATES:
            return "a coordinate, not a context: name it with --contextual to use it"
        if words & CODES:
            return "code numbers, not a context: name it with --contextual to use it"
        return _why_copy(column, roles, rows)
    levels = [(role, name, codes) for role, name, codes in roles if codes.dtype.kind == "i"]
    mine = np.concatenate(list(take_rows(code_blocks(column), rows))) if levels else np.zeros(0, dtype=np.int32)
    for role, name, codes in levels:
        if _gives_away(mine, codes, len(column.levels)):
            return f"it gives the {role} {name!r} away: nearly everybody with the same value of it is alike in that"
    return ""


def _why_copy(column: Column, roles: list[tuple[str, str, NDArray[Any]]], rows: NDArray[np.intp]) -> str:
    numbers = [(role, name, values) for role, name, values in roles if values.dtype.kind == "f"]
    mine = np.concatenate(list(take_rows(number_blocks(column), rows))) if numbers else np.zeros(0)
    for role, name, values in numbers:
        if _is_copy(mine, values):
            return f"it is a copy of the {role} {name!r}, or nearly"
    return ""


def _values(source: DataSource, variable: Variable, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return the levels of training people as whole numbers, or their numbers."""
    of = variable.numbers if variable.is_number else variable.codes
    blocks = ((start, of(block)) for start, block in source.table.blocks(variable.columns))
    return np.concatenate(list(take_rows(blocks, rows)))


def _is_copy(column: FloatArray, target: FloatArray) -> bool:
    """Whether two numbers are the same but for their unit.

    Examples
    --------
    >>> score = np.arange(50.0) ** 2
    >>> _is_copy(2 * score + 1, score), _is_copy(np.arange(50.0), score)
    (True, False)
    """
    known = ~(np.isnan(column) | np.isnan(target))
    column, target = column[known], target[known]
    if column.size < FEWEST_KNOWN or column.std() == 0 or target.std() == 0:
        return False
    return bool(abs(np.corrcoef(column, target)[0, 1]) >= COPY)


def _gives_away(column: IntArray, target: IntArray, n_levels: int) -> bool:
    """Whether one attribute nearly determines another.

    Examples
    --------
    >>> sex = np.array([0, 1] * 50)
    >>> _gives_away(sex, sex, 2), _gives_away(np.arange(100) % 5, sex, 5)
    (True, False)
    """
    known = (column >= 0) & (target >= 0)
    column, target = column[known].astype(np.int64), target[known].astype(np.int64)
    if column.size < FEWEST_KNOWN or n_levels > column.size / 4:
        return False
    width = int(target.max()) + 1
    table = np.bincount(column * width + target, minlength=n_levels * width).reshape(-1, width)
    usual = table.sum(axis=0).max() / column.size
    return bool(table.max(axis=1).sum() / column.size >= PURE and usual <= MIXED)
