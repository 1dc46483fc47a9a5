"""Groups of people with a number each, reduced to sums: what one-way tests and intervals read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Groups:
    """Central sums of a numeric output, contexts × groups or contexts × strata × groups.

    Attributes
    ----------
    n
        The number of people; 0 for a group that is absent.
    mean
        The mean of the group (anything finite or NaN where it is absent).
    s2, s3, s4
        The sums of squares, cubes and fourth powers of the deviations from the mean of the group.
    """

    n: FloatArray | IntArray
    mean: FloatArray
    s2: FloatArray
    s3: FloatArray
    s4: FloatArray


@dataclass(frozen=True)
class Layout:
    """The groups that carry information, as contexts × strata × groups; 0 for whatever is absent.

    Strata with a single group carry none and are emptied.

    Attributes
    ----------
    deviation
        The mean of the group minus the mean of its stratum.
    """

    n: FloatArray
    deviation: FloatArray
    s2: FloatArray
    s3: FloatArray
    s4: FloatArray

    @classmethod
    def from_groups(cls, groups: Groups) -> Layout:
        """Lay out groups with or without strata."""
        n = np.asarray(groups.n, dtype=np.float64)
        if n.ndim == 2:
            n = n[:, None, :]
        used = (n > 0) & ((n > 0).sum(axis=2, keepdims=True) > 1)
        fields = (groups.n, groups.mean, groups.s2, groups.s3, groups.s4)
        n, mean, s2, s3, s4 = (np.where(used, np.asarray(v, dtype=np.float64).reshape(n.shape), 0.0) for v in fields)
        size = np.maximum(n.sum(axis=2, keepdims=True), 1.0)
        deviation = np.where(used, mean - (n * mean).sum(axis=2, keepdims=True) / size, 0.0)
        return cls(n, deviation, s2, s3, s4)

    def take(self, at: FloatArray | IntArray | BoolArray) -> Layout:
        """Return some of the contexts."""
        return Layout(*(values[at] for values in self._fields))

    @property
    def _fields(self) -> tuple[FloatArray, ...]:
        return self.n, self.deviation, self.s2, self.s3, self.s4

    @property
    def between(self) -> FloatArray:
        """The variation between the groups of each stratum."""
        return np.asarray((self.n * self.deviation**2).sum(axis=2))

    @property
    def total(self) -> FloatArray:
        """All variation of each stratum."""
        return np.asarray(self.between + self.s2.sum(axis=2))

    def over_strata(self) -> Layout:
        """Return the groups in one stratum, of numbers less the mean of their stratum."""
        return Layout(*(values[:, None] for values in _join(self._fields, axis=1)))

    def merge(self, merged: BoolArray) -> Layout:
        """Return the groups ``[context, group]`` that are marked as one, after all others."""
        at = merged[:, None, :]
        apart = (np.where(at, 0.0, values) for values in self._fields)
        joined = _join(tuple(np.where(at, values, 0.0) for values in self._fields), axis=2)
        n, *rest = (np.concatenate((a, b[..., None]), axis=2) for a, b in zip(apart, joined, strict=True))
        used = (n > 0).sum(axis=2, keepdims=True) > 1
        return Layout(*(np.where(used, values, 0.0) for values in (n, *rest)))


def _join(fields: tuple[FloatArray, ...], axis: int) -> tuple[FloatArray, ...]:
    """Return people, mean and central sums of everybody along an axis, from those of its parts."""
    n, deviation, s2, s3, s4 = fields
    size = n.sum(axis=axis)
    mean = (n * deviation).sum(axis=axis) / np.maximum(size, 1.0)
    b = np.where(n > 0, deviation - np.expand_dims(mean, axis), 0.0)
    second = s2 + n * b**2
    third = s3 + 3 * b * s2 + n * b**3
    fourth = s4 + 4 * b * s3 + 6 * b**2 * s2 + n * b**4
    return size, mean, second.sum(axis=axis), third.sum(axis=axis), fourth.sum(axis=axis)


def merge_small_groups(layout: Layout, least: int) -> Layout:
    """Put groups of fewer than ``least`` people together, with the next larger ones until they have that many.

    Never the largest group. If all groups have the same mean, so do some of them together; and unlike two or three
    people, those together show how far their numbers spread. Groups of the same size are treated alike, so that nothing
    hangs on their order.

    Examples
    --------
    >>> n = np.array([[[60.0, 3.0, 4.0, 30.0]], [[60.0, 20.0, 20.0, 30.0]], [[60.0, 2.0, 0.0, 0.0]]])
    >>> merge_small_groups(Layout(n, *[np.zeros_like(n)] * 4), 10).n.sum(axis=1).astype(int)
    array([[60,  0,  0,  0, 37],
           [60, 20, 20, 30,  0],
           [60,  2,  0,  0,  0]])
    """
    people = layout.n.sum(axis=1)
    order = np.sort(people, axis=1)
    before = np.concatenate((np.zeros((len(order), 1)), np.cumsum(order, axis=1)), axis=1)
    smaller = (people[:, :, None] > people[:, None, :]).sum(axis=2)
    together = np.take_along_axis(before, smaller, axis=1)  # the people of all smaller groups
    tiny = (people > 0) & (people < least)
    small = (tiny | (together < least)) & (people > 0) & (people < order[:, -1:])
    merged = small & tiny.any(axis=1, keepdims=True) & (small.sum(axis=1, keepdims=True) > 1)
    return layout.merge(merged) if merged.any() else layout
