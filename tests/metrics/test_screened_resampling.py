"""A metric of one's own among many groups: draws are spent where they can decide something."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import fairtest as ft
from fairtest.data.summaries import Counts
from fairtest.datasets.pricing import pricing
from fairtest.metrics.batch import Batch


@pytest.fixture(scope="module")
def odds():
    @ft.metric("screened odds", protected="binary", output="binary")
    def log_odds_ratio(counts):
        table = counts.sum(axis=-3) + 0.0
        return np.log(table[..., 1, 1] * table[..., 0, 0] / (table[..., 0, 1] * table[..., 1, 0]))

    return log_odds_ratio


def test_the_first_p_values_are_about_those_of_the_known_error(odds):
    """The standard error of a log odds ratio is the root of the sum of one over each count."""
    counts = np.array([[[[400, 350], [100, 150]]], [[[4000, 3950], [1000, 1050]]]])
    batch = Batch(odds, Counts(counts), lambda _: iter(()), 0)
    z = odds.effect(Counts(counts)) / np.sqrt((1 / counts).sum(axis=(1, 2, 3)))
    assert np.log(odds.procedure.test(batch)) == pytest.approx(np.log(2 * ndtr(-np.abs(z))), rel=0.02)


def test_every_p_value_can_be_drawn_all_the_same(odds):
    counts = np.array([[[[400, 350], [100, 150]]], [[[40, 39], [1, 2]]], [[[40, 39], [0, 2]]]])
    p, drawn = odds.procedure.p_values(Batch(odds, Counts(counts), lambda _: iter(()), 0), 1e-3)
    assert list(drawn.places) == [0, 1]  # the third has no effect
    assert np.isnan(p[2])
    assert np.isnan(p[1])  # without the one person there is none either: not known, to be drawn


def test_a_metric_without_a_sign_is_not_screened():
    @ft.metric("screened size", protected="binary", output="binary", signed=False)
    def size(counts):
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return np.abs(rates[..., 1] - rates[..., 0])

    counts = np.array([[[[400, 350], [100, 150]]]])
    assert np.isnan(size.procedure.test(Batch(size, Counts(counts), lambda _: iter(()), 0))).all()


def test_planted_groups_are_confirmed_among_many_hundreds(odds):
    people = pricing(people=40_000, seed=0)
    reference, favourable = {"income": "high"}, {"discount": "Yes"}
    report = ft.audit(people, "income", "discount", metrics="screened odds", reference=reference, favourable=favourable)
    assert report.tested > 500
    assert sorted(str(f.context) for f in report.findings) == [
        "age > 60, region = Midwest",
        "city = urban, region = West",
    ]
    drawn = [f.p_value_raw for f in report.findings]
    assert min(drawn) >= 1 / (1 + (1 << 17))
    assert all(all(f.confirmed) for f in report.findings)
    assert "What says most beyond the others first" in report.to_html()


def test_groups_are_not_compared_by_a_metric_without_a_sign():
    @ft.metric("screened strength", protected="binary", output="binary", signed=False)
    def strength(counts):
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return np.abs(rates[..., 1] - rates[..., 0])

    people = pricing(people=40_000, seed=0)
    report = ft.audit(people, "income", "discount", metrics="screened strength", contextual=["city", "region", "age"])
    assert report.findings
    assert not any(f.confirmed for f in report.findings)
    assert "What says most beyond the others first" not in report.to_html()
    assert "Surest first" in report.to_html()
