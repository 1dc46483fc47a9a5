"""A fingerprint of the data: the same whatever the order of rows and columns and the format they came in."""

from __future__ import annotations

import datetime as dt
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.table import FlagColumn, HashedColumn, row_spans
from fairtest.types import Kind, day_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fairtest.data.table import Column, Sets, Table
    from fairtest.types import Level

BLOCK = 1 << 16
"""How many rows are hashed at a time."""
MANY = 20_000
"""Up to this many texts are hashed one by one with blake2b; more of them, together, with arithmetic on words."""
MISSING = np.uint64(0x9AE16A3B2F90404F)
"""Stands for a missing value: an arbitrary pattern, which must never change."""
# the increment and the two multipliers of SplitMix64 (Steele, Lea and Flood 2014)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


_SPELLED = r"^(0|-?[1-9]\d{0,8}|-?(0|[1-9]\d{0,8})\.\d{0,5}[1-9])$"
"""Text that spells a number in the one way it is written, so that two such texts are two numbers."""


def fingerprint(table: Table) -> str:
    """Return 32 hexadecimal digits that change with any value, any name and any repeated row.

    They do not change with the order of the rows or of the columns, with the format, nor with the kinds of the columns:
    numbers are hashed as numbers, whether they were kept as numbers, as levels or as the text that spells them.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> one = fingerprint(read_table({"a": [1, 2, 3], "b": ["x", "y", None]}))
    >>> two = fingerprint(read_table({"b": [None, "y", "x"], "a": [3.0, 2.0, 1.0]}))
    >>> one == two, len(one)
    (True, 32)
    """
    total, crossed = np.uint64(0), np.uint64(0)
    with np.errstate(over="ignore"):
        for rows in _row_hashes(table):
            # a sum and an exclusive or, neither of which depends on the order of rows
            total += rows.sum(dtype=np.uint64)
            crossed ^= np.bitwise_xor.reduce(mix_bits(rows + GOLDEN))
        names = sum(_name_hashes(table), np.uint64(0))
        shape = mix_bits(np.array([table.n_rows, len(table.columns)], dtype=np.uint64) + names)
        return f"{int(total + shape[0]):016x}"[-16:] + f"{int(crossed ^ shape[1]):016x}"


def fingerprint_in_order(table: Table) -> str:
    """Return 32 hexadecimal digits like those of :func:`fingerprint` that change with the order of the rows too.

    The split goes by position: the same people in another order are divided in another way.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> one, two = read_table({"a": [1, 2, 3]}), read_table({"a": [3, 2, 1]})
    >>> fingerprint(one) == fingerprint(two), fingerprint_in_order(one) == fingerprint_in_order(two)
    (True, False)
    """
    digest = blake2b(digest_size=16)
    for rows in _row_hashes(table):
        digest.update(rows.astype("<u8").tobytes())
    return digest.hexdigest()


def _row_hashes(table: Table) -> Iterator[NDArray[np.uint64]]:
    """Yield the hashes of the rows, in order, a block at a time: whatever the order of the columns."""
    names = _name_hashes(table)
    salted = [_level_hashes(column, salt) for column, salt in zip(table.columns.values(), names, strict=True)]
    with np.errstate(over="ignore"):
        for start, stop in row_spans(table.n_rows, BLOCK):
            rows = np.zeros(stop - start, dtype=np.uint64)
            for column, salt, hashes in zip(table.columns.values(), names, salted, strict=True):
                if isinstance(column, FlagColumn):
                    _add_flags(rows, column, start, hashes)
                else:
                    rows += _column_hashes(column.slice(start, stop), salt, hashes)
            yield mix_bits(rows)


def _name_hashes(table: Table) -> list[np.uint64]:
    return list(_digests([b"name:" + name.encode("utf-8", "surrogatepass") for name in table.columns]))


