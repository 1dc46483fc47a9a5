"""Metrics of one's own: declared, named, offered where they fit, and refused where they are no metrics."""

from __future__ import annotations

import numpy as np
import pytest

import fairtest as ft
from fairtest.data.summaries import Counts
from fairtest.exceptions import InputError
from fairtest.metrics.choice import find_metric, fitting_metric
from fairtest.metrics.registry import Metric
from fairtest.search.scoring import Z_SEARCH, Strength
from fairtest.types import Kind, SummaryKind

B, C, N = Kind.BINARY, Kind.CATEGORICAL, Kind.NUMERIC


def test_a_declared_metric_is_a_metric_that_can_be_named(registry):
    @ft.metric("gap", protected="binary", output=["binary", "categorical"], phrase="the gap")
    def gap(counts):
        return counts[..., 0, 1, 1] / counts.sum(axis=(-3, -2, -1))

    assert isinstance(gap, Metric)
    assert registry["gap"] is gap is find_metric("GAP")
    assert (gap.phrase, gap.summary) == ("the gap", SummaryKind.COUNTS)
    assert gap.accepts(B, B)
    assert gap.accepts(B, C)
    assert not gap.accepts(C, B)
    assert not gap.accepts(B, N)
    assert float(gap.effect(Counts(np.array([[[1, 2], [3, 4]]])))) == 0.4
    assert np.isnan(gap.effect(Counts(np.zeros((5, 1, 2, 2))))).all()  # 0 / 0 needs no care of the user


def test_a_metric_of_numbers_gets_people(registry):
    @ft.metric("slope", protected="numeric", output=("numeric", "binary"))
    def slope(s, o, stratum):
        return np.polyfit(s, o, 1)[0]

    assert slope.summary is SummaryKind.ROWS
    assert slope.effect(np.array([0.0, 1, 2]), np.array([1.0, 3, 5]), np.zeros(3, int)) == pytest.approx(2)


def test_a_declared_metric_is_offered_where_it_fits(registry):
    @ft.metric("spread", protected="categorical", output="categorical")
    def spread(counts):
        return counts.max(axis=(-3, -2, -1))

    with pytest.raises(InputError, match=r"use one of NMI, spread, or"):
        fitting_metric("CORR", ("s", C), ("o", C))


@pytest.mark.parametrize("wrong", [lambda c: c.sum(), lambda c: c.sum(axis=(-2, -1)), lambda c: c[..., 0]])
def test_a_metric_of_the_wrong_shape_is_an_error(registry, wrong):
    made = ft.metric("wrong", protected="binary", output="binary")(wrong)
    with pytest.raises(InputError, match=r"one number for each table: shape \(7,\).*Got shape"):
        made.effect(Counts(np.ones((7, 3, 2, 2), dtype=int)))


@pytest.mark.parametrize("kind", ["bool", "identifier", "Binary", ""])
def test_unknown_kinds_are_an_error(registry, kind):
    for kinds in ({"protected": kind, "output": "binary"}, {"protected": "binary", "output": ["binary", kind]}):
        with pytest.raises(InputError, match=r"kinds of a metric must be among.*'numeric'"):
            ft.metric("m", **kinds)
    assert "m" not in registry


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_metric_needs_a_name(registry, name):
    with pytest.raises(InputError, match="'name' of a metric"):
        ft.metric(name, protected="binary", output="binary")


def test_the_search_bound_of_a_declared_metric_follows_from_its_effect(registry):
    @ft.metric("gap", protected="binary", output="binary")
    def gap(counts):
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return rates[..., 1] - rates[..., 0]

    counts = Counts(np.array([[[[300, 200], [100, 200]]], [[[5, 0], [5, 0]]]]))
    point, bound = Strength(gap, "point")(counts), Strength(gap, "bound")(counts)
    assert point[0] == 0.25
    assert bound[0] == pytest.approx(float(Strength(find_metric("DIFF"), "bound")(counts)[0]), abs=0.01)
    assert bound[0] < 0.25 - Z_SEARCH * 0.03
    assert np.isnan([point[1], bound[1]]).all()
