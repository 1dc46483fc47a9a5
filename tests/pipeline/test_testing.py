"""Testing from a table to findings: every number is computed again from the people of the context.

The people of a test set are those of ``source.holdout.rows(1)``; those of a finding, ``context.mask`` of them. The
whole population is everybody: a question that was there first may use the training set too. From there numpy and polars
count, and the functions of ``fairtest.inference`` (which have reference values of their own) or SciPy give what the
finding must say.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from planted_people import (
    FRAME,
    PAIRS,
    PEOPLE,
    all_of,
    audited,
    central_sums,
    count_table,
    groups_of,
    levels_of,
    make_people,
    people_of,
    rates_of,
)
from scipy import stats

from fairtest.statistics.numbers import correlation, oneway
from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.rates import score
from fairtest.statistics.tables import information


class TestPlantedContext:
    """The context is found, with the right numbers."""

    def test_the_planted_context_is_on_top(self):
        report, _ = audited("sex", "hired")
        context = report.findings[0].context
        assert {p.column for p in context.predicates} == {"city", "age"}
        city, age = (next(p for p in context.predicates if p.column == c) for c in ("city", "age"))
        assert (city.op, city.value) == ("==", "P")
        assert age.op == "<="
        assert 30 <= age.value <= 45
        assert report.findings[0].effect == pytest.approx(-0.35, abs=0.08)

    def test_it_is_found_by_every_metric(self):
        pairs = [
            ("sex", "hired", "RATIO"),
            ("race", "choice", "NMI"),
            ("race", "salary", "ETA"),
            ("years", "salary", "CORR"),
        ]
        pairs += [("years", "salary", "RANK"), ("sex", "hired", "NMI")]
        for protected, output, metric in pairs:
            report, _ = audited(protected, output, metrics=metric)
            assert report.attributes[0].metric == metric
            # by the ratio, the city, in which few women are hired, does not surely differ from others of that age
            expected = {"age"} if metric == "RATIO" else {"city", "age"}
            assert report.findings[0].context.columns == expected, metric

    def test_difference_agrees_with_the_score_test(self):
        report, test = audited("sex", "hired")
        level = report.settings.level
        of_population, of_context = levels_of(report)
        for found in all_of(report):
            assert found.table.rows == (False, True)
            assert found.table.columns == ("man", "woman")
            table = count_table(people_of(found, test), "hired", "sex", found.table.rows, found.table.columns)
            assert np.array_equal(found.table.counts, table)
            assert found.size == table.sum()
            numbers = [v[None, None] for v in rates_of(table)]
            x1, n1, x2, n2 = (float(v[0, 0]) for v in numbers)
            assert found.effect == pytest.approx(x1 / n1 - x2 / n2, rel=1e-12)
            assert found.p_value_raw == pytest.approx(score.difference_p(*numbers)[0], rel=1e-9)
            single = np.concatenate(score.difference_interval(*numbers, alpha=level))
            alpha = of_context if len(found.context) else of_population
            together = np.concatenate(score.difference_interval(*numbers, alpha=alpha))
            assert found.interval_single == pytest.approx(single, rel=1e-9)
            assert found.interval == pytest.approx(together, rel=1e-9)
            assert found.ratio == pytest.approx((x1 / n1) / (x2 / n2), rel=1e-12)
            assert found.ratio_interval[0] < found.ratio < found.ratio_interval[1]

    def test_ratio_is_ratio_less_one(self):
        report, test = audited("sex", "hired", metrics="RATIO")
        for found in all_of(report):
            table = count_table(people_of(found, test), "hired", "sex", (False, True), ("man", "woman"))
            numbers = [v[None] for v in rates_of(table)]
            ratio = float(score.ratio(*numbers)[0])
            assert found.effect == pytest.approx(ratio - 1, rel=1e-12)
            assert found.ratio == pytest.approx(ratio, rel=1e-12)
            low, high = score.ratio_interval(*numbers, alpha=report.settings.level)
            assert found.interval_single == pytest.approx((low[0] - 1, high[0] - 1), rel=1e-9)
            assert found.ratio_interval == pytest.approx((low[0], high[0]), rel=1e-9)
            assert found.p_value_raw == pytest.approx(score.ratio_p(*numbers)[0], rel=1e-9)

    def test_information_agrees_with_the_g_test(self):
        report, test = audited("race", "choice")
        dense = 0
        for found in all_of(report):
            assert found.metric == "NMI"
            people = people_of(found, test)
            table = count_table(people, "choice", "race", found.table.rows, found.table.columns)
            assert np.array_equal(found.table.counts, table)
            g, p = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[:2]
            entropy = min(stats.entropy(table.sum(axis=0)), stats.entropy(table.sum(axis=1)))
            assert found.effect == pytest.approx(g / 2 / table.sum() / entropy, rel=1e-9)
            if information.smallest_expected(table[None])[0] >= 5:
                dense += 1
                assert found.p_value_raw == pytest.approx(max(p, 1e-300), rel=1e-6)
                bounds = widen_to_zero(
                    *information.nmi_interval(table[None], 0.05), np.array([found.p_value_raw]), 0.05
                )
                assert found.interval_single == pytest.approx([b[0] for b in bounds], rel=1e-9)
        assert dense >= 2

    def test_sparse_information_is_drawn(self):
        """In a table with small expected counts, p is that of random tables with the same margins."""
        frame = FRAME.with_columns(
            race=pl.when(pl.int_range(PEOPLE) % 400 == 0).then(pl.lit("yew")).otherwise(pl.col("race"))
        ).filter((pl.int_range(PEOPLE) % 400 == 0) | (pl.int_range(PEOPLE) % 10 == 1))
        report, _ = audited("race", "choice", frame=frame, contextual=[])
        population = report.populations[0]
        table = count_table(frame, "choice", "race", population.table.rows, population.table.columns)
        assert information.smallest_expected(table[None])[0] < 5
        rng = np.random.default_rng(1)
        draws = stats.random_table(table.sum(axis=1), table.sum(axis=0)).rvs(20_000, random_state=rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = float(np.nansum(table * np.log(table)))
            p = np.mean(np.nansum(draws * np.log(draws), axis=(1, 2)) >= observed - 1e-9)
        assert population.p_value_raw == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 256) + 0.01)

    def test_correlation_agrees_with_numpy(self):
        report, test = audited("years", "salary")
        for found in all_of(report):
            assert found.metric == "CORR"
            people = people_of(found, test)
            s, o = people["years"].to_numpy(), people["salary"].to_numpy()
            assert found.effect == pytest.approx(np.corrcoef(s, o)[0, 1], rel=1e-9)
            sums = central_sums(s, o, np.zeros(s.size))
            p = correlation.correlation_p(sums)
            if s.size > 1000 or p[0] < 0.05 / report.tested / 100:
                assert found.p_value_raw == pytest.approx(p[0], rel=1e-6)
                bounds = widen_to_zero(*correlation.correlation_interval(sums, 0.05), p, 0.05)
                assert found.interval_single == pytest.approx([b[0] for b in bounds], rel=1e-6)

    def test_small_contexts_are_permuted_where_it_matters(self):
        """With few people and a p-value near the level, p is that of a studentised permutation."""
        rng = np.random.default_rng(8)
        x = rng.normal(size=800)
        frame = pl.DataFrame({"x": x, "y": rng.normal(size=800) * np.exp(x / 3) + 0.12 * x})
        report, _ = audited("x", "y", frame=frame, contextual=[], ordered=None)
        x, y = (frame[c].to_numpy() - frame[c].mean() for c in ("x", "y"))
        draws = rng.permuted(np.tile(y, (20_000, 1)), axis=1)

        def studentised(y):
            return np.abs(y @ x) / np.sqrt((y * y) @ (x * x))

        p = np.mean(studentised(draws) >= studentised(y))
        assert 0.001 < p < 0.3
        assert report.populations[0].p_value_raw == pytest.approx(p, abs=6 * np.sqrt(p * (1 - p) / 256))

    def test_correlation_ratio_agrees_with_numpy(self):
        report, test = audited("race", "salary")
        for found in all_of(report):
            assert found.metric == "ETA"
            people = people_of(found, test)
            groups = groups_of(people["salary"].to_numpy(), people["race"].to_numpy())
            between = (groups.n * (groups.mean - people["salary"].mean()) ** 2).sum()
            assert found.effect == pytest.approx(between / (between + groups.s2.sum()), rel=1e-9)
            p = oneway.brown_forsythe_p(groups)
            # what the largest context has seen of the numbers' tail may add a little doubt
            assert p[0] * (1 - 1e-6) <= found.p_value_raw <= 10 * p[0]
            low, high = (b[0] for b in widen_to_zero(*oneway.eta_interval(groups, 0.05), p, 0.05))
            assert 0.8 * low <= found.interval_single[0] <= low * (1 + 1e-6)
            assert high * (1 - 1e-6) <= found.interval_single[1] <= 1.2 * high

    def test_the_roles_of_the_correlation_ratio_may_be_swapped(self):
        """A numeric protected attribute and a categorical output: η² of the number between outputs."""
        report, _ = audited("years", "choice")
        population = report.populations[0]
        assert population.metric == "ETA"
        groups = groups_of(FRAME["years"].to_numpy().astype(float), FRAME["choice"].to_numpy())
        assert population.effect == pytest.approx(oneway.eta_squared(groups)[0], rel=1e-9)
        assert population.p_value_raw == pytest.approx(oneway.eta_p(groups)[0], rel=1e-6)
        assert population.table.measured == "years"
        assert population.table.by == "choice"

    @pytest.mark.parametrize("output", ["points", "salary"])
    def test_rank_correlation_agrees_with_scipy(self, output):
        """Values are binned where they are many, or not seen in training, which changes almost nothing over all."""
        report, test = audited("years", output, metrics="RANK")
        for found in all_of(report) if output == "points" else report.populations:
            people = people_of(found, test)
            rho = stats.spearmanr(people["years"], people[output]).statistic
            assert found.effect == pytest.approx(rho, abs=5e-4 if output == "salary" else 1e-4)

    def test_ordered_columns_are_ranked(self):
        report, _ = audited("grade", "points")
        codes = FRAME["grade"].replace_strict({"low": 0, "mid": 1, "high": 2})
        assert report.populations[0].metric == "RANK"
        rho = stats.spearmanr(codes, FRAME["points"]).statistic
        assert report.populations[0].effect == pytest.approx(rho, abs=1e-5)

    @pytest.mark.parametrize("metric", ["DIFF", "RATIO", "RANK", "MEAN", "CORR", "NMI", "ETA"])
    def test_the_single_interval_and_p_agree(self, metric):
        """Exactly for one statistic; where there are two, the interval never says more than the test."""
        protected, output = {**PAIRS, "MEAN": ("sex", "salary")}[metric]
        seen = set()
        for seed in range(10):
            frame = make_people(3000, seed=100 + seed)
            frame = frame.filter(pl.col("city") == "P") if seed % 2 else frame[:700]
            report, _ = audited(protected, output, frame=frame, metrics=metric, contextual=[])
            found = report.populations[0]
            low, high = found.interval_single
            rejected = found.p_value_raw <= report.settings.level
            excluded = low > 0 or high < 0
            assert rejected == excluded if metric in ("DIFF", "RATIO", "RANK", "MEAN") else rejected >= excluded
            assert low <= found.effect <= high
            seen.add(rejected)
        assert seen == {True, False}

    def test_the_simultaneous_interval_contains_the_single_one(self):
        for metric, (protected, output) in PAIRS.items():
            report, _ = audited(protected, output, metrics=metric)
            assert report.tested > 1
            for found in all_of(report):
                assert found.interval[0] <= found.interval_single[0] <= found.effect
                assert found.effect <= found.interval_single[1] <= found.interval[1]
                assert found.interval != found.interval_single
