"""Random people, and a count of them in plain Python that every engine must agree with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN, Holdout
from fairtest.data.reading.readers import read_table
from fairtest.data.summaries import Target, powers
from fairtest.data.variables import Part, cross_parts, level_variable, number_variable, rank_variable
from fairtest.types import SummaryKind

CONTEXTUAL = ("city", "age", "grade", "race")
ORDER = ["low", "mid", "high"]
PAIRS = {
    "counts": ("sex", "hired", SummaryKind.COUNTS, 2),
    "counts of many": ("race", "job", SummaryKind.COUNTS, 2),
    "counts of levels in order": ("grade", "hired", SummaryKind.COUNTS, 2),
    "moments": ("score", "pay", SummaryKind.MOMENTS, 2),
    "moments of order 4": ("score", "pay", SummaryKind.MOMENTS, 4),
    "moments of levels": ("sex", "pay", SummaryKind.MOMENTS, 4),
    "moments of order and level": ("grade", "hired", SummaryKind.MOMENTS, 2),
    "group moments": ("race", "pay", SummaryKind.GROUP_MOMENTS, 2),
    "group moments of order 4": ("sex", "pay", SummaryKind.GROUP_MOMENTS, 4),
    "group moments, roles swapped": ("pay", "job", SummaryKind.GROUP_MOMENTS, 4),
    "ranks": ("score", "pay", SummaryKind.RANKS, 2),
    "moments of ranks": ("score", "pay", SummaryKind.MOMENTS, 2),
    "rows": ("score", "pay", SummaryKind.ROWS, 2),
}


def people(seed, n=150):
    """Return random columns in which everything may be missing."""
    rng = np.random.default_rng(seed)

    def some(values, share=0.08):
        return [None if r < share else v for v, r in zip(values, rng.random(n), strict=True)]

    return {
        "sex": some(rng.choice(["f", "m"], n).tolist()),
        "race": some(rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]).tolist()),
        "hired": some(rng.choice([True, False], n).tolist()),
        "job": some(rng.choice(["x", "y", "z", "w"], n).tolist()),
        "pay": some(np.round(np.exp(rng.normal(10, 1, n)), 2).tolist()),
        "score": some((rng.integers(0, 40, n) / 8 - 2).tolist()),
        "grade": some(rng.choice(ORDER, n).tolist()),
        "dept": some(rng.choice(["p", "q"], n).tolist()),
        "city": some(rng.choice(["k", "l", "m"], n).tolist(), 0.2),
        "age": some(rng.integers(18, 30, n).tolist(), 0.2),
    }


def read(data):
    return read_table(data, ordered={"grade": ORDER}, numeric=["age", "pay", "score"])


def variable(table, name):
    return number_variable(table[name]) if table[name].values is not None else level_variable(table[name])


def target_of(table, which, stratified, rows=None):
    s, o, summary, order = PAIRS[which]
    protected, output = variable(table, s), variable(table, o)
    if "ranks" in which:
        rows = np.arange(table.n_rows) if rows is None else rows
        protected, output = (rank_variable(v, table, rows) for v in (protected, output))
    strata = cross_parts("dept", [Part("dept", table["dept"].levels)], table) if stratified else None
    return Target(protected, output, strata, summary, order)


class Naive:
    """Counts in plain Python, from the values as they were given."""

    def __init__(self, data, table, target, stratified):
        self.data, self.target = data, target
        self.stratified = stratified
        self.scaled = {id(v): v.values(table) for v in (target.protected, target.output) if v.is_number or v.scores}

    def cell(self, i):
        """Return the cell of a row and the terms added there, None if something is missing."""
        t = self.target
        e = 0
        if self.stratified:
            if self.data["dept"][i] is None:
                return None
            e = t.strata.levels.index(self.data["dept"][i])
        s_raw, o_raw = (self.data[v.columns[0]][i] for v in (t.protected, t.output))
        if s_raw is None or o_raw is None:
            return None
        if t.summary is SummaryKind.ROWS:
            return (e,), [1]
        if t.summary is SummaryKind.MOMENTS:
            s, o = (float(self.scaled[id(v)][i]) for v in (t.protected, t.output))
            return (e,), [Fraction(s) ** a * Fraction(o) ** b for a, b in powers(t.order)]
        if t.summary is SummaryKind.GROUP_MOMENTS:
            group = t.by.levels.index(self.data[t.by.columns[0]][i])
            x = Fraction(float(self.scaled[id(t.measured)][i]))
            return (e, group), [x**p for p in range(t.order + 1)]
        return (e, self.level(t.output, o_raw), self.level(t.protected, s_raw)), [1]

    @staticmethod
    def level(v, raw):
        cuts = v.parts[0].thresholds
        return v.levels.index(raw) if cuts is None else sum(raw > c for c in cuts)

    def sums(self, rows):
        """Return ``[*cell_shape, term]`` over some rows, exactly."""
        size = len(powers(self.target.order)) if self.target.summary is SummaryKind.MOMENTS else 1
        size = self.target.order + 1 if self.target.summary is SummaryKind.GROUP_MOMENTS else size
        out = np.full((*self.target.cell_shape, size), Fraction(0), dtype=object)
        for i in rows:
            found = self.cell(i)
            if found is not None:
                out[found[0]] += np.array(found[1], dtype=object)
        return out


def agrees(target, got, want):
    """Whether sums of the engine are the exact ones: integers exactly, sums of numbers to the last digits."""
    if not target.sum_shape:
        assert np.issubdtype(got.dtype, np.integer)
        assert got.tolist() == want[..., 0].astype(int).tolist()
        return
    collapsed = got.sum(axis=-1)
    assert collapsed.shape == want.shape
    n = max(int(want[..., 0].max(initial=0)), 1)
    for a, b in zip(collapsed.ravel(), want.ravel(), strict=True):
        # each product is rounded once or a few times before it is added; the adding rounds nothing but the result
        assert abs(Fraction(float(a)) - b) <= n * Fraction(1, 2**50)


def naive_codes(data, table, training):
    """Return the code of every row on each contextual column, found from its value."""
    ages = sorted({data["age"][i] for i in training} - {None})
    codes = {"age": [len(ages) if v is None else sum(v > t for t in ages[:-1]) for v in data["age"]]}
    for name in CONTEXTUAL:
        levels = table[name].levels
        if levels:
            codes[name] = [len(levels) if v is None else levels.index(v) for v in data[name]]
    return codes


def has(codes, i, *context):
    """Whether a row satisfies all conditions."""
    return all(codes[c.column][i] in c.codes for c in context)


def random_context(engine, rng):
    conditions = []
    for name in rng.permutation(CONTEXTUAL)[: rng.integers(0, 4)]:
        size = engine.axis(str(name)).size
        codes = np.flatnonzero(rng.random(size) < 0.5)
        conditions.append(Condition(str(name), tuple(int(c) for c in codes)))
    return tuple(conditions)


def setting(seed, which="counts", stratified=False):
    data = people(seed)
    table = read(data)
    holdout = Holdout(table.n_rows, 2, 0.5, seed)
    target = target_of(table, which, stratified, holdout.rows(TRAIN))
    codes = naive_codes(data, table, holdout.rows(TRAIN))
    return data, table, holdout, target, Naive(data, table, target, stratified), codes
