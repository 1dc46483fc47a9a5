"""Which findings say the same thing."""

from __future__ import annotations

import numpy as np

from fairtest.model.context import Context, Op, Predicate
from fairtest.ranking.folding import fold


def people(*ranges: range) -> np.ndarray:
    """Return the members of contexts that hold the people of given ranges, of 640 in all."""
    rows = np.zeros((len(ranges), 640), dtype=np.uint8)
    for row, inside in zip(rows, ranges, strict=True):
        row[list(inside)] = 1
    return np.packbits(rows, axis=1).view(np.uint64)


def contexts(*predicates: int) -> list[Context]:
    """Return contexts of so many predicates each."""
    return [Context.of(Predicate(f"c{i}{j}", Op.IS, "x") for j in range(count)) for i, count in enumerate(predicates)]


def groups(inside, *, lengths=None, sign=None, bound=None):
    """Fold contexts with falling bounds."""
    k = len(inside)
    return fold(
        contexts(*(lengths or [1] * k)),
        people(*inside),
        np.array(sign or [1.0] * k),
        np.array(bound or np.linspace(1, 0.95, k)),
    )


def test_near_copies_join_the_strongest():
    assert groups([range(100), range(20, 110), range(200, 300)]) == [[0, 1], [2]]


def test_the_simplest_of_near_copies_is_shown_if_it_is_nearly_as_strong():
    assert groups([range(100), range(110)], lengths=[3, 1]) == [[1, 0]]
    assert groups([range(100), range(110)], lengths=[3, 1], bound=[1.0, 0.8]) == [[0, 1]]


def test_half_of_the_people_is_no_copy():
    assert groups([range(100), range(50, 150)]) == [[0], [1]]


def test_contexts_of_another_direction_are_no_copies():
    assert groups([range(100), range(100)], sign=[1.0, -1.0]) == [[0], [1]]
