"""Columns from what lies side by side: features, predictions, truths and groups as arrays, Series or frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairtest.exceptions import InputError


def named_columns(data: Any, role: str, fallback: str) -> dict[str, Any]:
    """Return columns by name from a frame, a mapping, a Series, a list or an array.

    Parameters
    ----------
    role
        What to call the argument in an error.
    fallback
        The name of a column that has none; of several, numbers are put behind it.

    Examples
    --------
    >>> named_columns([1, 0], "y_pred", "y_pred")
    {'y_pred': [1, 0]}
    >>> list(named_columns(np.zeros((3, 2)), "data", "x"))
    ['x0', 'x1']
    """
    if isinstance(data, Mapping):
        return {str(name): column for name, column in data.items()}
    if hasattr(data, "columns"):
        names = list(data.columns)
        if getattr(data.columns, "nlevels", 1) > 1:
            raise InputError(
                f"{role}: columns with several levels of names (a MultiIndex) cannot be used. Join the names."
            )
        return {str(name): data[name] for name in names}
    if getattr(data, "ndim", 1) == 2 and not hasattr(data, "name"):
        array = np.asarray(data)
        return {f"{fallback}{i}" if array.shape[1] > 1 else fallback: array[:, i] for i in range(array.shape[1])}
    if isinstance(data, str) or not hasattr(data, "__len__"):
        raise InputError(f"{role} must be an array, a Series, a list or a frame. Got {type(data).__name__} instead.")
    return {str(getattr(data, "name", None) or fallback): data}


def join_columns(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of several arguments as one table; the later ones replace columns of the same name.

    Raises
    ------
    InputError
        If they are not equally long.
    """
    joined: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for role, columns in parts.items():
        for name, column in columns.items():
            joined[name] = column
            lengths.setdefault(role, len(column))
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{role} has {number:,}" for role, number in lengths.items())
        raise InputError(f"These must have one entry for each person, and differ in length: {shown}.")
    return {name: np.asarray(column) for name, column in joined.items()}
