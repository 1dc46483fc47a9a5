"""A column described block by block, until its kind can be decided as if all of it were here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairtest.data.columns.decide import FEW, Decision, Way, called, decide, named_identifier, number_of
from fairtest.data.columns.distinct import AllDiffer, Distinct, Few
from fairtest.data.columns.encoding import Encoding, Hashed
from fairtest.data.columns.kinds import finite, in_order, set_reason, spelled_numbers
from fairtest.data.columns.levels import are_whole
from fairtest.data.reading.normal import Form, first_text, forms, in_form, may_be, without
from fairtest.data.table import too_many
from fairtest.exceptions import InputError
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.data.columns.declared import Declared
    from fairtest.data.reading.normal import RawColumn
    from fairtest.types import Level


class Description:
    """What is known of a column so far.

    Parameters
    ----------
    dtype
        The type of the column in the file.
    missing
        The values that stand for a missing one.
    distinct
        Makes what keeps the different values of a column.
    """

    def __init__(
        self,
        name: str,
        dtype: pl.DataType,
        declared: Declared,
        missing: Sequence[object],
        distinct: Callable[[], Distinct],
    ) -> None:
        self._name = name
        self._declared = declared
        self._missing = missing
        self._first: str | None = None
        self._rows = 0
        self._forms = {form: _Values(name, declared, distinct) for form in forms(dtype)}

    def add(self, series: pl.Series) -> None:
        """Add the next rows."""
        if Form.TEXT in self._forms and self._first is None:
            self._begin(series)
        for form, values in list(self._forms.items()):
            raw = in_form(form, series)
            if raw is None:
                del self._forms[form]
            else:
                values.add(without(raw, self._missing), self._rows)
        self._rows += len(series)

    def _begin(self, series: pl.Series) -> None:
        """Look for the first text, and drop the forms that a column cannot have that begins with it."""
        text = in_form(Form.TEXT, series)
        assert text is not None and text.values is not None
        self._first = first_text(text.values)
        if self._first is not None:
            self._forms = {form: values for form, values in self._forms.items() if may_be(form, self._first)}

    def encoding(self) -> Encoding:
        """Return how the column is encoded, after all rows were added."""
        empty = Form.TEXT in self._forms and self._first is None
        form = Form.TEXT if empty else next(iter(self._forms))
        return self._forms[form].encoding(form, self._declared, tuple(self._missing))


class _Values:
    """The facts about a column in one of the forms it may have (see :class:`fairtest.data.columns.decide.Facts`)."""

    order: tuple[Level, ...] = ()

    def __init__(self, name: str, declared: Declared, distinct: Callable[[], Distinct]) -> None:
        self.name = name
        self.dtype: pl.DataType = pl.Null()
        self.category = False
        self.note = ""
        self.rows = 0
        self.missing = 0
        self.whole = True
        self._declared = declared
        self._make = distinct
        self._low: float | None = None
        self._high: float | None = None
        self._error: InputError | None = None
        self._few: Few | None = None
        self._all: Distinct | None = None
        self._identify: AllDiffer | None = None
        self._items: Distinct | None = None

    def add(self, raw: RawColumn, start: int) -> None:
        """Add the next rows, of which the first is number ``start``."""
        self.rows += len(raw)
        self.note = self.note or raw.note
        if raw.values is None:
            self._add_sets(raw)
            return
        try:
            finite(self.name, raw.values, start)
            is_numeric = self.name in self._declared.numeric
            values = spelled_numbers(self.name, raw.values, start) if is_numeric else raw.values
        except InputError as error:  # not raised here: the column may turn out to have another form
            self._error = self._error or error
            return
        if self.dtype == pl.Null:
            self._start(values.dtype, raw.category)
        self.missing += values.null_count()
        self._add_values(values)

    def _start(self, dtype: pl.DataType, category: bool) -> None:
        """Decide what of the values must be kept for the decision."""
        self.dtype, self.category = dtype, category
        if self.name in self._declared.numeric:
            return
        named = self.name in self._declared.categorical or self.name in self._declared.ordered
        if named or category or dtype in (pl.String, pl.Boolean):
            self._all = self._make()
            return
        self._few = Few(FEW)
        if dtype != pl.Date and named_identifier(self.name):
            self._identify = AllDiffer(self._make())

    def _add_values(self, values: pl.Series) -> None:
        if self.dtype == pl.Float64:
            values = values + 0.0  # −0.0 is 0.0
            self.whole = self.whole and are_whole(values)
        for kept in (self._few, self._all, self._identify):
            if kept is not None:
                kept.add(values)
        if self.dtype not in (pl.String, pl.Boolean) and values.null_count() < len(values):
            numbers = values.to_physical()
            low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
            self._low = low if self._low is None else min(low, self._low)
            self._high = high if self._high is None else max(high, self._high)

    def _add_sets(self, raw: RawColumn) -> None:
        self.missing += len(raw) if raw.sets is None else raw.sets.null_count()
        if raw.sets is None:
            return
        if self._items is None:
            self._items = self._make()
        self._items.add(raw.sets.drop_nulls().explode())

    @property
    def few(self) -> int | None:
        """How many different values there are, or None for more than FEW."""
        assert self._few is not None
        return self._few.count

    @property
    def all_differ(self) -> bool:
        """Whether no two rows have the same value."""
        assert self._identify is not None
        return self._identify.holds

    def encoding(self, form: Form, declared: Declared, missing: tuple[object, ...]) -> Encoding:
        """Return how the column is encoded in this form."""
        if self._error is not None:
            raise self._error
        if self.dtype == pl.Null:
            return self._encoding_of_sets(form, declared)
        decision = decide(self, declared)
        if decision.way is Way.NUMBERS:
            kind, reason = called(decision, 0, 0)
            return Encoding(
                self.name,
                form,
                kind,
                reason,
                self.missing,
                number=number_of(self),
                spelled=self.name in declared.numeric,
                absent=missing,
                ends=None if self._low is None or self._high is None else (self._low, self._high),
            )
        return self._encoding_of_levels(form, decision, missing)

    def _encoding_of_levels(self, form: Form, decision: Decision, missing: tuple[object, ...]) -> Encoding:
        distinct = self._identify.distinct if decision.way is Way.IDENTIFIER and self._identify else self._all
        kept = self._few if distinct is None else distinct
        assert kept is not None
        count = kept.count
        assert count is not None
        kind, reason = called(decision, count, self.rows - self.missing)
        if distinct is not None and count and distinct.values is None:
            if kind is not Kind.IDENTIFIER:
                raise too_many(self.name, count)
            hashed = Hashed(count, distinct.width)
            return Encoding(self.name, form, kind, reason, self.missing, hashed=hashed, absent=missing)
        series = pl.Series(self.name, [], dtype=self.dtype) if kept.values is None else kept.values
        if self.dtype == pl.Float64 and self.whole:
            series = series.cast(pl.Int64)
        levels: tuple[Level, ...] = tuple(series.sort().to_list())
        if decision.way is Way.ORDERED:
            levels, _ = in_order(self.name, levels, decision.order)
        return Encoding(self.name, form, kind, reason, self.missing, levels, absent=missing)

    def _encoding_of_sets(self, form: Form, declared: Declared) -> Encoding:
        items = self._items
        reason = set_reason(self.name, declared, None if items is None else items.count)
        if items is not None and items.count and items.values is None:
            raise too_many(self.name, items.count)
        names = None if items is None else () if items.values is None else tuple(items.values.sort().to_list())
        return Encoding(self.name, form, Kind.IDENTIFIER, reason, self.missing, items=names)
