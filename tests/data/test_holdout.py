"""The split goes by position and has exact sizes; a test set is handed out once."""

from __future__ import annotations

import pickle
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairtest.data import holdout as module
from fairtest.data.holdout import TRAIN, Budget, Holdout, position_hash, product_level, set_level
from fairtest.data.source import DataSource
from fairtest.exceptions import BudgetExhausted, FairTestError

CHECKED = settings(deadline=None, max_examples=40)


@CHECKED
@given(
    n=st.integers(0, 400),
    budget=st.integers(1, 7),
    train_size=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**40),
)
def test_the_sets_are_disjoint_complete_and_of_exact_size(n, budget, train_size, seed):
    holdout = Holdout(n, budget, train_size, seed)
    sets = [holdout.rows(i).tolist() for i in range(budget + 1)]
    assert sorted(i for s in sets for i in s) == list(range(n))
    assert all(s == sorted(s) for s in sets)
    assert tuple(map(len, sets)) == holdout.sizes
    assert abs(holdout.sizes[TRAIN] - n * train_size) < 1 + 1e-9
    assert max(holdout.sizes[1:]) - min(holdout.sizes[1:]) <= 1
    assert list(holdout.sizes[1:]) == sorted(holdout.sizes[1:], reverse=True)


@CHECKED
@given(
    n=st.integers(0, 300) | st.integers(3_000, 9_000),
    budget=st.integers(1, 40),
    train_size=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**40),
    block=st.sampled_from([7, 1000, 1 << 18]),
)
def test_the_split_is_that_of_everybody_sorted_by_hash(n, budget, train_size, seed, block):
    """The ends of the sets are found without sorting; in blocks of any size they are those of the sorted hashes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        holdout = Holdout(n, budget, train_size, seed)
        expected = np.empty(n, dtype=np.int64)
        expected[np.argsort(position_hash(0, n, seed), kind="stable")] = np.repeat(range(budget + 1), holdout.sizes)
        found = [holdout.rows(number) for number in range(budget + 1)]
    assert all(np.array_equal(np.flatnonzero(expected == k), rows) for k, rows in enumerate(found))


@CHECKED
@given(st.integers(1, 500), st.data())
def test_rows_of_a_part_are_those_of_the_whole(n, data):
    holdout = pickle.loads(pickle.dumps(Holdout(n, 2, 0.4, 5)))
    start = data.draw(st.integers(0, n))
    stop = data.draw(st.integers(start, n))
    for number in range(3):
        rows = holdout.rows(number)
        inside = rows[(rows >= start) & (rows < stop)] - start
        assert np.array_equal(holdout.rows_within(number, start, stop), inside)


def test_the_split_is_the_one_of_earlier_versions():
    assert Holdout(20, 2, 0.3, 7).rows(TRAIN).tolist() == [1, 5, 9, 10, 13, 14]


@pytest.mark.parametrize(
    ("n", "budget", "train_size", "sizes"),
    [
        (10, 1, 0.3, (3, 7)),
        (100, 1, 0.29, (29, 71)),  # 100 × 0.29 is a little less than 29 in floating point
        (1000, 3, 0.7, (700, 100, 100, 100)),
        (11, 3, 0.25, (2, 3, 3, 3)),
        (9, 2, 1 / 3, (3, 3, 3)),
    ],
)
def test_sizes(n, budget, train_size, sizes):
    assert Holdout(n, budget, train_size, 0).sizes == sizes


def test_the_share_that_trains_is_exact_in_the_papers_preset():
    for budget in range(1, 12):
        n = 60 * (budget + 1)
        source = DataSource({"a": [0, 1] * (n // 2)}, budget=budget, preset="paper")
        assert source.holdout.sizes == (60,) * (budget + 1)


@CHECKED
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_another_seed_gives_another_split(a, b):
    assume(a != b)
    first, second = (Holdout(200, 2, 0.5, seed).rows(TRAIN) for seed in (a, b))
    assert not np.array_equal(first, second)
    shared = np.intersect1d(first, second).size
    assert 22 <= shared <= 78  # 50 of 100 in expectation, with a standard deviation of 3.5


def test_the_same_seed_gives_the_same_split():
    a, b = (Holdout(1000, 3, 0.4, 7) for _ in range(2))
    assert all(np.array_equal(a.rows(i), b.rows(i)) for i in range(4))


def test_a_split_is_fixed_for_good():
    """Workspaces store a seed, not the rows: these numbers may never change."""
    assert Holdout(12, 1, 0.5, 0).rows(TRAIN).tolist() == [0, 1, 2, 5, 9, 11]


def test_neighbours_and_blocks_are_split_evenly():
    """Rows are often sorted: no stretch, stride or parity may land in one set."""
    n = 20_000
    train = np.zeros(n)
    train[Holdout(n, 1, 0.5, 3).rows(TRAIN)] = 1
    blocks = train.reshape(100, -1).mean(axis=1)
    assert abs(blocks - 0.5).max() < 5 * 0.5 / np.sqrt(200)
    for stride in (2, 3, 4, 7, 8, 16, 64):
        for start in range(stride):
            part = train[start::stride]
            assert abs(part.mean() - 0.5) < 5 * 0.5 / np.sqrt(part.size)
    pairs = (train[1:] * train[:-1]).mean()
    assert abs(pairs - 0.25) < 5 * 0.5 / np.sqrt(n)


def test_duplicates_do_not_travel_together():
    rows = DataSource({"a": ["same"] * 400, "b": [1, 2] * 200}, train_size=0.5, seed=1).holdout.rows(TRAIN)
    assert rows.size == 200
    assert 40 < np.count_nonzero(rows % 2 == 0) < 160


def test_the_split_hangs_on_the_position_and_not_on_the_content():
    rng = np.random.default_rng(0)
    frames = [{"x": rng.normal(size=300), "g": rng.choice(["a", "b"], 300)} for _ in range(2)]
    first, second = (DataSource(f, budget=2, seed=5).holdout for f in frames)
    assert all(np.array_equal(first.rows(i), second.rows(i)) for i in range(3))


def test_a_budget_hands_out_each_set_once_in_order():
    budget = Budget(3)
    drawn = []
    for left in (2, 1, 0):
        with budget.draw() as number:
            drawn.append(number)
            assert budget.left == left
    assert drawn == [1, 2, 3]
    with pytest.raises(BudgetExhausted), budget.draw():
        pytest.fail("there was nothing to draw")
    assert budget.left == 0


class Odd(BaseException):
    """Neither an Exception nor anything Python knows."""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError, StopIteration, Odd])
def test_a_set_is_given_back_when_the_work_fails(error):
    budget = Budget(2)
    with pytest.raises(error), budget.draw() as number:  # noqa: PT012
        assert (number, budget.left) == (1, 1)
        raise error
    assert budget.left == 2
    with budget.draw() as number:
        assert number == 1
    assert budget.left == 1


def test_a_set_given_back_does_not_free_another():
    budget = Budget(3)
    with budget.draw() as outer:
        with pytest.raises(ValueError, match="inner"), budget.draw() as inner:  # noqa: PT012
            assert (outer, inner) == (1, 2)
            raise ValueError("inner")
        with budget.draw() as again:
            assert again == 2
    assert budget.left == 1
    with budget.draw() as last:
        assert last == 3


def test_an_exhausted_budget_says_what_to_do():
    single, several = Budget(1), Budget(4)
    for budget in (single, several):
        budget.check()
        for _ in range(budget.size):
            with budget.draw():
                pass
    with pytest.raises(BudgetExhausted, match=r"the test set has been spent.*budget=2") as one:
        single.check()
    with pytest.raises(BudgetExhausted, match=r"all 4 test sets have been spent.*budget=5"):
        several.check()
    assert isinstance(one.value, FairTestError)
    assert isinstance(one.value, RuntimeError)


def test_twenty_threads_that_race_for_three_sets_get_three():
    for _ in range(20):
        budget, barrier = Budget(3), threading.Barrier(20)
        drawn, refused = [], []

        def run(budget=budget, barrier=barrier, drawn=drawn, refused=refused):
            barrier.wait()
            try:
                with budget.draw() as number:
                    drawn.append(number)
            except BudgetExhausted:
                refused.append(1)

        threads = [threading.Thread(target=run) for _ in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(drawn) == [1, 2, 3]
        assert len(refused) == 17
        assert budget.left == 0


def test_threads_that_fail_give_back_exactly_what_they_drew():
    budget, barrier = Budget(5), threading.Barrier(5)
    spent = []

    def run(fails):
        with suppress(KeyboardInterrupt), budget.draw() as number:
            barrier.wait()  # all five are out
            if fails:
                raise KeyboardInterrupt
            spent.append(number)

    threads = [threading.Thread(target=run, args=(i % 2 == 0,)) for i in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert budget.left == 3
    more = []
    for _ in range(3):
        with budget.draw() as number:
            more.append(number)
    assert sorted(spent + more) == [1, 2, 3, 4, 5]


@CHECKED
@given(conf=st.floats(0.5, 0.9999), budget=st.integers(1, 50))
def test_the_levels_of_all_sets_together_keep_the_confidence(conf, budget):
    level, before = set_level(conf, budget), product_level(conf, budget)
    assert 0 < level <= before < 1
    assert level * budget == pytest.approx(1 - conf, rel=1e-9)
    assert (1 - before) ** budget == pytest.approx(conf, rel=1e-12)
    assert set_level(conf, 1) == pytest.approx(product_level(conf, 1), rel=1e-9)


def test_the_level_keeps_its_digits_when_it_is_tiny():
    assert set_level(1 - 1e-12, 4) == pytest.approx(2.5e-13, rel=1e-4)
