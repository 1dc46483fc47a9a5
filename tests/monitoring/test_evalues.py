"""What bets pay: reference numbers, and a mean of exactly 1 where there is no bias."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest.monitoring.evalues.scores import log_e_groups, log_e_scores, log_e_table, normal_scores
from fairtest.monitoring.evalues.soft_rank import (
    PERMUTATIONS,
    correlation_strengths,
    log_e_from_p,
    log_e_soft_rank,
    permuted_products,
)
from fairtest.monitoring.evalues.tables import (
    SMALL,
    Association,
    LessThan,
    MoreThan,
    log_e,
    log_normaliser,
    odds_of_gap,
)


def pay(table: tuple[int, int, int, int], theta: float, null: float | None = None) -> float:
    return float(np.exp(log_e(*table, [theta], None if null is None else [null]))[0])


class TestReferenceNumbers:
    """Computed independently, with another implementation."""

    @pytest.mark.parametrize(
        ("table", "theta", "expected"),
        [
            ((8, 10, 12, 20), 0.1, 1.2137138543),
            ((8, 10, 12, 20), 0.2, 1.4546260079),
            ((8, 10, 12, 20), 0.4, 2.0120192732),
            ((8, 10, 12, 20), 0.8, 3.3162442259),
            ((8, 10, 12, 20), 1.6, 5.1071248449),
            ((8, 10, 12, 20), -0.8, 0.1351774236),
            ((5, 10, 12, 20), 0.8, 0.3008428888),
            ((5, 10, 12, 20), -0.8, 1.4900845828),
            ((3, 3, 3, 6), 0.8, 2.8769745445),
            ((3, 3, 3, 6), -0.8, 0.2609932423),
            ((0, 1, 1, 2), 0.8, 0.6200510377),
            ((0, 1, 1, 2), -0.8, 1.3799489623),
            ((30, 40, 50, 100), 0.8, 434.8533665232),
            ((30, 40, 50, 100), -0.4, 0.0112888264),
        ],
    )
    def test_tables(self, table: tuple[int, int, int, int], theta: float, expected: float) -> None:
        assert pay(table, theta) == pytest.approx(expected, abs=1e-10, rel=1e-9)
        bets = np.exp(Association().log_e(*(np.array(v) for v in table)))
        sizes = [0.1, 0.2, 0.4, 0.8, 1.6]
        place = sizes.index(abs(theta)) + (5 if theta < 0 else 0)
        assert bets[place] == pytest.approx(expected, abs=1e-10, rel=1e-9)

    def test_normaliser(self) -> None:
        assert log_normaliser(10, 12, 20, [0.8])[0] == pytest.approx(5.2011671147000325, abs=1e-12)

    def test_tolerance_and_down_claim(self) -> None:
        assert pay((8, 10, 12, 20), 0.8, 0.2) == pytest.approx(2.279791649475, abs=1e-11)
        assert pay((5, 10, 12, 20), 0.0, 0.4) == pytest.approx(1.650141709365, abs=1e-11)

    def test_cells_of_a_larger_table(self) -> None:
        counts = np.array([[10, 4], [5, 5], [3, 9]])
        n1, n = counts[:, 0].sum(), counts.sum()
        paid = [pay((int(row[0]), int(n1), int(row.sum()), int(n)), 0.8) for row in counts]
        assert paid == pytest.approx([5.481682818982, 0.555567222031, 0.047249209922], abs=1e-11)

    def test_a_whole_table_in_a_known_direction(self) -> None:
        table, direction = [[4, 1, 1], [2, 3, 1], [1, 2, 5]], [[0.5, -0.1], [0, 0.2], [-0.4, 0.1]]
        assert np.exp(log_e_table(table, direction)) == pytest.approx(4.138773440603, abs=1e-11)

    def test_scores(self) -> None:
        paid = np.exp(log_e_scores([0.3, -1.2, 2.5, 0.7, 0.1], [0, 1, 1, 0, 0], [0.2, 0.8, -0.8]))
        assert paid == pytest.approx([1.0254893809, 0.7031933970, 0.4247193541], abs=1e-10)

    def test_soft_rank(self) -> None:
        permuted = [0.3, -1, 0.4, 1.2, -0.6, 0, 0.9, -1.4, 0.2]
        assert np.exp(log_e_soft_rank(2.1, permuted, 1.0)) == pytest.approx(4.080919561807, abs=1e-11)

    def test_p_values(self) -> None:
        paid = [float(np.exp(log_e_from_p(0.01, strength))) for strength in (0.5, 1.0)]
        assert paid == pytest.approx([2.824055400051, 6.211161242533], abs=1e-11)


margins = st.integers(2, 30).flatmap(
    lambda n: st.tuples(st.integers(1, n - 1), st.integers(1, n - 1), st.just(n)),
)


def tables_of(n1: int, m1: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every table of these margins with its probability where there is no association."""
    x = np.arange(max(0, n1 + m1 - n), min(n1, m1) + 1)
    return x, np.array([comb(m1, int(k)) * comb(n - m1, n1 - int(k)) for k in x]) / comb(n, n1)