def _column_hashes(column: Column, salt: np.uint64, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the hash of each row's value, salted with the column's name."""
    if isinstance(column, HashedColumn):
        return mix_bits(column.bits ^ salt)
    if column.sets is not None:
        return _set_hashes(column.sets, salt)
    if column.codes is not None:
        return hashes.take(column.codes)  # −1 is the last: missing
    assert column.values is not None
    return mix_bits(number_bits(column.values) ^ salt)


def _set_hashes(sets: Sets, salt: np.uint64) -> NDArray[np.uint64]:
    """Return the hash of each row's set: whatever the order of its items, and however often they are named."""
    kinds = max(len(sets.items), 1)
    rows = np.repeat(np.arange(sets.ends.size), np.diff(sets.ends, prepend=0))
    row, item = np.divmod(np.unique(rows * kinds + sets.codes), kinds)
    totals = np.full(sets.ends.size, salt)
    np.add.at(totals, row, mix_bits(_levels_bits(sets.items) ^ salt)[item])
    totals[sets.missing] = MISSING ^ salt
    return mix_bits(totals)


def _add_flags(rows: NDArray[np.uint64], column: FlagColumn, start: int, hashes: NDArray[np.uint64]) -> None:
    """Add the hashes of a column of flags: those of the frequent level to all, the difference to the others."""
    rows += hashes[0]
    for at, own in ((column.true_rows, hashes[1]), (column.missing_rows, hashes[-1])):
        first, last = np.searchsorted(at, (start, start + BLOCK))
        rows[at[first:last] - start] += own - hashes[0]


def _level_hashes(column: Column, salt: np.uint64) -> NDArray[np.uint64]:
    """Return the salted hash of each level, and of a missing value at the end."""
    if column.kind is Kind.NUMERIC:
        return np.empty(0, dtype=np.uint64)
    bits = np.append(_levels_bits(column.levels), MISSING)
    return mix_bits(bits ^ salt)


def _levels_bits(levels: tuple[Level, ...]) -> NDArray[np.uint64]:
    if not all(isinstance(level, str) for level in levels):
        return number_bits(np.array([_as_number(level) for level in levels], dtype=np.float64))
    texts = pl.Series(levels, dtype=pl.String)
    return text_bits(texts, len(levels), longest_text(texts))


def longest_text(texts: pl.Series) -> int:
    """Return the length of the longest text in bytes, 0 where there is none."""
    longest = texts.str.len_bytes().max()
    return longest if isinstance(longest, int) else 0


def _as_number(level: Level) -> float:
    return day_number(level) if isinstance(level, dt.date) else float(level)


def number_bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bits of each number, one pattern for zero and one for a missing number."""
    bits = (values + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    return np.where(np.isnan(values), MISSING, bits)


def text_bits(texts: pl.Series, distinct: int, longest: int) -> NDArray[np.uint64]:
    """Return the bits of each text: those of the number it spells, or a hash.

    The hash is blake2b, or arithmetic on whole words where there are very many short texts: how many in all, and how
    long the longest is in bytes, decides for all of them.
    """
    encoded = [text.encode() for text in texts.to_list()]
    width = longest // 8 * 8 + 8
    bits = _digests(encoded) if distinct <= MANY or width > 256 else _words(encoded, width)
    spelled = texts.str.contains(_SPELLED)
    if spelled.any():
        bits[spelled.to_numpy()] = number_bits(texts.filter(spelled).cast(pl.Float64).to_numpy())
    return bits


def _digests(texts: list[bytes]) -> NDArray[np.uint64]:
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _words(texts: list[bytes], width: int) -> NDArray[np.uint64]:
    padded = np.array(texts, dtype=f"S{width}").view("<u8").reshape(len(texts), -1)
    hashes = np.array([len(text) for text in texts], dtype=np.uint64)
    with np.errstate(over="ignore"):
        for word in range(padded.shape[1]):
            hashes = mix_bits((hashes ^ padded[:, word]) + GOLDEN)
    return hashes


def mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of SplitMix64 of each number: every bit of the input affects every bit of the output."""
    mixed = values ^ (values >> _S30)
    mixed *= _FIRST
    mixed ^= mixed >> _S27
    mixed *= _SECOND
    mixed ^= mixed >> _S31
    return mixed
