"""What a stream declares about its records: columns and kinds."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtest.service.errors import BadRequest, TooLarge

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "date": "a date such as 2026-03-14",
    "time": "a time with its zone such as 2026-03-14T09:26:53Z",
}
"""The kinds of columns, and how an error says what is allowed."""
ALIASES = {"categorical": "text", "numeric": "number"}
"""The words that the rest of FairTest has for these kinds."""
MOST_COLUMNS, MOST_LEVELS, LONGEST_NAME, LONGEST_VALUE, LONGEST_ID = 300, 100, 128, 4096, 256
FORBIDDEN = '"\\'
"""What no name of a column has: JSON would write it in another way, and quick readers compare it as it is written."""
RESERVED = "__"
"""No column of a stream begins so: these are the service's own."""


@dataclass(frozen=True)
class StreamColumn:
    """A column of a stream: its kind, the values it may have, and whether each record must have one."""

    name: str
    kind: str
    levels: tuple[str | int, ...] = ()
    required: bool = False

    @property
    def allowed(self) -> str:
        """What a value may be, for errors."""
        what = KINDS[self.kind]
        if self.levels:
            what = "one of " + ", ".join(map(str, self.levels[:10])) + (", …" if len(self.levels) > 10 else "")
        return what if self.required else f"{what} or null"


@dataclass(frozen=True)
class Declaration:
    """The columns of a stream and their roles.

    Attributes
    ----------
    record_id, person, time
        Which column names the record, the person it is about, and when it happened.
    unknown
        What becomes of fields that are not declared: ``"reject"`` or ``"ignore"``.
    """

    columns: tuple[StreamColumn, ...]
    record_id: str = "id"
    person: str | None = None
    time: str | None = None
    unknown: str = "reject"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> StreamColumn:
        return next(column for column in self.columns if column.name == name)

    def for_truths(self) -> Declaration:
        """Return what late truths look like: the id of a record and any column that a record may lack."""
        fixed = {self.record_id, self.person, self.time}
        late = tuple(column for column in self.columns if column.name not in fixed and not column.required)
        return Declaration((self[self.record_id], *late), self.record_id, None, None, "reject")

    def columns_as_json(self) -> str:
        """Return the columns as they are stored and shown."""
        return json.dumps({column.name: _show_column(column) for column in self.columns})


def read_declaration(given: Mapping[str, Any]) -> Declaration:
    """Return the declaration of a new stream, or say what is wrong with it."""
    columns = read_columns(given.get("columns") or {})
    record_id = given.get("record_id") or "id"
    person, time = given.get("person"), given.get("time")
    names = {column.name for column in columns}
    if record_id not in names:
        columns = (StreamColumn(record_id, "text", required=True), *columns)
    if person is not None and person not in {column.name for column in columns}:
        columns = (*columns, StreamColumn(person, "text", required=True))
    found = Declaration(tuple(columns), record_id, person, time, given.get("unknown") or "reject")
    _check_roles(found)
    return replace(found, columns=tuple(_with_needs(column, found) for column in found.columns))


def read_columns(given: Mapping[str, Any]) -> tuple[StreamColumn, ...]:
    """Return declared columns, or say what is wrong with them."""
    if len(given) > MOST_COLUMNS:
        raise TooLarge(f"A stream may have {MOST_COLUMNS} columns. Got {len(given):,}.")
    return tuple(_read_column(name, what) for name, what in given.items())


def _read_column(name: str, what: Any) -> StreamColumn:
    bad = not name or len(name) > LONGEST_NAME or not name.isprintable() or name.startswith(RESERVED)
    if bad or any(mark in name for mark in FORBIDDEN):
        raise BadRequest(
            f"A column must be called by 1 to {LONGEST_NAME} printable characters that do not begin with "
            f'{RESERVED!r}, without quotation marks (") and backslashes. Got {name[:LONGEST_NAME]!r}.'
        )
    given: dict[str, Any] = {"kind": what} if isinstance(what, str) else what
    kind = ALIASES.get(str(given.get("kind")), str(given.get("kind")))
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise BadRequest(f"Column {name!r}: the kind must be one of {known}. Got {given.get('kind')!r} instead.")
    levels = tuple(given.get("levels") or ())
    expected = {"text": str, "integer": int}.get(kind)
    if levels and (expected is None or not all(type(level) is expected for level in levels)):
        raise BadRequest(f"Column {name!r}: levels go with text or integers and are of that kind. Got {levels[:3]!r}.")
    if len(levels) > MOST_LEVELS:
        raise TooLarge(f"Column {name!r}: at most {MOST_LEVELS} levels may be listed. Got {len(levels):,}.")
    return StreamColumn(name, kind, levels, bool(given.get("required", False)))


def _check_roles(found: Declaration) -> None:
    for role, name in (("record_id", found.record_id), ("person", found.person)):
        if name is not None and found[name].kind != "text":
            raise BadRequest(f"The {role} column {name!r} must be text. It is declared as {found[name].kind!r}.")
    if found.time is not None and (found.time not in found.names or found[found.time].kind != "time"):
        raise BadRequest(f"The time column {found.time!r} must be declared as a column of kind 'time'.")
    if found.unknown not in {"reject", "ignore"}:
        raise BadRequest(f"'unknown' must be 'reject' or 'ignore'. Got {found.unknown!r} instead.")
    if found.person is not None and found.person == found.record_id:
        raise BadRequest("'person' and 'record_id' must be two columns: a person may have several records.")


def _with_needs(column: StreamColumn, found: Declaration) -> StreamColumn:
    needed = column.name in {found.record_id, found.person}
    return replace(column, required=True) if needed else column


def _show_column(column: StreamColumn) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": column.kind, "required": column.required}
    if column.levels:
        shown["levels"] = list(column.levels)
    return shown
