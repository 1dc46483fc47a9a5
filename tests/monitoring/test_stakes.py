"""Stakes: reference numbers, idempotence, replay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest.exceptions import UsageError
from fairtest.monitoring.capital import daily_stake
from fairtest.monitoring.evalues.tables import Association
from fairtest.monitoring.stakes import (
    NOTHING,
    Account,
    Block,
    Feeding,
    Opening,
    close_block,
    feed,
    put_in,
    replay,
    settle,
    stakes_from_plain,
    stakes_to_plain,
)

LOG_20 = float(np.log(20))


def block_of(table: tuple[int, int, int, int], day: int, hypothesis: str = "h") -> Block:
    logs = Association().log_e(*(np.array(v) for v in table))
    return Block(hypothesis, f"day {day}", day, (day, 24, 0), tuple(logs.tolist()), (table,))


BLOCKS = {1: (8, 10, 12, 20), 3: (9, 10, 12, 20), 4: (7, 10, 12, 20)}
"""Blocks on days 1, 3 and 4 of one hypothesis that has all of the capital …"""
EXPECTED = [0.270420647080, 0.348265387138, 3.458408806652, 3.891005781789]
"""… and its stake after each of four days, computed independently."""


def test_reference_numbers() -> None:
    account, stakes = Account("h", 1, (NOTHING,) * 10), []
    for day in range(1, 5):
        account = put_in(account, daily_stake(day))
        if day in BLOCKS:
            account = close_block(account, block_of(BLOCKS[day], day), LOG_20)
        stakes.append(account.stake)
    assert stakes == pytest.approx(EXPECTED, abs=1e-11)
    assert account.given == pytest.approx(sum(daily_stake(t) for t in range(1, 5)))


def test_a_block_that_comes_again_does_nothing() -> None:
    fed = put_in(Account("h", 1, (NOTHING,) * 10), 0.5)
    once = close_block(fed, block_of(BLOCKS[1], 1), LOG_20)
    assert once != fed
    assert close_block(once, block_of(BLOCKS[1], 1), LOG_20) is once
    later = close_block(once, block_of(BLOCKS[3], 3), LOG_20)
    assert close_block(later, block_of(BLOCKS[1], 1), LOG_20) is later


def test_a_block_of_another_hypothesis_does_nothing() -> None:
    fed = put_in(Account("h", 1, (NOTHING,) * 10), 0.5)
    assert close_block(fed, block_of(BLOCKS[1], 1, "other"), LOG_20) is fed


def test_a_block_from_before_the_hypothesis_was_fixed_is_refused() -> None:
    with pytest.raises(UsageError, match="began before the hypothesis 'h' was fixed"):
        close_block(Account("h", 5, (NOTHING,) * 10), block_of(BLOCKS[4], 4), LOG_20)


def test_replay() -> None:
    entries = [Opening("h", 1, 10)]
    for day in range(1, 5):
        entries.append(Feeding(day, {"h": daily_stake(day)}))
        entries += [block_of(BLOCKS[day], day)] * 2 if day in BLOCKS else []
    account = replay(entries)["h"]
    assert account.stake == pytest.approx(EXPECTED[-1], abs=1e-11)
    assert not account.alarmed


def test_a_hypothesis_that_was_dropped_begins_again_with_nothing() -> None:
    first = [Opening("h", 1, 10), Feeding(1, {"h": 0.5}), block_of(BLOCKS[1], 1)]
    again = [Opening("h", 9, 10), Opening("h", 1, 10), Feeding(9, {"h": 0.25})]
    account = replay(first + again)["h"]
    assert (account.valid_from, account.given) == (9, 0.25)
    assert account.stake == pytest.approx(0.25)


def test_an_alarm_takes_the_stake() -> None:
    paid = np.log([[[2.0, 1.0], [30.0, 1.0], [0.1, 0.1]]])
    settled = settle(np.log([[0.5, 0.5]]), paid, LOG_20)
    assert settled.alarms.tolist() == [1]
    assert np.exp(settled.log_totals) == pytest.approx([30.5])
    assert settled.bets.tolist() == [0]
    assert np.isneginf(settled.log_stakes).all()


def test_it_is_looked_at_after_every_block_however_many_come_at_once() -> None:
    rng = np.random.default_rng(0)
    start, paid = rng.normal(-3, 1, (5, 4)), rng.normal(0, 1, (5, 20, 4))
    together = settle(start, paid, LOG_20)
    held, first = start, np.full(5, -1)
    for k in range(20):
        step = settle(held, paid[:, k : k + 1], LOG_20)
        first = np.where((first < 0) & (step.alarms >= 0), k, first)
        held = step.log_stakes
    assert (together.alarms == first).all()
    assert (together.log_stakes == held).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_feeding_adds_up(amounts: list[float]) -> None:
    held = np.full((1, 4), NOTHING)
    for amount in amounts:
        held = feed(held, np.array([amount]))
    assert np.exp(held).sum() == pytest.approx(sum(amounts))


def test_stored_stakes_come_back() -> None:
    held = np.array([[NOTHING, -1.25], [0.1 + 0.2, NOTHING]])
    stored = stakes_to_plain(held)
    assert stored[0][0] is None
    assert (stakes_from_plain(stored, 2) == held).all()