def mean_of(bets: Association | MoreThan | LessThan, n1: int, m1: int, n: int, odds: np.ndarray) -> np.ndarray:
    """The mean of what each bet pays on the tables of these margins, for a log odds ratio each."""
    x, weight = tables_of(n1, m1, n)
    paid = np.exp(bets.log_e(x, np.full_like(x, n1), np.full_like(x, m1), np.full_like(x, n)))
    law = weight[:, None] * np.exp(np.outer(x, odds))
    return (law / law.sum(axis=0) * paid).sum(axis=0)


class TestTables:
    @given(margins)
    def test_the_mean_is_one_where_there_is_no_association(self, margin: tuple[int, int, int]) -> None:
        assert mean_of(Association(), *margin, np.zeros(10)) == pytest.approx(np.ones(10), abs=1e-12)

    @given(margins, st.sampled_from([0.02, 0.1, 0.2]))
    def test_the_mean_is_one_at_the_end_of_a_null_and_less_inside(
        self, margin: tuple[int, int, int], gap: float
    ) -> None:
        n1, m1, n = margin
        edge = float(np.nan_to_num(odds_of_gap(m1 / n, gap)))
        both = Association(gap)
        sides = np.repeat([edge, -edge], 5)
        assert mean_of(both, n1, m1, n, sides) == pytest.approx(np.ones(10), abs=1e-11)
        assert (mean_of(both, n1, m1, n, sides / 2) <= 1 + 1e-12).all()
        assert (mean_of(both, n1, m1, n, -sides) <= 1 + 1e-12).all()
        assert mean_of(MoreThan(gap), n1, m1, n, np.full(4, edge)) == pytest.approx(np.ones(4), abs=1e-11)
        assert (mean_of(MoreThan(gap), n1, m1, n, np.full(4, edge - 0.5)) <= 1 + 1e-12).all()
        assert mean_of(LessThan(gap), n1, m1, n, np.full(2, edge)) == pytest.approx(np.ones(2), abs=1e-11)
        assert (mean_of(LessThan(gap), n1, m1, n, np.full(2, edge + 0.5)) <= 1 + 1e-12).all()

    @given(margins, st.data())
    def test_symmetry(self, margin: tuple[int, int, int], data: st.DataObject) -> None:
        n1, m1, n = margin
        x = data.draw(st.sampled_from(tables_of(*margin)[0].tolist()))
        for theta in (0.1, 1.6, -0.4):
            own = pay((x, n1, m1, n), theta)
            assert pay((m1 - x, n - n1, m1, n), -theta) == pytest.approx(own, rel=1e-10)
            assert pay((x, m1, n1, n), theta) == pytest.approx(own, rel=1e-10)

    def test_a_margin_that_is_empty_pays_nothing_and_costs_nothing(self) -> None:
        tables = np.array([[0, 0, 3, 7], [3, 3, 7, 7], [0, 4, 0, 7], [4, 4, 7, 7], [0, 0, 0, 0], [0, 0, 1, 1]])
        for bets in (Association(), Association(0.05), MoreThan(0.05), LessThan(0.05)):
            assert not bets.log_e(*tables.T).any()

    def test_margins_that_allow_one_table(self) -> None:
        assert log_normaliser(3, 7, 7, [0.8, -1.6]).tolist() == [0.8 * 3, -1.6 * 3]
        assert pay((3, 3, 7, 7), 0.8) == pay((0, 0, 4, 9), -0.8, 0.4) == 1.0

    def test_no_bet_where_the_rate_is_too_near_its_end(self) -> None:
        assert not MoreThan(0.2).log_e(*(np.array([v]) for v in (1, 10, 1, 20))).any()

    def test_looked_up_is_computed(self) -> None:
        rng = np.random.default_rng(0)
        n = rng.integers(2, SMALL + 1, 500)
        n1, m1 = rng.integers(0, n + 1), rng.integers(0, n + 1)
        x = np.maximum(n1 + m1 - n, 0)
        looked_up = Association().log_e(x, n1, m1, n)
        inside = (n1 > 0) & (n1 < n) & (m1 > 0) & (m1 < n)
        bets = np.array([0.1, 0.2, 0.4, 0.8, 1.6, -0.1, -0.2, -0.4, -0.8, -1.6])
        computed = np.where(inside[:, None], log_e(x, n1, m1, n, bets), 0.0)
        assert looked_up == pytest.approx(computed, abs=1e-12)

    def test_a_table_does_not_hang_on_its_neighbours(self) -> None:
        rng = np.random.default_rng(1)
        n = rng.integers(SMALL + 1, 2000, 40)
        n1, m1 = rng.binomial(n, 0.4), rng.binomial(n, 0.2)
        x = rng.hypergeometric(n1, n - n1, m1)
        together = Association().log_e(x, n1, m1, n)
        alone = [Association().log_e(x[i : i + 1], n1[i : i + 1], m1[i : i + 1], n[i : i + 1])[0] for i in range(40)]
        assert (together == np.array(alone)).all()

    def test_large_blocks_are_exact(self) -> None:
        x, weight = np.arange(0, 201), []
        from scipy.stats import hypergeom

        weight = hypergeom.pmf(x, 2000, 200, 700)
        paid = np.exp(Association().log_e(x, np.full(201, 200), np.full(201, 700), np.full(201, 2000)))
        assert (weight[:, None] * paid).sum(axis=0) == pytest.approx(np.ones(10), rel=1e-9)


