"""Labels: what an application attaches to people from a large set, held by label as the people who have it.

Tags of a picture, interests, recommended items: of thousands of labels a person has a few. So a label is kept as the
sorted rows of those who have it, and everything that is counted of it is counted from these and from totals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.streaming.blocks import code_blocks
from fairtest.data.table import FlagColumn
from fairtest.data.variables import Part, Variable
from fairtest.exceptions import InputError, argument, setting, the
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.table import Column, Sets, Table
    from fairtest.types import IntArray

LEVELS = ("no", "yes")


@dataclass(frozen=True, eq=False)
class Labels:
    """Which of the people have which label.

    Attributes
    ----------
    names
        The labels, sorted.
    columns
        The columns of the table that say so.
    starts
        Where the rows of each label begin in ``rows``, and where the last ones end.
    rows
        The rows of the people with the first label, with the second, and so on, each in order.
    missing
        The rows of the people about whom it is not known.
    n_rows
        How many people there are.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    missing: NDArray[np.int32]
    n_rows: int

    def __len__(self) -> int:
        return len(self.names)

    def having(self, place: int) -> NDArray[np.int32]:
        """Return the rows of the people with a label."""
        return self.rows[self.starts[place] : self.starts[place + 1]]

    def codes(self, place: int) -> NDArray[np.int32]:
        """Return for each row 1 where it has a label, 0 where it has not, −1 where that is not known."""
        codes = np.zeros(self.n_rows, dtype=np.int32)
        codes[self.having(place)] = 1
        codes[self.missing] = -1
        return codes

    def people(self, rows: IntArray) -> IntArray:
        """Return how many people of some rows have each label."""
        among = np.zeros(self.n_rows + 1, dtype=np.int64)
        among[rows] = 1
        inside = np.append(0, np.cumsum(among[self.rows]))
        return np.asarray(inside[self.starts[1:]] - inside[self.starts[:-1]])

    def within(self, ends: Sequence[int]) -> list[Labels]:
        """Return the labels of the people in each of consecutive parts of the rows, given where the parts end."""
        many = len(self.names)
        part = np.searchsorted(ends, self.rows, side="right")
        label = np.repeat(np.arange(many), np.diff(self.starts))
        counts = np.bincount(part * many + label, minlength=len(ends) * many).reshape(len(ends), many)
        rows = np.split(self.rows[np.argsort(part, kind="stable")], np.cumsum(counts.sum(axis=1))[:-1])
        missing = np.split(self.missing, np.searchsorted(self.missing, ends)[:-1])
        starts = np.cumsum(np.pad(counts, ((0, 0), (1, 0))), axis=1)
        return [
            replace(self, starts=s, rows=r - np.int32(start), missing=m - np.int32(start), n_rows=end - start)
            for s, r, m, start, end in zip(starts, rows, missing, (0, *ends), ends, strict=False)
        ]

    def only(self, place: int) -> Labels:
        """Return one label alone."""
        having = self.having(place)
        return replace(self, names=(self.names[place],), starts=np.array([0, having.size]), rows=having)

    def variable(self, place: int) -> Variable:
        """Return a label as a binary output: whether a person has it."""
        part = LabelPart(self.columns[0], LEVELS, labels=self, place=place)
        return Variable(self.names[place], Kind.BINARY, (part,), LEVELS, lookup=(0, 1), scores=(0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class LabelPart(Part):
    """Whether a person has a label, as the part of a variable."""

    labels: Labels
    place: int

    def codes(self, table: Table) -> IntArray:
        """Return each row's code, −1 where it is missing."""
        assert table.n_rows == self.labels.n_rows
        return self.labels.codes(self.place)


def label_part(variable: Variable) -> LabelPart | None:
    """Return the label behind a variable, or None if it is not one."""
    part = variable.parts[0]
    return part if isinstance(part, LabelPart) else None


def label_columns(table: Table, output: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold labels; a name with ``*`` or ``?`` that is no column stands for all it fits.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> label_columns(read_table({"tag_a": [0, 1], "tag_b": [1, 0], "age": [3, 4]}), "tag_*")
    ('tag_a', 'tag_b')
    """
    given = [output] if isinstance(output, str) else list(output)
    found: list[str] = []
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"{the('output')} must be the name of a column, or several. Got {name!r} instead.")
        if name not in table and any(c in name for c in "*?"):
            fits = [c for c in table.columns if fnmatchcase(c, name)]
            if not fits:
                raise InputError(
                    f"No column fits the pattern {name!r} of {argument('output')}. Name columns, or another pattern."
                )
            found += fits
        else:
            table[name]  # raises with the nearest names
            found.append(name)
    if not found:
        raise InputError(
            f"{the('output')} must name at least one column of labels: {setting('output', 'labels')}, or "
            f"{setting('output', ['a', 'b'])}."
        )
    return tuple(dict.fromkeys(found))


def labels_of(table: Table, columns: tuple[str, ...], separator: str | None = None) -> Labels:
    """Return the labels of one column of label sets, or of several columns of 0 and 1.

    A column of sets holds lists, or text that is cut at ``separator``. An empty field means that nothing is known of
    a person, and leaves them out; a person without labels is an empty list, or the separator alone. A person with a
    missing value in one of several columns is left out of all.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> tags = labels_of(read_table({"tags": ["cat|dog", "dog", "|", None]}), ("tags",), "|")
    >>> tags.names, tags.codes(1).tolist()
    (('cat', 'dog'), [1, 1, 0, -1])
    """
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise InputError(
            f"{the('separator')} must be the text between two labels, such as '|'. Got {separator!r} instead."
        )
    column = table[columns[0]]
    sets = column.sets if len(columns) == 1 else None
    if len(columns) > 1 or (separator is None and sets is None):
        if separator is not None:
            raise InputError(
                f"{the('separator', article='A')} cuts one column of label sets, and {argument('output')} names "
                f"{len(columns)} columns. Name one, or take out the separator where the columns hold 0 and 1."
            )
        found = _from_flags([table[c] for c in columns], table.n_rows)
    else:
        found = _from_text(column, separator) if sets is None else _from_sets(column.name, sets, table.n_rows)
    if found.missing.size == table.n_rows:
        raise InputError(
            f"Nobody has a value in {'all of the columns' if len(columns) > 1 else 'the column'} of labels "
            f"({', '.join(map(repr, columns[:5]))}{', …' if len(columns) > 5 else ''}). A missing value means that it "
            "is not known whether a person has a label; write 0 where they have not."
        )
    return found


def _from_flags(columns: list[Column], n_rows: int) -> Labels:
    columns = sorted(columns, key=lambda c: c.name)
    people, gone = zip(*map(_read_flags, columns), strict=True)
    missing = np.unique(np.concatenate(gone)).astype(np.int32)
    starts = np.append(0, np.cumsum([rows.size for rows in people])).astype(np.int64)
    names = tuple(c.name for c in columns)
    return _leave_out_unknown(Labels(names, names, starts, np.concatenate(people), missing, n_rows))


def _read_flags(column: Column) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows of a column of 0 and 1 that have the label, and the rows for which it is missing."""
    if isinstance(column, FlagColumn):
        return column.true_rows, column.missing_rows
    if column.is_number or any(not isinstance(level, int) or level not in (0, 1) for level in column.levels):
        text = bool(column.levels) and isinstance(column.levels[0], str)
        cure = f"If it holds sets of labels, name it alone and say what is between them: {setting('separator', '|')}."
        raise InputError(
            f"Column {column.name!r} must say of each person whether they have the label, by 0 and 1 or booleans; it "
            f"is {column.kind.value} ({column.reason}). {cure if text else 'Name other columns.'}"
        )
    one = next((place for place, level in enumerate(column.levels) if level), len(column.levels))
    found = [(np.flatnonzero(c == one) + start, np.flatnonzero(c < 0) + start) for start, c in code_blocks(column)]
    having, gone = (np.concatenate(rows).astype(np.int32) for rows in zip(*found, strict=True))
    return having, gone


def _from_sets(name: str, sets: Sets, n_rows: int) -> Labels:
    row = np.repeat(np.arange(n_rows, dtype=np.int64), np.diff(sets.ends, prepend=0))
    return _leave_out_unknown(_by_label(sets.items, name, row, sets.codes, sets.missing, n_rows))


def _from_text(column: Column, separator: str | None) -> Labels:
    """Return the labels of a column of text: each distinct text is cut once."""
    codes = column.codes
    if codes is None:
        raise InputError(
            f"Column {column.name!r} of labels is numeric ({column.reason}), and label sets are text, such as 'a|b'. "
            f"If its numbers are labels, declare it: {setting('categorical', [column.name])}."
        )
    texts = pl.Series([str(level) for level in column.levels], dtype=pl.String)
    cut = texts.str.split(separator or "")
    pieces = pl.DataFrame({"level": np.arange(len(texts)), "label": cut}).explode("label")
    pieces = pieces.with_columns(pl.col("label").str.strip_chars()).filter(pl.col("label") != "")
    names = pieces["label"].unique().sort()
    label = pieces["label"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int32)
    level = pieces["level"].to_numpy()
    first = np.searchsorted(level, np.arange(len(texts) + 1))
    row, item = _expand_texts(codes, first, label)
    missing = np.flatnonzero(codes < 0).astype(np.int32)
    return _leave_out_unknown(_by_label(tuple(names.to_list()), column.name, row, item, missing, codes.size))


def _expand_texts(
    codes: NDArray[np.int32], first: IntArray, label: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return a row and a label for every label of every row, from the labels of each distinct text."""
    there = np.flatnonzero(codes >= 0)
    begin, many = first[codes[there]], np.diff(first)[codes[there]]
    ends = np.cumsum(many)
    within = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - many, many)
    return np.repeat(there, many), label[np.repeat(begin, many) + within]


def _by_label(
    names: tuple[str, ...],
    column: str,
    row: NDArray[np.int64],
    label: NDArray[np.int32],
    missing: NDArray[np.int32],
    n_rows: int,
) -> Labels:
    """Return labels from pairs of row and label, each pair once."""
    pairs = np.sort(label.astype(np.int64) * n_rows + row)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    starts = np.searchsorted(pairs, np.arange(len(names) + 1) * n_rows)
    return Labels(names, (column,), starts, (pairs % n_rows).astype(np.int32), missing, n_rows)


def _leave_out_unknown(labels: Labels) -> Labels:
    """Return the labels without the people for whom one of them is missing."""
    if not labels.missing.size:
        return labels
    kept = np.ones(labels.n_rows, dtype=bool)
    kept[labels.missing] = False
    inside = kept[labels.rows]
    starts = np.append(0, np.cumsum(inside))[labels.starts]
    return replace(labels, starts=starts, rows=labels.rows[inside])
