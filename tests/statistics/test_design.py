"""What rows are worth: copies count once, tables and rows agree, and tests keep their level with any number of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri, stdtr

from fairtest.statistics.design import (
    RowSums,
    compare_two_groups,
    correlate,
    indicators,
    judge_independence,
)
from fairtest.statistics.rates import score
from fairtest.statistics.weighted_tables import (
    WeightTables,
    compare_two_groups_in_tables,
    judge_independence_in_tables,
)


def _rows(rng: np.random.Generator, people: int, rows: int, *, fixed: bool) -> tuple[np.ndarray, ...]:
    """Return persons, groups and outputs of rows that depend on each other, without any link."""
    person = np.repeat(np.arange(people), rows)
    group = rng.integers(0, 4, people)[person] if fixed else rng.integers(0, 4, person.size)
    output = (1.5 * rng.normal(size=people)[person] + rng.normal(size=person.size) > 0.7).astype(int)
    return person, group, output


def test_copies_of_rows_are_worth_nothing() -> None:
    rng = np.random.default_rng(0)
    group, output = rng.integers(0, 2, 300), rng.integers(0, 2, 300).astype(float)
    once = RowSums.of(np.arange(300), None, np.zeros(300, dtype=int))
    often = RowSums.of(np.tile(np.arange(300), 7), None, np.zeros(2100, dtype=int))
    alone = compare_two_groups(once, group, output)
    copied = compare_two_groups(often, np.tile(group, 7), np.tile(output, 7))
    assert copied.size == pytest.approx(alone.size, rel=1e-9)
    assert copied.people == 300
    assert correlate(often, np.tile(group, 7).astype(float), np.tile(output, 7)).size == pytest.approx(
        correlate(once, group.astype(float), output).size, rel=1e-9
    )


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    person, group, output = _rows(rng, 60, 5, fixed=False)
    order = rng.permutation(person.size)
    nobody = np.zeros(person.size, dtype=int)
    one = judge_independence(RowSums.of(person, None, nobody), indicators(group), indicators(output))
    other = judge_independence(
        RowSums.of(person[order], None, nobody), indicators(group[order]), indicators(output[order])
    )
    assert (one.p, one.size, one.df) == pytest.approx((other.p, other.size, other.df), rel=1e-9)


@pytest.mark.parametrize("strata", [1, 3])
def test_tables_of_weights_say_what_rows_say(strata: int) -> None:
    rng = np.random.default_rng(2)
    n = 4000
    weight = np.exp(rng.normal(size=n))
    weight /= weight.mean()
    stratum, group, output = rng.integers(0, strata, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    sums = np.zeros((1, strata, 2, 2, 4))
    for power, value in enumerate((weight, np.ones(n), (weight / weight.max()) ** 2, (weight / weight.max()) ** 4)):
        np.add.at(sums[0, ..., power], (stratum, output, group), value)
    tables = WeightTables.of(sums, float(weight.max()))
    rows = RowSums.of(None, weight, stratum)
    two, any_link = compare_two_groups_in_tables(tables), judge_independence_in_tables(tables)
    by_rows = compare_two_groups(rows, group, output.astype(float))
    assert two.size[0] == pytest.approx(by_rows.size, rel=2e-2)
    assert two.df[0] == pytest.approx(by_rows.df, rel=2e-2)
    found = judge_independence(rows, indicators(group), indicators(output))
    assert any_link.p[0] == pytest.approx(found.p, rel=2e-2)
    assert any_link.size[0] == pytest.approx(found.size, rel=2e-2)


@pytest.mark.parametrize("fixed", [True, False])
def test_few_people_with_many_rows_do_not_make_links(fixed: bool) -> None:
    """50 people with 20 rows each: a test that took rows for people would reject in most samples."""
    rng = np.random.default_rng(3)
    below = {"two groups": 0, "any link": 0}
    for _ in range(300):
        person, group, output = _rows(rng, 50, 20, fixed=fixed)
        rows = RowSums.of(person, None, np.zeros(person.size, dtype=int))
        two = (group == 0).astype(int)
        worth = compare_two_groups(rows, two, output.astype(float))
        n = np.array([[[np.count_nonzero(two == g)] for g in (1, 0)]]) * worth.size / person.size
        x = np.array([[[output[two == g].sum()] for g in (1, 0)]]) * worth.size / person.size
        p = score.difference_p(x[:, 0], n[:, 0], x[:, 1], n[:, 1])[0]
        below["two groups"] += 2 * stdtr(worth.df, ndtri(p / 2)) <= 0.05
        below["any link"] += (judge_independence(rows, indicators(group), indicators(output)).p or 1.0) <= 0.05
    # 26 of 300 would be met by chance with a probability below one in a thousand, were the level just kept
    assert all(number <= 26 for number in below.values()), below
    assert min(below.values()) >= 1


def test_a_group_of_one_person_is_no_evidence() -> None:
    person = np.repeat(np.arange(40), 25)
    group, output = (person == 7).astype(int), (person == 7).astype(float)
    output[::9] = 1.0
    worth = compare_two_groups(RowSums.of(person, None, np.zeros(1000, dtype=int)), group, output)
    assert worth.df <= 1.5
