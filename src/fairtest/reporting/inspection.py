"""A first look at a table: what its columns hold, which roles they may have, and how to go on."""

from __future__ import annotations

import json
import shlex
import textwrap
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtest.model.names import clean_line
from fairtest.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST_NAME = 28


@dataclass(frozen=True)
class InspectedColumn:
    """One column: its kind and why it has it, how full and how varied it is, and the role its name suggests."""

    name: str
    kind: str
    reason: str
    missing: int
    distinct: int
    role: str
    why: str


@dataclass(frozen=True)
class Pair:
    """The metric for a protected attribute and an output: its name, and what it measures."""

    protected: str
    output: str
    metric: str
    phrase: str


@dataclass(frozen=True)
class Inspection:
    """What :func:`fairtest.inspect` found; prints itself.

    Attributes
    ----------
    pairs
        The metric for each suggested (or named) protected attribute and output.
    notes
        What a reader should know before going on.
    command
        The command to go on with.
    """

    name: str
    rows: int
    columns: tuple[InspectedColumn, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    command: str

    def to_text(self, width: int = 100) -> str:
        """Return it for a terminal."""
        return "\n".join(line.rstrip() for line in self._lines(width)) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return it as dictionaries, lists, texts and numbers."""
        return asdict(self)

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    def going_on_with(self, options: Sequence[str]) -> Inspection:
        """Return it with more options in the command to go on with."""
        return replace(self, command=" ".join((self.command, *options)))

    def __str__(self) -> str:
        return self.to_text()

    def _lines(self, width: int) -> Iterator[str]:
        yield f"{clean_line(self.name)}: {count(self.rows)} people, {count(len(self.columns))} columns"
        yield ""
        rows = [("column", "kind", "missing", "distinct", "role", "why this kind; why this role")]
        rows += [_cells(column, self.rows) for column in self.columns]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        indent = " " * (sum(widths) + 10)
        for row in rows:
            *cells, why = row
            start = "".join(f"{c:{side}{w}}  " for c, side, w in zip(cells, "<<>><", widths, strict=True))
            yield from textwrap.wrap(why, max(width, len(indent) + 24), initial_indent=start, subsequent_indent=indent)
        if self.pairs:
            yield ""
            yield "Measured by, unless --metric says otherwise:"
            for pair in self.pairs:
                yield f"  {clean_line(pair.protected)} → {clean_line(pair.output)}: {pair.metric}, {pair.phrase}"
        for note in self.notes:
            yield ""
            yield from textwrap.wrap(f"Note: {note}", width, subsequent_indent="      ")
        yield ""
        yield "Roles are guesses from names; you decide. To go on:"
        yield f"  {self.command}"


def _cells(column: InspectedColumn, rows: int) -> tuple[str, str, str, str, str, str]:
    name = clean_line(column.name)
    missing = f"{count(column.missing)} ({100 * column.missing / rows:.0f} %)" if column.missing else "0"
    return (
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…",
        column.kind,
        missing,
        count(column.distinct),
        column.role,
        "; ".join(part for part in (clean_line(column.reason), column.why) if part),
    )


def words_of(option: str, value: str) -> str:
    """Return an option with its value as it is typed in a shell.

    Examples
    --------
    >>> words_of("-o", "hired this year")
    "-o 'hired this year'"
    """
    return f"{option} {shlex.quote(value)}"
