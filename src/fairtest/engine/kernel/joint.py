"""Many contexts on the same attributes at once: one joint table of their codes, then sums along its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.engine.contract import Profiles, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.types import BoolArray, FloatArray, IntArray


def membership(conditions: Sequence[Condition], size: int) -> FloatArray:
    """Return the matrix ``[condition, code]`` that is 1 where a code satisfies a condition."""
    matrix = np.zeros((len(conditions), size))
    for row, condition in enumerate(conditions):
        matrix[row, list(condition.codes)] = 1.0
    return matrix


def among(codes: NDArray[np.uint8], condition: Condition) -> BoolArray:
    """Return which codes satisfy a condition.

    Most conditions are a run of codes, for which comparing is several times faster than looking up.

    Examples
    --------
    >>> from fairtest.data.axes import Condition
    >>> among(np.array([0, 1, 2, 3], dtype=np.uint8), Condition("age", (1, 2)))
    array([False,  True,  True, False])
    """
    wanted = sorted(condition.codes)
    if wanted and wanted[-1] - wanted[0] == len(wanted) - 1:
        return (codes >= wanted[0]) & (codes <= wanted[-1])
    member = np.zeros(256, dtype=bool)
    member[wanted] = True
    return member[codes]


def pack_bits(mask: BoolArray) -> NDArray[np.uint64]:
    """Return a bit for each entry, the last word filled up with zeros."""
    bits = np.zeros((mask.size + 63) // 64 * 8, dtype=np.uint8)
    some = np.packbits(mask)
    bits[: some.size] = some
    return bits.view(np.uint64)


def collapse(table: NDArray[Any], matrices: Sequence[FloatArray]) -> NDArray[Any]:
    """Return sums over conditions ``[condition of axis 1, condition of axis 2, …, cell…]`` of a joint table.

    Counts are whole numbers below 2⁵³ and other sums multiples of a power of two, so that adding and subtracting them
    as floating-point numbers is exact, in whatever order that is done.

    Examples
    --------
    >>> collapse(np.array([5, 7, 9]), [np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])])
    array([12, 16])
    """
    sums = table
    for axis, matrix in sorted(enumerate(matrices), key=lambda m: m[1].shape[0] / m[1].shape[1]):
        many = np.count_nonzero(matrix, axis=1)
        first = matrix.argmax(axis=1)
        if (many == 1).all():
            sums = _take_codes(sums, first, axis)
        elif _are_runs(matrix, first, many):
            sums = _between(sums, first, first + many, axis)
        else:
            sums = np.moveaxis(np.tensordot(matrix, sums.astype(np.float64), axes=(1, axis)), 0, axis)
    return np.rint(sums).astype(table.dtype) if table.dtype.kind in "iu" and sums.dtype.kind == "f" else sums


def _are_runs(matrix: FloatArray, first: IntArray, many: IntArray) -> bool:
    """Whether every condition is a run of codes, as thresholds are."""
    last = matrix.shape[1] - 1 - matrix[:, ::-1].argmax(axis=1)
    return bool((last - first + 1 == many).all())


def _between(sums: NDArray[Any], first: IntArray, end: IntArray, axis: int) -> NDArray[Any]:
    """Return the sums over runs of codes along an axis: what lies below the end less what lies below the first."""
    shape = list(sums.shape)
    shape[axis] += 1
    below = np.zeros(shape, dtype=sums.dtype)
    place = (slice(None),) * axis
    np.cumsum(sums, axis=axis, out=below[(*place, slice(1, None))])
    between = below.take(end, axis=axis)
    between -= below.take(first, axis=axis)
    return between


def _take_codes(sums: NDArray[Any], codes: IntArray, axis: int) -> NDArray[Any]:
    """Return the entries of single codes along an axis."""
    if codes.size == sums.shape[axis] and (codes == np.arange(codes.size)).all():
        return sums
    return sums.take(codes, axis=axis)


def distinct(columns: Sequence[NDArray[Any]], n_rows: int) -> tuple[NDArray[np.intp], IntArray]:
    """Return the first of each kind of row, kinds in the order of the columns' values, and how many there are of it.

    Examples
    --------
    >>> distinct([np.array([7, 3, 7, 7]), np.array([0.5, 0.5, 0.5, 0.1])], 4)
    (array([1, 3, 0]), array([1, 1, 2]))
    """
    _, first, people = np.unique(_kinds(columns, n_rows), return_index=True, return_counts=True)
    return first, people


def merge_profiles(parts: Sequence[Profiles]) -> Profiles:
    """Return the kinds of people of several partitions together, in the order that :func:`distinct` gives."""
    codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes}
    seen = [
        [np.concatenate([getattr(part.seen[k], name) for part in parts]) for name in ("stratum", "protected", "output")]
        for k in range(len(parts[0].seen))
    ]
    people = np.concatenate([part.people for part in parts])
    kind = _kinds([*codes.values(), *(column for columns in seen for column in columns)], people.size)
    _, first, place = np.unique(kind, return_index=True, return_inverse=True)
    total = np.zeros(first.size, dtype=np.int64)
    np.add.at(total, place, people)
    return Profiles(
        total,
        {name: code[first] for name, code in codes.items()},
        [Rows(protected[first], output[first], stratum[first], {}) for stratum, protected, output in seen],
    )


def _kinds(columns: Sequence[NDArray[Any]], n_rows: int) -> NDArray[np.int64]:
    """Return a number for each row, equal for equal rows and in the order of the columns' values."""
    kind = np.zeros(n_rows, dtype=np.int64)
    kinds = 1
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        if kinds * values.size > np.iinfo(np.int64).max:
            present, kind = np.unique(kind, return_inverse=True)
            kinds = present.size
        kind = kind * values.size + place
        kinds *= values.size
    return kind
