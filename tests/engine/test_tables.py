"""Counting many contexts at once gives what looking at every person gives, whichever way is taken."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.data.axes import Axis, Condition
from fairtest.engine.kernel import descent, tables
from fairtest.engine.kernel.histogram import Cells
from fairtest.engine.kernel.tables import count_contexts

SIZES = {"a": 5, "b": 3, "c": 9}
N_CELLS = 4


class Target:
    """As much of a target as counting needs: four cells of plain counts, or of two sums each."""

    n_cells, cell_shape = N_CELLS, (1, 2, 2)

    def __init__(self, sums: int = 0) -> None:
        self.sum_shape = (1 + sums,) if sums else ()
        self.pieces = 1


class Crowd:
    def __init__(self, codes, cells):
        self._codes, self.cells = codes, cells

    def codes(self, axis):
        return self._codes[axis.column]

    def keys(self, axes, n_cells):
        index = np.zeros(self.cells.cell.size, dtype=np.intp)
        for axis in axes:
            index = index * axis.size + self.codes(axis)
        return index * n_cells + self.cells.cell

    def take(self, at):
        return Crowd({name: c[at] for name, c in self._codes.items()}, self.cells.take(at))


def crowd(rng, people, sums=0):
    codes = {name: rng.integers(0, size, people).astype(np.uint8) for name, size in SIZES.items()}
    terms = [rng.integers(-8, 9, people) / 8 for _ in range(sums)]
    return Crowd(codes, Cells(np.ones(people, bool), rng.integers(0, N_CELLS, people).astype(np.int32), terms))


def axis_of(name):
    return Axis(name, SIZES[name])


def contexts(rng, many):
    made = [()]
    for _ in range(many):
        chosen = rng.choice(list(SIZES), rng.integers(1, 4), replace=bool(rng.random() < 0.2))
        made.append(tuple(_condition(rng, str(name)) for name in chosen))
    return made


def _condition(rng, name):
    size = SIZES[name]
    some = rng.choice(size, rng.integers(0, size), replace=False) if rng.random() < 0.5 else [rng.integers(size)]
    return Condition(name, tuple(int(c) for c in some))


def one_by_one(people, asked, target):
    out = []
    for context in asked:
        inside = np.ones(people.cells.cell.size, dtype=bool)
        for condition in context:
            inside &= np.isin(people.codes(axis_of(condition.column)), condition.codes)
        cell = people.cells.cell[inside]
        sums = [np.bincount(cell, minlength=N_CELLS)]
        sums += [np.bincount(cell, weights=t[inside], minlength=N_CELLS) for t in people.cells.terms]
        shape = (*target.cell_shape, *target.sum_shape)
        out.append(np.stack(sums, axis=-1).reshape(shape) if target.sum_shape else sums[0].reshape(shape))
    return np.array(out)


@pytest.mark.parametrize("sums", [0, 2])
@pytest.mark.parametrize("cheap", ["joint", "single", "product", "prefixes", "descent"])
@pytest.mark.parametrize("people", [1, 64, 1000])
def test_as_one_by_one(monkeypatch, people, cheap, sums):
    monkeypatch.setattr(tables, "BLOCK", 300)
    monkeypatch.setattr(tables, "PEOPLE_AT_ONCE", 300)
    monkeypatch.setattr(tables, "CONTEXTS_AT_ONCE", 30)
    monkeypatch.setattr(tables, "CONTEXT", 1e9 if cheap == "joint" else 0.0)
    for name in ("WORD", "INSIDE", "PRODUCT", "PREFIX"):
        monkeypatch.setattr(tables, name, 0.0)
    monkeypatch.setattr(tables, "STEP", 1e-12 if cheap == "descent" else 1e12)
    if cheap in ("product", "prefixes"):
        monkeypatch.setattr(tables, "MOST_CELLS", 0)
    if cheap == "prefixes":
        monkeypatch.setattr(tables, "MOST_TERMS", 0)
    monkeypatch.setattr(descent, "BLOCK", 300)
    monkeypatch.setattr(descent, "SAMPLE", 16)
    taken = []
    for name in ("_from_joint", "_by_bits", "_by_products", "_descend"):
        monkeypatch.setattr(tables, name, _noted(getattr(tables, name), name, taken))
    rng = np.random.default_rng(people)
    target, here, asked = Target(sums), crowd(rng, people, sums), contexts(rng, 80)
    expected = {
        "joint": "_from_joint",
        "single": "_by_products" if sums else "_by_bits",
        "product": "_by_products",
        "prefixes": "_descend",
    }
    np.testing.assert_array_equal(count_contexts(here, asked, target, axis_of), one_by_one(here, asked, target))
    if cheap in expected:
        assert expected[cheap] in taken


def _noted(way, name, taken):
    def noted(*args):
        taken.append(name)
        return way(*args)

    return noted


def test_kinds_of_people_count_as_many():
    """Everybody three times, or everybody with a weight of three: the same sums."""
    rng = np.random.default_rng(5)
    here, asked = crowd(rng, 200), contexts(rng, 60)
    weighted = crowd(np.random.default_rng(5), 200)
    weighted.cells = Cells(here.cells.valid, here.cells.cell, [], np.full(200, 3.0))
    once, thrice = (count_contexts(people, asked, Target(), axis_of) for people in (here, weighted))
    np.testing.assert_array_equal(3 * once, thrice)
    assert thrice.dtype == once.dtype


def test_the_way_down_a_tree_is_the_tree():
    """Everybody makes one step for each level, whatever the order in which conditions are written."""
    below, above = Condition("c", (0, 1, 2, 3)), Condition("c", (4, 5, 6, 7, 8))
    values = [Condition("a", (code,)) for code in range(SIZES["a"])]
    halves = [Condition("b", (0,)), Condition("b", (1, 2))]
    nodes = [(below,), (above,), *((v, below) for v in values), *((h, above) for h in halves)]
    nodes += [(h, v, below) for v in values for h in halves]
    number = {condition: i for i, condition in enumerate([*halves, *values, below, above])}
    column = np.array([list(SIZES).index(c.column) for c in number])
    rows = np.array([[number[c] for c in node] + [-1] * (3 - len(node)) for node in nodes])
    people = crowd(np.random.default_rng(0), 500)
    codes = [people.codes(axis_of(name)) for name in SIZES]
    way = descent.Descent(rows, tuple(number), column, max(SIZES.values()))
    low = np.count_nonzero(codes[2] <= 3)
    assert way.steps(codes, 10**9) == 500 + 500 + low
    assert way.steps(codes, 1) < 500 + 500 + low
    counts = way.counts(codes, people.cells.cell, N_CELLS, 1).reshape(-1, 1, 2, 2)
    np.testing.assert_array_equal(counts, one_by_one(people, nodes, Target()))


def test_nobody_is_counted():
    nobody = crowd(np.random.default_rng(0), 0)
    for asked in ([()], [(), (Condition("a", (1,)),)]):
        assert not count_contexts(nobody, asked, Target(), axis_of).any()


def test_nothing_asked():
    assert count_contexts(crowd(np.random.default_rng(0), 10), [], Target(), axis_of).shape == (0, 1, 2, 2)
