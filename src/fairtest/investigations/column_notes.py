"""What each column of the table is to an investigation, for its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.data.axes import MOST_LEVELS
from fairtest.model.described_data import ColumnNote
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.table import Column
    from fairtest.data.variables import Variable
    from fairtest.investigations.base import Investigation


def column_note(investigation: Investigation, column: Column) -> ColumnNote:
    """Return how one column was understood and used."""
    role, note = _role_of(investigation, column)
    return ColumnNote(column.name, column.kind.value, role, column.reason, column.missing, note)


def _role_of(investigation: Investigation, column: Column) -> tuple[str, str]:
    """Return the role of a column, and what a reader should know about it."""
    name = column.name
    if any(name in group for group in investigation.groups):
        return "protected", ""
    bins = _bins_of(name, investigation.strata)
    if name in investigation.outputs:
        given = f"conditioned on; {bins}" if name in investigation.explanatory else ""
        return investigation.output_role(name), given.rstrip("; ")
    if name in investigation.explanatory:
        return "explanatory", bins
    if name in investigation.source.not_attributes:
        return "left out", f"says what rows are: {investigation.source.not_attributes[name]}"
    if column.kind is Kind.IDENTIFIER:
        return "left out", f"an identifier, not a context: {column.reason}"
    if name in investigation.exclude:
        return "left out", "excluded by the user"
    if investigation.contextual is not None and name not in investigation.contextual:
        return "left out", "not among the contextual attributes named"
    if investigation.contextual is None and name in investigation.suspicions.kept_out:
        return "left out", investigation.suspicions.kept_out[name]
    if column.constant and not column.missing:
        return "left out", "constant"
    if name in investigation.useless:
        return "left out", investigation.useless[name]
    if len(column.levels) > MOST_LEVELS:
        return "contextual", f"its {MOST_LEVELS} most frequent values; the rarer ones are pooled"
    return "contextual", ""


def _bins_of(name: str, strata: Variable | None) -> str:
    """Return the bins into which an explanatory number is cut; nothing for other columns."""
    parts = () if strata is None else strata.parts
    cut = next((p for p in parts if p.column == name and p.thresholds is not None), None)
    if cut is None:
        return ""
    shown = "; ".join(str(level) for level in cut.levels)
    return f"in bins: {shown}; people are compared within finer ones, the more people the finer"


def strata_names(strata: Variable | None) -> tuple[str, ...]:
    """Return the explanatory attributes, numbers with the remark that they are in bins.

    How many bins hangs on how many people there are in a context; a note on each finding says it.
    """
    return tuple(
        p.column if p.thresholds is None else f"{p.column} (in bins)" for p in (() if strata is None else strata.parts)
    )
