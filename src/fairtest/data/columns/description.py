"""What is known of a column from the rows that have come so far, until its kind and its encoding can be decided.

Rows come in blocks. A column in memory is one block, so that it is described in the same way wherever it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.data.columns.decide import FEW, KindDecision, decide_kind, identifier_word, number_format
from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.distinct import Distinct
from fairtest.data.columns.encoding import SAMPLE, Encoding, HashedValues, are_whole, check_values
from fairtest.data.reading.raw import Form
from fairtest.data.table import Column, FlagColumn, too_many_values
from fairtest.exceptions import InputError, argument, the
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtest.data.reading.raw import RawColumn
    from fairtest.types import Level


FEW_ONES = 8
"""A column of 0 and 1 is kept as the list of rows with a 1 if at most one row in eight has one: it is shorter then."""
HUGE = 100_000
"""From this many values on, an identifier keeps its levels in the order of rows: sorting them would take longest."""


class ColumnDescription:
    """The facts about a column on which its kind and its encoding depend.

    Parameters
    ----------
    new_distinct
        Makes what keeps the different values: within bounds, for a column that does not fit in memory.

    Attributes
    ----------
    dtype
        The type: Boolean, Int64, Float64, Date or String; Null until a value has come that can be used.
    order
        The levels from low to high, where the data says so.
    category
        Whether the data says that the values are categories.
    note
        What was lost on the way here.
    rows, missing
        How many rows there are, and how many of them have no value.
    whole
        Whether every number is a whole one.
    items
        For a column of lists: what is in them.
    """

    def __init__(self, name: str, declared: DeclaredKinds, new_distinct: Callable[[], Distinct] = Distinct) -> None:
        self.name = name
        self.dtype: pl.DataType = pl.Null()
        self.order: tuple[Level, ...] = ()
        self.category = False
        self.note = ""
        self.rows = self.missing = 0
        self.whole = True
        self.items: Distinct | None = None
        self._declared = declared
        self._new_distinct = new_distinct
        self._error: InputError | None = None
        # Of the values themselves, only what the decision may need is kept: see _begin.
        self._ends: tuple[Any, Any] | None = None
        self._few: set[Any] | None = None
        self._distinct: Distinct | None = None
        self._identifiers: Distinct | None = None

    def add(self, raw: RawColumn) -> None:
        """Add the next rows."""
        start, self.rows = self.rows, self.rows + len(raw)
        self.note = self.note or raw.note
        if raw.values is None:
            self._add_sets(raw)
            return
        try:
            values = check_values(raw.name, raw.values, start, numeric=self.name in self._declared.numeric)
        except InputError as error:
            # Raised at the end only: until then, the column may turn out to have another form.
            self._error = self._error or error
            return
        if self.dtype == pl.Null:
            self._begin(values.dtype, raw)
        self.missing += values.null_count()
        self._add_values(values)

    def _begin(self, dtype: pl.DataType, raw: RawColumn) -> None:
        """Choose what to keep of the values, now that the type is known."""
        self.dtype, self.category, self.order = dtype, raw.category, raw.order
        if self.name in self._declared.numeric:
            return
        if self.category or self.name in self._declared or dtype in (pl.String, pl.Boolean):
            self._distinct = self._new_distinct()
            return
        self._few = set()
        if dtype != pl.Date and identifier_word(self.name):
            self._identifiers = self._new_distinct()

    def _add_values(self, values: pl.Series) -> None:
        if self.dtype == pl.Float64:
            values = values + 0.0  # −0.0 is 0.0
            self.whole = self.whole and are_whole(values)
        if self._distinct is not None:
            self._distinct.add(values)
        if self._identifiers is not None:
            present = values.drop_nulls()
            if present.n_unique() == len(present):
                self._identifiers.add(present)
            else:
                self._identifiers = None  # nobody is identified by a value that somebody else has too
        if self.dtype != pl.String and values.null_count() < len(values):
            self._add_numbers(values)

    def _add_numbers(self, values: pl.Series) -> None:
        low: Any = values.min()
        high: Any = values.max()
        seen = (low, high) if self._ends is None else (low, high, *self._ends)
        self._ends = min(seen), max(seen)
        if self._few is None:
            return
        # Whole numbers next to each other, such as 0 and 1, are known by their ends; of others, a sample of the rows is
        # often enough to see that they are many.
        if self.whole and self.dtype != pl.Date and high - low <= 1:
            self._few |= {low, high}
        elif values.head(SAMPLE).n_unique() <= FEW + 1:  # one of them may be null
            self._few |= set(values.drop_nulls().unique().head(FEW + 1).to_list())
        else:
            self._few = None
        self._few = None if self._few is None or len(self._few) > FEW else self._few

    def _add_sets(self, raw: RawColumn) -> None:
        self.missing += len(raw) if raw.sets is None else raw.sets.null_count()
        if raw.sets is not None:
            self.items = self.items or self._new_distinct()
            self.items.add(raw.sets.drop_nulls().explode())

    @property
    def present(self) -> int:
        """How many rows have a value."""
        return self.rows - self.missing

    @property
    def distinct(self) -> int | None:
        """How many different values there are; None for numbers with more than FEW, which are not counted."""
        if self._distinct is not None:
            return self._distinct.count
        return None if self._few is None else len(self._few)

    @property
    def all_differ(self) -> bool:
        """Whether no two rows have the same value; known of text, and of numbers whose name says that they identify."""
        kept = self._distinct or self._identifiers
        return kept is not None and kept.count == self.present

    @cached_property
    def decision(self) -> KindDecision:
        """What kind the column is, to be asked after all rows were added."""
        if self._error is not None:
            raise self._error
        return decide_kind(self, self._declared)

    def encoding(self, form: Form = Form.PLAIN, absent: Iterable[object] = ()) -> Encoding:
        """Return how the column is encoded, after all rows were added.

        Parameters
        ----------
        form, absent
            How its values are made of those of a file: see :class:`~fairtest.data.columns.encoding.Encoding`.
        """
        kind = self.decision.kind
        encoding = Encoding(self.name, kind, self.decision.reason, self.missing, form, tuple(absent))
        if kind is Kind.NUMERIC:
            spelled, constant = self.name in self._declared.numeric, self._ends is None or len(set(self._ends)) == 1
            return replace(encoding, number=number_format(self), spelled=spelled, constant=constant)
        kept = self.items or self._distinct or (self._identifiers if kind is Kind.IDENTIFIER else None)
        if kept is not None and kept.count and kept.values is None:
            if kind is not Kind.IDENTIFIER or kept is self.items:
                raise too_many_values(self.name, kept.count)
            return replace(encoding, hashed=HashedValues(kept.count, kept.width))
        levels = sorted(self._few or ()) if kept is None or kept.values is None else kept.values.sort().to_list()
        if self.items is not None:
            return replace(encoding, items=tuple(levels))
        if self.dtype == pl.Float64 and self.whole:
            levels = [int(level) for level in levels]
        return replace(encoding, levels=order_levels(self.name, tuple(levels), self.decision.order))


def order_levels(name: str, levels: tuple[Level, ...], order: tuple[Level, ...]) -> tuple[Level, ...]:
    """Return the levels that occur in the order given, if one is.

    Levels are found in the order by their value or else by their text.

    Examples
    --------
    >>> order_levels("grade", ("a", "c"), ("c", "b", "a"))
    ('c', 'a')
    """
    if not order:
        return levels
    by_value = {level: rank for rank, level in enumerate(order)}
    by_text = {str(level): rank for rank, level in enumerate(order)}
    ranks = {level: by_value.get(level, by_text.get(str(level), -1)) for level in levels}
    if unknown := [level for level, rank in ranks.items() if rank < 0]:
        raise InputError(
            f"{the('ordered', 'parameter')} must name every value of column {name!r}; "
            f"{_list_some(unknown)} of the data {'is' if len(unknown) == 1 else 'are'} not among {_list_some(order)}. "
            f"Add what is missing, or name it in {argument('missing')} if it stands for no value."
        )
    return tuple(sorted(levels, key=ranks.__getitem__))


def _list_some(levels: Sequence[Level]) -> str:
    return ", ".join(map(repr, levels[:8])) + (", …" if len(levels) > 8 else "")


def encode_column(raw: RawColumn, declared: DeclaredKinds | None = None) -> Column:
    """Return the encoded column, of the declared kind or of the one its type, values and name suggest.

    Examples
    --------
    >>> from fairtest.data.reading.raw import RawColumn
    >>> column = encode_column(RawColumn("paid", pl.Series(["yes", "no", None])))
    >>> print(column.kind, column.levels, column.reason)
    binary ('no', 'yes') text, 2 values
    """
    declared = declared or DeclaredKinds()
    description = ColumnDescription(raw.name, declared)
    description.add(raw)
    if raw.values is None or raw.name in declared:
        return description.encoding().encode(raw)
    if description.decision.kind is Kind.IDENTIFIER and description.all_differ and description.present >= HUGE:
        return _number_rows(description, raw.values)
    encoding = description.encoding()
    return _keep_rare_ones(encoding, raw.values) or encoding.encode(raw)


def _number_rows(description: ColumnDescription, values: pl.Series) -> Column:
    """Return an identifier whose values all differ, with levels in the order of rows."""
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = np.arange(description.present, dtype=np.int32)
    known = description.decision
    return Column(
        values.name, known.kind, known.reason, description.missing, tuple(values.drop_nulls().to_list()), codes
    )


def _keep_rare_ones(encoding: Encoding, values: pl.Series) -> FlagColumn | None:
    """Return a column of booleans, or of 0 and 1, as the rows that are true; None if they are many."""
    if encoding.kind is not Kind.BINARY or encoding.levels != (0, 1):  # (False, True) are the same
        return None
    numbers = values.cast(pl.Float64).to_numpy()  # NaN where null
    ones, gone = (np.flatnonzero(rows).astype(np.int32) for rows in (numbers == 1, np.isnan(numbers)))
    if ones.size * FEW_ONES > len(values):
        return None
    return FlagColumn(encoding.name, encoding.reason, encoding.missing, encoding.levels, len(values), ones, gone)
