"""Columns that make no sense as contexts: coordinates, code numbers, and what gives the answer away.

They are left out unless the user names them, and the report says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.columns.decide import split_words
from fairtest.data.holdout import TRAIN
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.data.variables import Variable
    from fairtest.types import IntArray

COORDINATES = frozenset(["lat", "latitude", "lng", "lon", "longitude"])
CODES = frozenset(["code", "id", "nbr", "postal", "postcode", "zip", "zipcode"])
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
    codes = [(role, variable.name, _codes(source, variable)) for role, variable in roles]
    found = {}
    for column in source.table.columns.values():
        if column.name not in known and column.kind is not Kind.IDENTIFIER and (why := _why(source, column, codes)):
            found[column.name] = why
    return found


def _why(source: DataSource, column: Column, roles: list[tuple[str, str, IntArray | None]]) -> str:
    words = set(split_words(column.name))
    if column.kind is Kind.NUMERIC:
        if words & COORDINATES:
            return "a coordinate, not a context: name it with --contextual to use it"
        return "code numbers, not a context: name it with --contextual to use it" if words & CODES else ""
    if source.table.block is not None or column.codes is None:
        return ""
    mine = column.codes[source.holdout.rows(TRAIN)]
    for role, name, codes in roles:
        if codes is not None and _gives_away(mine, codes, len(column.levels)):
            return f"it gives the {role} {name!r} away: nearly everybody with the same value of it is alike in that"
    return ""


def _codes(source: DataSource, variable: Variable) -> IntArray | None:
    """Return the levels of the training people; None for a number, and where people stay on disk."""
    if variable.is_number or source.table.block is not None:
        return None
    return np.asarray(variable.codes(source.table)[source.holdout.rows(TRAIN)])


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
    if column.size < 20 or n_levels > column.size / 4:
        return False
    width = int(target.max()) + 1
    table = np.bincount(column * width + target, minlength=n_levels * width).reshape(-1, width)
    usual = table.sum(axis=0).max() / column.size
    return bool(table.max(axis=1).sum() / column.size >= PURE and usual <= MIXED)
