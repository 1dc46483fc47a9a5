"""Tables for a terminal: every line of a table is equally wide, whatever the alphabet."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable
from fairtest.model.names import PLAIN_NAMES
from fairtest.numbers import count, quantity, rate
from fairtest.reporting.words.phrases import fit_at, line_words, shared_decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import GroupTable, Table
    from fairtest.model.names import Names
    from fairtest.types import Level

_LONGEST_NAME = 28
_MOST_ROWS = 40
_NUMBERS = ("mean", "deviation", "min", "q1", "median", "q3", "max")


def table_lines(table: Table, width: int, names: Names = PLAIN_NAMES) -> list[str]:
    """Return a finding's table: counts with their shares, or a number described by group."""
    if isinstance(table, CountTable):
        return _count_lines(table, width, names)
    return _group_lines(table, width, names)


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_columns_of(character) for character in text)


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def draw_table(head: Sequence[str], body: Sequence[Sequence[str]], foot: Sequence[Sequence[str]] = ()) -> list[str]:
    """Return rows of cells as lines: the first column to the left, the others to the right."""
    rows = [head, *body, *foot]
    widths = [max(display_width(row[i]) for row in rows) for i in range(len(head))]
    rule = "─┼─".join("─" * w for w in widths)
    lines = [_line(head, widths), rule, *(_line(row, widths) for row in body)]
    return lines + ([rule, *(_line(row, widths) for row in foot)] if foot else [])


def fold_table(head: Sequence[str], body: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return a table whose columns go on below where they do not fit beside each other."""
    columns = [list(column) for column in zip(head, *body, strict=True)]
    lines: list[str] = []
    for block in _blocks(columns[1:], columns[0], width):
        first, *rest = zip(columns[0], *block, strict=True)
        lines += ([""] if lines else []) + draw_table(first, rest)
    return lines


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [pad(cell, w, left=i == 0) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
    return " │ ".join(cells)


def pad(text: str, width: int, *, left: bool = True) -> str:
    """Return text with spaces to a number of columns, itself to the left or to the right."""
    space = " " * (width - display_width(text))
    return text + space if left else space + text


def shorten(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return text that takes no more than so many columns, an ellipsis at its end where it was cut."""
    if display_width(text) <= longest:
        return text
    kept = ""
    for character in text:
        if display_width(kept + character) > longest - 1:
            break
        kept += character
    return kept + "…"


def _name(names: Names, column: str, value: Level) -> str:
    return shorten(names.short(column, value))


def _more(number: int) -> list[str]:
    return [f"(and {count(number)} more groups, in the JSON report)"] if number > 0 else []


# Counts ---------------------------------------------------------------------------------------------------------


def count_cells(table: CountTable) -> list[list[str]]:
    """Return counts with their shares: a row for each output and one for the sizes, in each a cell for each group.

    The last cell of a row is that of everybody. Shares are of the group; those of the sizes are of everybody.
    """
    sizes, everybody = [*table.sizes, sum(table.sizes)], [sum(table.sizes)] * (len(table.sizes) + 1)
    outputs = [([*row, sum(row)], sizes) for row in table.counts]
    return [
        [f"{count(n)} ({rate(n / of if of else None)})" for n, of in zip(row, wholes, strict=True)]
        for row, wholes in (*outputs, (sizes, everybody))
    ]


def _count_lines(table: CountTable, width: int, names: Names) -> list[str]:
    """Return the contingency table: groups across as in the paper, or down the side where they do not fit."""
    cells = count_cells(table)
    outputs = [_name(names, table.output, value) for value in table.rows]
    groups = [_name(names, table.protected, group) for group in table.columns]
    side = [shorten(names.written(table.output)), *outputs, "Total"]
    columns = [[name, *column] for name, column in zip([*groups, "Total"], zip(*cells, strict=True), strict=True)]
    across = _draw_counts(side, columns)
    if display_width(across[0]) <= width:
        return across
    shown = groups[:_MOST_ROWS]
    side = [shorten(names.written(table.protected)), *shown, "Total"]
    columns = [[name, *row[: len(shown)], row[-1]] for name, row in zip([*outputs, names.people], cells, strict=True)]
    lines: list[str] = []
    for block in _blocks(columns, side, width):
        lines += ([""] if lines else []) + _draw_counts(side, block)
    return lines + _more(len(groups) - len(shown))


def _draw_counts(side: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """Return a table from its columns; its last line is the total."""
    head, *body, foot = zip(side, *map(_align_brackets, columns), strict=True)
    return draw_table(head, body, [foot])


def _align_brackets(column: Sequence[str]) -> list[str]:
    """Return a column of counts with the brackets around the shares below each other."""
    parts = [cell.partition(" (") for cell in column[1:]]
    widest = max(display_width(share) for *_, share in parts)
    return [column[0], *(f"{number} ({pad(share, widest, left=False)}" for number, _, share in parts)]


def _blocks(columns: Sequence[list[str]], side: Sequence[str], width: int) -> list[list[list[str]]]:
    """Return the columns in blocks that fit beside the names; brackets in line may take two places more."""
    room = width - max(map(display_width, side))
    blocks: list[list[list[str]]] = [[]]
    used = 0
    for column in columns:
        wide = 5 + max(map(display_width, column))
        if blocks[-1] and used + wide > room:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += wide
    return blocks


# Numbers --------------------------------------------------------------------------------------------------------


def _group_lines(table: GroupTable, width: int, names: Names) -> list[str]:
    """Return a number by group: people, mean, spread and quantiles, as many as fit."""
    groups = table.rows[:_MOST_ROWS]
    decimals, has_fit = shared_decimals(groups), table.line is not None
    rows = [[shorten(names.written(table.by)), names.people, *_NUMBERS, *(["fitted"] if has_fit else [])]]
    for group in groups:
        numbers = [group.mean, group.deviation, *(group.quantiles or (None,) * 5)]
        numbers += [fit_at(table, group)] if has_fit else []
        name = _name(names, table.by, group.name)
        rows.append([name, count(group.n_people), *(quantity(n, decimals) for n in numbers)])
    lines = draw_table(rows[0], rows[1:])
    if display_width(lines[0]) > width:
        head, *body = [[*row[:3], row[2 + _NUMBERS.index("median")]] for row in rows]
        lines = draw_table(head, body)
    caption = f"{names.written(table.measured)} by {names.written(table.by)}"
    caption += f"; fitted line: {line_words(table, names)}" if has_fit else ""
    return [*textwrap.wrap(caption, width), *lines, *_more(len(table.rows) - len(groups))]