class TestScores:
    @given(st.lists(st.floats(-3, 3), min_size=2, max_size=8), st.data())
    def test_the_mean_over_all_groups_is_one(self, scores: list[float], data: st.DataObject) -> None:
        size = data.draw(st.integers(1, len(scores) - 1))
        paid = []
        for chosen in combinations(range(len(scores)), size):
            group = np.isin(np.arange(len(scores)), chosen)
            paid.append(np.exp(log_e_scores(scores, group)))
        assert np.mean(paid, axis=0) == pytest.approx(np.ones(10), rel=1e-9)

    def test_scores_of_zero_and_one_are_a_table(self) -> None:
        output, group = np.repeat([1.0, 0.0], [12, 8]), np.zeros(20, dtype=bool)
        group[:8] = group[12:14] = True
        assert np.exp(log_e_scores(output, group, [0.8])) == pytest.approx([3.3162442259], abs=1e-9)

    def test_groups_against_the_rest(self) -> None:
        values, groups = np.array([1.0, 5.0, 2.0, 8.0, 3.0, 1.0]), np.array([0, 1, 2, 1, 0, 2])
        assert log_e_groups(values, groups, 3).shape == (3, 10)
        two = log_e_groups(values, groups % 2, 2)
        assert two.shape == (1, 10)
        assert two[0] == pytest.approx(log_e_scores(normal_scores(values), groups % 2 == 1))

    def test_large_groups_do_not_overflow(self) -> None:
        rng = np.random.default_rng(0)
        g = normal_scores(rng.normal(size=600))
        assert np.isfinite(log_e_scores(g, rng.random(600) < 0.5)).all()

    def test_outliers_count_as_ranks(self) -> None:
        assert (normal_scores([1, 2, 3, 1e300]) == normal_scores([1, 2, 3, 4])).all()


class TestSoftRank:
    def test_the_mean_over_all_places_is_one(self) -> None:
        values = np.array([2.1, 0.3, -1, 0.4, 1.2, -0.6, 0, 0.9, -1.4, 0.2])
        for strength in (0.3, 1.0, 4.0):
            paid = [np.exp(log_e_soft_rank(values[i], np.delete(values, i), strength)) for i in range(values.size)]
            assert np.mean(paid) == pytest.approx(1.0, abs=1e-12)

    def test_nothing_varies_nothing_is_paid(self) -> None:
        assert not log_e_soft_rank(1.0, np.ones(PERMUTATIONS), correlation_strengths(10.0)).any()

    def test_a_correlation_is_paid_in_its_direction(self) -> None:
        rng = np.random.default_rng(0)
        s = rng.normal(size=300)
        values = permuted_products([(s, s + rng.normal(size=300))], rng)
        logs = log_e_soft_rank(values[0], values[1:], correlation_strengths(299.0))
        assert logs[4] > 3
        assert logs[9] < -3

    def test_strata_are_permuted_apart(self) -> None:
        rng = np.random.default_rng(0)
        level = np.repeat([0.0, 100.0], 50)
        noise = [(level[i : i + 50] + rng.normal(size=50), level[i : i + 50] + rng.normal(size=50)) for i in (0, 50)]
        values = permuted_products(noise, rng)
        assert abs(values[0] - values[1:].mean()) < 4 * values[1:].std()
