"""Which contexts visibly differ from the larger ones around them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.model.context import Context, Op, Predicate
from fairtest.ranking.reported import standing_out


def context(**values: str) -> Context:
    return Context.of(Predicate(column, Op.IS, value) for column, value in values.items())


CONTEXTS = [Context(), context(a="x"), context(a="x", b="y"), context(a="x", b="y", c="z"), context(c="z")]
SIZE = np.array([1000.0, 500, 200, 100, 400])


def kept(p, *, population=True, sign=(1.0,) * 5, ranked=(3, 2, 1, 4)):
    """Return what stands out, ``p`` giving the p-value of each pair (inner, outer)."""
    significant = np.array([population, True, True, True, True])

    def stronger(inner, outer):
        return np.array([p.get((i, j), 0.0) for i, j in zip(inner.tolist(), outer.tolist(), strict=True)])

    return standing_out(list(ranked), CONTEXTS, significant, np.array(sign), SIZE, stronger)


def test_everything_that_differs_is_kept_in_its_order():
    assert kept({}) == [3, 2, 1, 4]


def test_what_does_not_differ_from_everybody_is_hidden():
    assert kept({(4, 0): 0.4}) == [3, 2, 1]


def test_by_chance_one_of_many_would_differ():
    """0.04 is small enough for one comparison, not for the smallest of four."""
    p = {(i, 0): 0.04 + 0.2 * i for i in range(1, 5)}
    assert kept(p | {(1, 0): 0.04}) == []
    assert kept({(1, 0): 0.04}) == [3, 2, 1, 4]  # as the largest of four it may


def test_without_an_association_in_everybody_there_is_nothing_to_compare_with():
    assert kept({(4, 0): 0.4, (1, 0): 0.9}, population=False) == [3, 2, 1, 4]


def test_a_context_is_compared_with_the_larger_ones_that_are_kept():
    assert kept({(2, 1): 0.5}) == [3, 1, 4]
    assert kept({(2, 1): 0.5, (3, 2): 0.5}) == [3, 1, 4]  # 2 is hidden: 3 need not differ from it
    assert kept({(3, 1): 0.5}) == [2, 1, 4]


def test_the_other_direction_is_never_hidden():
    assert kept({(4, 0): 0.9}, sign=(1, 1, 1, 1, -1)) == [3, 2, 1, 4]
    assert kept({(2, 1): 0.9}, sign=(1, 1, -1, 1, 1)) == [3, 2, 1, 4]


def test_what_cannot_be_compared_is_kept():
    assert kept({(4, 0): np.nan, (2, 1): np.nan}) == [3, 2, 1, 4]


def _people(seed: int, worse: bool) -> pl.DataFrame:
    """Return people of whom women are hired less often: everywhere alike, or worse among those over 50 in city A."""
    rng = np.random.default_rng(seed)
    n = 20_000
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "city": rng.choice(list("ABCDEFGH"), n),
            "job": rng.choice(list("wxyz"), n),
        }
    )
    rate = np.where(frame["sex"] == "f", 0.3, 0.45)
    if worse:
        rate[((frame["sex"] == "f") & (frame["city"] == "A") & (frame["age"] > 50)).to_numpy()] = 0.05
    return frame.with_columns(hired=pl.Series(rng.random(n) < rate))


@pytest.mark.parametrize("metric", ["DIFF", "RATIO", "NMI", "CORR", "RANK"])
def test_a_uniform_association_is_told_once(metric):
    found = []
    for seed in range(3):
        report = ft.audit(_people(seed, worse=False), "sex", "hired", metrics=metric, seed=seed)
        assert report.populations[0].significant
        assert report.significant > 20
        found.append(len(report.findings))
    assert sum(found) <= 2


def test_a_worse_group_leads():
    for seed in range(3):
        report = ft.audit(_people(seed, worse=True), "sex", "hired", seed=seed)
        first = {p.column: (p.op, p.value) for p in report.findings[0].predicates}
        assert first["city"] == ("==", "A")
        assert first["age"][0] == ">"
        assert 40 <= first["age"][1] <= 60
        assert len(report.findings) <= 3
