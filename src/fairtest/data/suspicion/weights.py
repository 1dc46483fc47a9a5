"""Columns that look like sampling weights: how many people of a population a row of a survey stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.data.streaming.blocks import gather_numbers, number_blocks
from fairtest.data.suspicion.names import weight_meant
from fairtest.data.suspicion.samples import positions

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairtest.data.table import Column, Table

LEAST_SPREAD = 0.02
"""The standard deviation of weights over their mean, at least: equal ones change nothing."""
OF_A_POPULATION, WIDE = 500, 0.3
"""A column that is called a weight and nothing else is one of a sample if its mean is at least this and it is spread as
widely, so that the rows stand for a population; bodies and goods are narrower, or lighter."""
NEAR_ONE = 0.02
"""… or if its mean is this near to 1: weights are often scaled so that they add up to the rows."""


def find_weights(table: Table, taken: Collection[str] = ()) -> list[str]:
    """Return the columns that look like sampling weights, but for those that have a role.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> people = read_table({"weight": [61.5, 80.5, 73.0], "fnlwgt": [7712.5, 22154.0, 9043.5]})
    >>> find_weights(people)
    ['fnlwgt']
    """
    return [name for name, column in table.columns.items() if name not in taken and _is_weight(column, table.n_rows)]


def _is_weight(column: Column, n_rows: int) -> bool:
    meant = weight_meant(column.name) if column.is_number else False
    if meant is False:
        return False
    values = gather_numbers(number_blocks(column), positions(n_rows))
    if not values.size or values.min() < 0 or values.max() <= 0:
        return False
    mean = float(values.mean())
    spread = float(values.std()) / mean
    if spread < LEAST_SPREAD:
        return False
    return bool(meant) or abs(mean - 1) <= NEAR_ONE or (mean >= OF_A_POPULATION and spread >= WIDE)
