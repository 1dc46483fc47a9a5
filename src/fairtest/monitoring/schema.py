"""The columns of a stream: what is fixed before the first bet, so that every later frame is read in the same way.

Kinds, groups, outputs, thresholds and bins come from records that are never bet on. Values of contextual and
explanatory columns that turn up later get the next free code.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data import measures
from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import encode_column
from fairtest.data.measures import Measure
from fairtest.data.reading.frames import column_names, library_of, raw_column
from fairtest.data.selection import row_count
from fairtest.data.table import Column, Number, Table
from fairtest.data.variables import Part, Variable
from fairtest.exceptions import InputError, unknown_name
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from fairtest.types import Level

MOST_LEVELS = 200
"""A column keeps so many values; what comes later is in no context."""


@dataclass
class ColumnSchema:
    """How one column is read.

    Attributes
    ----------
    grows
        Whether values that were not known get a code of their own.
    """

    name: str
    kind: Kind
    levels: list[Level] = field(default_factory=list)
    number: Number = Number.REAL
    grows: bool = False

    def encode(self, frame: Any) -> tuple[Column, int]:
        """Return the column of a frame in the codes of the schema, and how many of its values are not known."""
        raw = raw_column(frame, self.name)
        if self.kind is Kind.NUMERIC:
            column = encode_column(raw, DeclaredKinds(numeric=frozenset([self.name])))
            return replace(column, number=self.number), 0
        column = encode_column(raw, DeclaredKinds(categorical=frozenset([self.name])))
        assert column.codes is not None
        known: dict[object, int] = {level: i for i, level in enumerate(self.levels)}
        by_text = {str(level): i for i, level in enumerate(self.levels)}
        lookup = [known.get(level, by_text.get(str(level), -1)) for level in column.levels]
        for i, level in enumerate(column.levels):
            if lookup[i] < 0 and self.grows and len(self.levels) < MOST_LEVELS:
                lookup[i] = len(self.levels)
                self.levels.append(level)
        codes = np.asarray([*lookup, -1], dtype=np.int32)[column.codes]
        unknown = int(np.count_nonzero((codes < 0) & (column.codes >= 0)))
        return Column(self.name, self.kind, "", column.missing, tuple(self.levels), codes), unknown


@dataclass
class Schema:
    """How the columns of a stream are read."""

    columns: dict[str, ColumnSchema]

    @classmethod
    def of(cls, table: Table, fixed: Iterable[str], growing: Iterable[str]) -> Schema:
        """Return the schema of a table of earlier records.

        Parameters
        ----------
        fixed
            Columns whose values are compared: an unknown one is no value at all.
        growing
            Columns that may have new values.
        """
        columns: dict[str, ColumnSchema] = {}
        for names, grows in ((fixed, False), (growing, True)):
            for name in names:
                column = table[name]
                grown = grows and column.kind in (Kind.BINARY, Kind.CATEGORICAL)
                kind = Kind.CATEGORICAL if grown else column.kind
                if name not in columns:
                    columns[name] = ColumnSchema(name, kind, list(column.levels), column.number, grown)
        return cls(columns)

    def read(self, frame: Any) -> tuple[Table, dict[str, int]]:
        """Return the table of a frame, and how many values of each column are not known."""
        library = library_of(frame)
        if library is None:
            raise InputError(
                "Records must be a pandas or polars frame, an Arrow table or a dictionary of columns. "
                f"Got {type(frame).__name__} instead."
            )
        names = column_names(frame)
        for name in self.columns:
            if name not in names:
                raise unknown_name("column", name, names, hint="Every frame of a stream must have the same columns.")
        encoded, unknown = {}, {}
        for name, column in self.columns.items():
            encoded[name], many = column.encode(frame)
            if many and not column.grows:
                unknown[name] = many
        return Table("records", library, row_count(frame), encoded), unknown


def take_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """Return some rows of a table."""
    return replace(table, n_rows=len(rows), columns={n: _take(c, rows) for n, c in table.columns.items()})


def _take(column: Column, rows: NDArray[np.intp]) -> Column:
    values = None if column.values is None else column.values[rows]
    codes = None if column.values is not None or column.codes is None else column.codes[rows]
    return replace(column, values=values, codes=codes)


def join_tables(tables: list[Table], schema: Schema) -> Table:
    """Return the rows of several tables that were read with one schema, the columns with all its levels."""
    columns = {}
    for name, known in schema.columns.items():
        parts = [table.columns[name] for table in tables]
        if known.kind is Kind.NUMERIC:
            values = np.concatenate([p.values for p in parts if p.values is not None])
            missing = int(np.isnan(values).sum())
            columns[name] = Column(name, known.kind, "", missing, values=values, number=known.number)
        else:
            codes = np.concatenate([p.codes for p in parts if p.codes is not None])
            missing = int((codes < 0).sum())
            kind = known.kind
            columns[name] = Column(name, kind, "", missing, tuple(known.levels), codes.astype(np.int32))
    return Table("records", "stream", sum(t.n_rows for t in tables), columns)


# What is stored: levels are plain values, but for dates.


def level_to_plain(level: Any) -> Any:
    """Return a level as JSON can have it."""
    if isinstance(level, tuple | list):
        return [level_to_plain(v) for v in level]
    return {"date": level.isoformat()} if isinstance(level, dt.date) else level


def level_from_plain(stored: Any) -> Any:
    """Return a stored level."""
    if isinstance(stored, list):
        return tuple(level_from_plain(v) for v in stored)
    return dt.date.fromisoformat(stored["date"]) if isinstance(stored, dict) else stored


def schema_to_plain(schema: Schema) -> list[dict[str, Any]]:
    """Return a schema as JSON can have it."""
    return [
        {
            "name": c.name,
            "kind": c.kind.value,
            "levels": [level_to_plain(v) for v in c.levels],
            "number": c.number.value,
            "grows": c.grows,
        }
        for c in schema.columns.values()
    ]


def schema_from_plain(stored: list[dict[str, Any]]) -> Schema:
    """Return a stored schema."""
    columns = {}
    for c in stored:
        levels = [level_from_plain(v) for v in c["levels"]]
        columns[c["name"]] = ColumnSchema(c["name"], Kind(c["kind"]), levels, Number(c["number"]), c["grows"])
    return Schema(columns)


def variable_to_plain(variable: Variable) -> dict[str, Any]:
    """Return a variable as JSON can have it."""
    return {
        "name": variable.name,
        "kind": variable.kind.value,
        "parts": [_part_to_plain(part) for part in variable.parts],
        "levels": level_to_plain(variable.levels),
        "combinations": level_to_plain(variable.combinations),
        "lookup": list(variable.lookup),
        "scores": list(variable.scores),
        "centre": variable.centre,
        "scale": variable.scale,
        "number": variable.number.value,
    }


def variable_from_plain(stored: Mapping[str, Any]) -> Variable:
    """Return a stored variable."""
    return Variable(
        name=stored["name"],
        kind=Kind(stored["kind"]),
        parts=tuple(map(_part_from_plain, stored["parts"])),
        levels=level_from_plain(stored["levels"]),
        combinations=level_from_plain(stored["combinations"]),
        lookup=tuple(stored["lookup"]),
        scores=tuple(stored["scores"]),
        centre=stored["centre"],
        scale=stored["scale"],
        number=Number(stored["number"]),
    )


def _part_to_plain(part: Part) -> dict[str, Any]:
    stored: dict[str, Any] = {"column": part.column, "levels": level_to_plain(part.levels)}
    if part.thresholds is not None:
        stored["thresholds"] = list(part.thresholds)
    if part.measure is not None:
        measure = part.measure
        function = measure.function.__name__
        if getattr(measures, function, None) is not measure.function:
            raise InputError("An error that is a function of your own cannot be stored, and so not be watched.")
        stand_ins = [None if each is None else level_to_plain(each) for each in measure.stand_ins]
        stored["measure"] = {"columns": list(measure.columns), "function": function, "stand_ins": stand_ins}
    return stored


def _part_from_plain(stored: Mapping[str, Any]) -> Part:
    measure, thresholds = stored.get("measure"), stored.get("thresholds")
    if measure is not None:
        stand_ins = tuple(None if each is None else level_from_plain(each) for each in measure["stand_ins"])
        measure = Measure(tuple(measure["columns"]), getattr(measures, measure["function"]), stand_ins)
    cuts = None if thresholds is None else tuple(thresholds)
    return Part(stored["column"], level_from_plain(stored["levels"]), cuts, measure)
