"""Values that look like marks of a missing one, and were read as a value like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.data.table import Column

SURE_MARKS = frozenset(["?", "na", "n/a", "nan", "null", "#n/a"])
"""Texts that hardly ever mean anything else; "none" and "unknown" may well be answers."""


def find_missing_marks(column: Column) -> tuple[str, ...]:
    """Return the values of a column that most likely stand for a missing one."""
    return tuple(v for v in column.levels if isinstance(v, str) and v.strip().casefold() in SURE_MARKS)
