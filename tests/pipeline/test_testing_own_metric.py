"""Testing with a metric of the user's own."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from planted_people import FRAME, audited, people_of
from scipy import stats

import fairtest as ft


class TestOwnMetric:
    """A metric of one's own needs its effect and the kinds it accepts, nothing more."""

    @pytest.fixture(scope="class")
    @staticmethod
    def gap():
        @ft.metric("own gap", protected="binary", output="binary")
        def gap(counts):
            rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
            return rates[..., 1] - rates[..., 0]

        return gap

    def test_of_counts(self, gap):
        """The same effect as DIFF: permutation and bootstrap come near to its test and interval."""
        own, _ = audited("sex", "hired", metrics=gap, contextual=["city", "shift"], max_depth=1)
        known, _ = audited("sex", "hired", metrics="DIFF", contextual=["city", "shift"], max_depth=1)
        assert own.findings[0].metric == "own gap"
        assert str(own.findings[0].context) == "city = P"
        pairs = [(own.populations[0], known.populations[0]), (own.findings[0], known.findings[0])]
        for mine, theirs in pairs:
            assert mine.context == theirs.context
            assert mine.effect == pytest.approx(theirs.effect, rel=1e-12)
            width = theirs.interval_single[1] - theirs.interval_single[0]
            assert mine.interval_single == pytest.approx(theirs.interval_single, abs=0.12 * width)
            assert 0 < mine.p_value_raw <= mine.p_value <= 1
        assert own.findings[0].p_value <= 0.05
        assert own.findings[0].interval[1] < 0

    def test_by_its_name(self, gap):
        report, _ = audited("sex", "hired", metrics={"sex": "OWN GAP"}, contextual=[])
        assert report.attributes[0].metric == gap.name

    def test_of_counts_within_strata(self, gap):
        """A function of ``[..., stratum, output, protected]`` conditions as it likes: this one does not at all."""
        report, _ = audited("sex", "hired", metrics=gap, explanatory="department", contextual=[])
        woman, man = (FRAME.filter(pl.col("sex") == s)["hired"].mean() for s in ("woman", "man"))
        assert report.populations[0].effect == pytest.approx(woman - man, rel=1e-12)
        for part in report.populations[0].strata:
            inside = FRAME.filter(pl.col("department") == part.values["department"])
            woman, man = (inside.filter(pl.col("sex") == s)["hired"].mean() for s in ("woman", "man"))
            assert part.effect == pytest.approx(woman - man, rel=1e-12)

    @pytest.mark.parametrize(("share", "compared"), [(0.5, True), (0.05, False)])
    def test_groups_are_compared_where_nobody_is_rare(self, gap, share, compared):
        rng = np.random.default_rng(4)
        n = 12_000
        woman, town = rng.random(n) < share, rng.choice(["P", "Q", "R"], n)
        hired = rng.random(n) < 0.5 - 0.3 * (woman & (town == "P"))
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "town": town, "hired": hired})
        report = ft.audit(frame, "sex", "hired", metrics=gap, reference={"sex": "m"}, seed=0)
        assert [str(finding.context) for finding in report.findings] == ["town = P"]
        assert bool(report.findings[0].confirmed) is compared

    def test_of_rows(self):
        """A difference of medians: no table has it, so people are permuted and drawn again one by one."""

        @ft.metric("own medians", protected="binary", output="numeric")
        def medians(s, o, stratum):
            if np.ptp(s) == 0:
                return np.nan
            return np.median(o[s == 1]) - np.median(o[s == 0])

        rng = np.random.default_rng(2)
        n = 600
        woman, town = rng.random(n) < 0.5, rng.choice(["P", "Q"], n)
        pay = rng.gamma(4, 5, n) - np.where(woman & (town == "P"), 9, 0)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "town": town, "pay": pay})
        report, test = audited(
            "sex",
            "pay",
            frame=frame,
            metrics=medians,
            contextual=["town"],
            reference={"sex": "m"},
            min_size=100,
            ordered=None,
        )
        found = report.findings[0]
        assert str(found.context) == "town = P"
        people = people_of(found, test)
        woman, man = (people.filter(pl.col("sex") == s)["pay"].median() for s in "fm")
        assert found.effect == pytest.approx(woman - man, rel=1e-12)
        low, high = found.interval_single
        assert low <= found.effect <= high < 0
        assert 1 < high - low < 10
        assert found.p_value <= 0.05

    def test_of_rows_without_an_association(self):
        @ft.metric("own means", protected="binary", output="numeric")
        def means(s, o, stratum):
            return np.mean(o[s == 1]) - np.mean(o[s == 0])

        rng = np.random.default_rng(12)
        n = 400
        frame = pl.DataFrame({"sex": rng.choice(["f", "m"], n), "pay": rng.normal(size=n)})
        report, _ = audited(
            "sex", "pay", frame=frame, metrics=means, contextual=[], reference={"sex": "m"}, ordered=None
        )
        population = report.populations[0]
        woman, man = (frame.filter(pl.col("sex") == s)["pay"].to_numpy() for s in "fm")
        p = stats.ttest_ind(woman, man).pvalue
        assert population.p_value_raw == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 256) + 0.01)
        assert population.interval_single[0] <= 0 <= population.interval_single[1]
