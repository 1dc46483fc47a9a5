"""Columns of files described a block at a time, each in every form that it may still turn out to have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.data.columns.description import ColumnDescription
from fairtest.data.reading.raw import (
    Form,
    first_text,
    forms_beginning_with,
    in_form,
    null_empty_text,
    possible_forms,
    without_markers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from fairtest.data.columns.declared import DeclaredKinds
    from fairtest.data.columns.distinct import Distinct
    from fairtest.data.columns.encoding import Encoding


class FileColumn:
    """A column of files whose rows come in blocks.

    Only the last row may settle what text is: until then it is described as dates and as text, side by side.

    Parameters
    ----------
    dtype
        The type of the column in the files.
    missing
        The values that stand for a missing one.
    new_distinct
        Makes what keeps the different values of a column.
    """

    def __init__(
        self,
        name: str,
        dtype: pl.DataType,
        declared: DeclaredKinds,
        missing: Sequence[object],
        new_distinct: Callable[[], Distinct],
    ) -> None:
        self._missing = missing
        self._first: str | None = None
        self._descriptions = {form: ColumnDescription(name, declared, new_distinct) for form in possible_forms(dtype)}

    def add(self, series: pl.Series) -> None:
        """Add the next rows."""
        if Form.TEXT in self._descriptions and self._first is None:
            self._first = first_text(null_empty_text(series))
            if self._first is not None:
                forms = forms_beginning_with(self._first, self._descriptions)
                self._descriptions = {form: self._descriptions[form] for form in forms}
        for form, description in list(self._descriptions.items()):
            raw = in_form(form, series)
            if raw is None:
                del self._descriptions[form]
            else:
                description.add(without_markers(raw, self._missing))

    def encoding(self) -> Encoding:
        """Return how the column is encoded, after all rows were added."""
        is_blank = Form.TEXT in self._descriptions and self._first is None
        form = Form.TEXT if is_blank else next(iter(self._descriptions))
        return self._descriptions[form].encoding(form, self._missing)
