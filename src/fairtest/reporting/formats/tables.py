"""Tables for a terminal: every line of a table is equally wide, whatever the alphabet."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable
from fairtest.model.names import Names
from fairtest.numbers import count, quantity, rate
from fairtest.reporting.words.phrases import fit_at, line_words, shared_decimals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtest.model.finding import Group, GroupTable, Table
    from fairtest.types import Level

_LONGEST_NAME = 28
_MOST_ROWS = 40
_QUANTILES = ("min", "q1", "median", "q3", "max")


def table_lines(table: Table, width: int, names: Names | None = None) -> list[str]:
    """Return a finding's table: counts with their shares, or a number described by group."""
    if isinstance(table, CountTable):
        return _count_lines(table, width, names or Names())
    return _group_lines(table, width, names or Names())


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
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


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [_padded(cell, w, left=i == 0) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
    return " │ ".join(cells)


def _padded(text: str, width: int, *, left: bool) -> str:
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


# Counts ---------------------------------------------------------------------------------------------------------


def _count_lines(table: CountTable, width: int, names: Names) -> list[str]:
    """Return the contingency table: groups across as in the paper, or down the side where they do not fit."""
    across = _groups_across(table, names)
    if display_width(across[0]) <= width:
        return across
    return _groups_down(table, width, names)


def _groups_across(table: CountTable, names: Names) -> list[str]:
    sizes, everyone = table.sizes, sum(table.sizes)
    groups = [_name(names, table.protected, group) for group in table.columns]
    head = [shorten(names.written(table.output)), *groups, "Total"]
    body = []
    for i, row in enumerate(table.counts):
        shares = [*table.shares(i), _share(sum(row), everyone)]
        body.append([_name(names, table.output, table.rows[i]), *_cells_of([*row, sum(row)], shares)])
    foot = [["Total", *_cells_of([*sizes, everyone], [_share(n, everyone) for n in (*sizes, everyone)])]]
    return draw_table(head, *_aligned(body, foot))


def _cells_of(counts: Sequence[int], shares: Sequence[float | None]) -> list[str]:
    return [f"{count(n)} ({rate(share)})" for n, share in zip(counts, shares, strict=True)]


def _aligned(body: list[list[str]], foot: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the cells with the brackets of one column below each other."""
    rows = [*body, *foot]
    for i in range(1, len(rows[0])):
        widest = max(display_width(row[i].partition(" (")[2]) for row in rows)
        for row in rows:
            number, _, share = row[i].partition(" (")
            row[i] = f"{number} ({_padded(share, widest, left=False)}"
    return body, foot


def _groups_down(table: CountTable, width: int, names: Names) -> list[str]:
    """Return one line for each group, the outputs in as many blocks as the width asks for."""
    sizes, everyone = table.sizes, sum(table.sizes)
    shown = range(min(len(table.columns), _MOST_ROWS))
    groups = [_name(names, table.protected, table.columns[g]) for g in shown]
    side = [shorten(names.written(table.protected)), *groups, "Total"]
    columns = [
        [
            _name(names, table.output, value),
            *_down(row, sizes, shown),
            *_cells_of([sum(row)], [_share(sum(row), everyone)]),
        ]
        for value, row in zip(table.rows, table.counts, strict=True)
    ]
    columns.append(
        [names.people, *_down(sizes, [everyone] * len(sizes), shown), *_cells_of([everyone], [_share(1, 1)])]
    )
    lines: list[str] = []
    for block in _blocks(columns, side, width):
        head, *body, foot = [list(row) for row in zip(side, *block, strict=True)]
        lines += ([""] if lines else []) + draw_table(head, *_aligned(body, [foot]))
    return lines + _more(len(table.columns) - len(shown))


def _down(counts: Sequence[int], sizes: Sequence[int], shown: Iterable[int]) -> list[str]:
    groups = list(shown)
    return _cells_of([counts[g] for g in groups], [_share(counts[g], sizes[g]) for g in groups])


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


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


def _more(number: int) -> list[str]:
    return [f"(and {count(number)} more groups, in the JSON report)"] if number > 0 else []


# Numbers --------------------------------------------------------------------------------------------------------


def _group_lines(table: GroupTable, width: int, names: Names) -> list[str]:
    """Return a number by group: people, mean, spread and quantiles, as many as fit."""
    rows = table.rows[:_MOST_ROWS]
    decimals = shared_decimals(rows)
    fit = ["fitted"] if table.line is not None else []
    full = draw_table(
        [shorten(names.written(table.by)), names.people, "mean", "deviation", *_QUANTILES, *fit],
        [
            [*_described(names, table.by, group, decimals), *(quantity(fit_at(table, group), decimals) for _ in fit)]
            for group in rows
        ],
    )
    caption = f"{names.written(table.measured)} by {names.written(table.by)}"
    if fit:
        caption += f"; fitted line: {line_words(table, names)}"
    if full and display_width(full[0]) > width:
        full = draw_table(
            [shorten(names.written(table.by)), names.people, "mean", "median"],
            [
                [*_described(names, table.by, group, decimals)[:3], _described(names, table.by, group, decimals)[6]]
                for group in rows
            ],
        )
    return [*textwrap.wrap(caption, width), *full, *_more(len(table.rows) - len(rows))]


def _described(names: Names, by: str, group: Group, decimals: int) -> list[str]:
    quantiles = group.quantiles or (None,) * 5
    numbers = (group.mean, group.deviation, *quantiles)
    return [_name(names, by, group.name), count(group.size), *(quantity(n, decimals) for n in numbers)]
