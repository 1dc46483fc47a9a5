"""The look before the first question: it reads the data, and spends nothing of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.design import read_design, repeat_rows
from fairtest.data.reading.readers import read_table
from fairtest.data.sizes import as_bytes
from fairtest.data.source import AUTO, MEMORY, DataSource, choose_engine
from fairtest.data.streaming.streaming import stream_table
from fairtest.investigations.roles import choose_event, names_of
from fairtest.investigations.suggested import PREDICTED, Suggestion, suggested_roles
from fairtest.investigations.suspicions import Declared, Roles, Suspicions
from fairtest.metrics.choice import default_metric
from fairtest.reporting.inspection import InspectedColumn, Inspection, Pair, words_of
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtest.data.table import Column, Table

MEANT_AS_MISSING = frozenset(["?", "-", "na", "n/a", "nan", "null", "none", "nil", "missing", "unknown", "#n/a"])
FEW_PEOPLE = 1000
FEW_IN_GROUP = 30
LEVEL = 0.05
"""The chance of a fluke that a report promises unless the user says otherwise."""


def inspect(
    data: Any, protected: str | Sequence[str] | None = None, output: str | Sequence[str] | None = None, **how: Any
) -> Inspection:
    """Look at data before asking anything of it: columns, kinds, roles that names suggest, and metrics.

    Parameters
    ----------
    data
        What :class:`DataSource` takes, or one that is made already.
    protected, output
        Columns whose roles are known; by default those that names suggest.
    how
        Other arguments of DataSource about reading: ``person``, ``weights``, ``counts``, ``categorical``, ``numeric``,
        ``ordered``, ``missing``, ``delimiter``, ``encoding``, ``decimal``, ``engine``, ``memory``.

    Examples
    --------
    >>> look = inspect({"sex": ["f", "m", "f", "m"], "city": ["x", "y", "z", "x"], "hired": [1, 0, 0, 1]})
    >>> [(p.protected, p.output, p.metric) for p in look.pairs]
    [('sex', 'hired', 'DIFF')]
    >>> look.command
    'fairtest test DATA -p sex -o hired --event hired=1'
    """
    said = _said_of_rows(data, how)
    table = data.table if isinstance(data, DataSource) else _read_columns(data, **how)
    people = _count_people(table, {role: column for column, role in said.items()})
    roles = _roles(table, names_of("protected", protected), names_of("output", output))
    roles |= {column: Suggestion("left out", f"says what rows are: {role}") for column, role in said.items()}
    suspicions = _suspicions(table, roles, Declared(**{role: column for column, role in said.items()}))
    for name, why in suspicions.kept_out.items():
        roles[name] = Suggestion("left out", why)
    named = {role: [n for n, s in roles.items() if s.role == role] for role in ("protected", "output", "truth")}
    crossed = [n for n in names_of("protected", protected) if n not in table and "*" in n]
    named["protected"] = [*named["protected"], *crossed] if crossed else named["protected"]
    columns = tuple(_inspect_column(column, roles[column.name]) for column in table.columns.values())
    path = data if isinstance(data, str) else "DATA"
    return Inspection(
        table.name,
        people,
        columns,
        tuple(_pairs(table, named["protected"], named["output"])),
        (*suspicions.sentences(LEVEL), *_notes(table, named)),
        _command(path, table, named),
    )


def _said_of_rows(data: Any, how: dict[str, Any]) -> dict[str, str]:
    """Return the columns that say what rows are, and take them out of the arguments about reading."""
    if isinstance(data, DataSource):
        return data.not_attributes
    said = {column: role for role in ("person", "weights", "counts") if (column := how.pop(role, None)) is not None}
    numbers = [column for column, role in said.items() if role != "person"]
    if numbers:
        how["numeric"] = [*how.get("numeric", ()), *numbers]
    return said


def _count_people(table: Table, said: Mapping[str, str]) -> int:
    """Return how many people there are; raises where a column cannot say what it is said to."""
    if "counts" in said:
        return int(repeat_rows(table, said["counts"]).size)
    design, _ = read_design(table, said.get("person"), said.get("weights"))
    return table.n_rows if design is None else design.n_people


def _read_columns(data: Any, engine: str = AUTO, memory: str | int | None = None, **how: Any) -> Table:
    """Return the columns of data; those of files larger than memory are described, and stay where they are."""
    if engine == AUTO:
        engine = choose_engine(data, memory)
    if engine != "disk":
        return read_table(data, **how)
    return stream_table(data, memory=as_bytes(MEMORY if memory is None else memory), store=False, **how)


def _roles(table: Table, protected: tuple[str, ...], output: tuple[str, ...]) -> dict[str, Suggestion]:
    """Return the role of each column: those that are named, and suggestions where none is."""
    roles = suggested_roles(table)
    for role, names in (("protected", protected), ("output", output)):
        parts = [part.strip() for name in names for part in ([name] if name in table else name.split("*"))]
        for part in parts:
            table[part]  # raises with the nearest names
        if not parts:
            continue
        for name, guess in roles.items():
            if guess.role == role or (role == "output" and guess.role == "truth"):
                roles[name] = Suggestion("contextual", "")
        roles |= {part: Suggestion(role, "as named") for part in parts}
    return roles


def _suspicions(table: Table, roles: Mapping[str, Suggestion], declared: Declared) -> Suspicions:
    """Return what speaks against one row a person; columns whose names suggest a role are taken to have it."""
    named = {role: tuple(n for n, s in roles.items() if s.role == role) for role in ("protected", "output", "truth")}
    given = frozenset((*named["output"], *named["truth"]))
    compared = tuple(n for n, column in table.columns.items() if column.kind is not Kind.IDENTIFIER)
    return Suspicions(table, Roles(named["protected"], given, frozenset(), compared), declared)


def _inspect_column(column: Column, suggestion: Suggestion) -> InspectedColumn:
    if column.sets is not None:
        distinct = len(column.sets.items)
    elif column.values is not None:
        distinct = int(np.unique(column.values[~np.isnan(column.values)]).size)
    else:
        distinct = len(column.levels)
    kind = "labels" if column.sets is not None else column.kind.value
    return InspectedColumn(column.name, kind, column.reason, column.missing, distinct, suggestion.role, suggestion.why)


def _pairs(table: Table, protected: Sequence[str], outputs: Sequence[str]) -> Iterator[Pair]:
    for p in protected:
        for o in outputs:
            kinds = [table[n].kind if n in table else Kind.CATEGORICAL for n in (p, o)]
            if Kind.IDENTIFIER not in kinds:
                metric = default_metric(*kinds)
                yield Pair(p, o, metric.name, metric.phrase)


def _notes(table: Table, named: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if not named["protected"]:
        yield "no name suggests a protected attribute. Name one or several with -p."
    if not named["output"]:
        yield "no name suggests the output, what the application did. Name it with -o."
    if table.n_rows < FEW_PEOPLE:
        yield f"{table.n_rows:,} people are few: only large disparities can be confirmed. --train-only says how large."
    for column in table.columns.values():
        marks = [v for v in column.levels if isinstance(v, str) and v.strip().casefold() in MEANT_AS_MISSING]
        if marks and column.codes is not None and column.kind is not Kind.IDENTIFIER:
            number = int(np.isin(column.codes, [column.levels.index(m) for m in marks]).sum())
            shown = " ".join(words_of("--missing", str(m)) for m in marks)
            seen = f"{column.name!r} has {' and '.join(map(repr, marks))} {number:,} times"
            yield f"{seen}. If that means missing, add {shown}."
        if _looks_like_sets(column):
            options = f"{words_of('-o', column.name)} --separator '|'"
            yield f"{column.name!r} looks like sets of labels: see fairtest discover, {options}."
    for name in named["protected"]:
        if name in table and (small := _small_groups(table[name])):
            yield f"{name!r} has groups of fewer than {FEW_IN_GROUP} people, of whom little can be said: {small}."


def _looks_like_sets(column: Column) -> bool:
    several = sum("|" in level for level in column.levels if isinstance(level, str))
    return several > len(column.levels) / 2


def _small_groups(column: Column) -> str:
    if column.codes is None:
        return ""
    sizes = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
    small = [
        f"{level} ({size})" for level, size in zip(column.levels, sizes.tolist(), strict=True) if size < FEW_IN_GROUP
    ]
    return ", ".join(small[:5]) + (", …" if len(small) > 5 else "")


def _command(path: str, table: Table, named: Mapping[str, Sequence[str]]) -> str:
    """Return the command to go on with; capitals stand for what is not known."""
    outputs = list(named["output"])
    predicted = next((o for o in outputs if set(o.casefold().split("_")) & PREDICTED), None)
    truth = next(iter(named["truth"]), None)
    command = "errors" if predicted and truth else "test"
    binary = [o for o in outputs if table[o].kind is Kind.BINARY]
    output = predicted if command == "errors" else next(reversed(binary or outputs), None)
    parts = [f"fairtest {command} {shlex.quote(path)}"]
    parts += [words_of("-p", p) for p in named["protected"]] or ["-p COLUMN"]
    parts.append(words_of("-o", output) if output else "-o COLUMN")
    if command == "errors" and truth:
        parts.append(words_of("--truth", truth))
    elif output and table[output].kind is Kind.BINARY:
        column = table[output]
        assert column.codes is not None
        people = np.bincount(column.codes[column.codes >= 0], minlength=2).tolist()
        value = choose_event(column.levels, people)
        parts.append(words_of("--event", f"{output}={value}"))
    return " ".join(parts)
