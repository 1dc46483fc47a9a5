"""Who gets which capital when, and how long blocks are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest.exceptions import InputError
from fairtest.monitoring.capital import YEAR, check_mode, daily_stake, share_capital
from fairtest.monitoring.slots import choose_slots, effective_strata


class TestDailyStakes:
    def test_reference_numbers(self) -> None:
        stakes = [daily_stake(t) for t in (1, 2, 30, 365, 3650)]
        expected = [0.1788402497, 0.0778447401, 0.00301939382, 0.000150561464, 9.499786177e-06]
        assert stakes == pytest.approx(expected, rel=1e-9)

    def test_a_lifetime_spends_one(self) -> None:
        days = np.arange(1, 2_000_001)
        rest = 5 * 2_000_000**-0.2 / 5.591582441177753  # ∫ t^−1.2
        assert (days**-1.2 / 5.591582441177753).sum() + rest == pytest.approx(1.0, abs=1e-6)

    def test_a_rate_spends_one_a_year(self) -> None:
        assert sum(daily_stake(t, "rate") for t in range(1, YEAR + 1)) == pytest.approx(1.0)

    def test_an_unknown_mode(self) -> None:
        with pytest.raises(InputError, match=r"'mode' must be 'lifetime' or 'rate'\. Got 'yearly'"):
            check_mode("yearly")


class TestShares:
    def test_half_a_quarter_a_quarter(self) -> None:
        origins = ["schema"] * 6 + ["found"] * 2 + ["listed"]
        shares = share_capital(origins, np.array([0, 1, 1, 2, 2, 2, 3, 3, 4]), [True] * 9)
        assert shares == pytest.approx([1 / 6, 1 / 12, 1 / 12, 1 / 18, 1 / 18, 1 / 18, 1 / 8, 1 / 8, 1 / 4])

    def test_what_has_no_taker_goes_to_the_others(self) -> None:
        shares = share_capital(["schema", "schema", "found"], np.array([0, 1, 3]), [True, False, True])
        assert shares == pytest.approx([1 / 6 / (1 / 6 + 1 / 4), 0.0, 1 / 4 / (1 / 6 + 1 / 4)])
        assert not share_capital(["schema"], np.array([0]), [False]).any()

    @given(st.lists(st.tuples(st.sampled_from(["schema", "found", "listed"]), st.integers(0, 2), st.booleans())))
    def test_never_more_than_there_is(self, given_: list[tuple[str, int, bool]]) -> None:
        origins, depths, able = ([g[i] for g in given_] for i in range(3))
        shares = share_capital(origins, np.array(depths, dtype=int), able)
        assert shares.sum() == pytest.approx(float(any(able)))
        assert all(share == 0 for share, may in zip(shares, able, strict=True) if not may)


class TestSlots:
    @pytest.mark.parametrize(
        ("a_day", "hours", "days"),
        [(120, 1, 1), (119, 3, 1), (40, 3, 1), (39, 6, 1), (20, 6, 1), (19, 6, 2), (7, 6, 3), (3, 6, 7), (0, 6, 7)],
    )
    def test_the_finest_with_five_expected(self, a_day: float, hours: int, days: int) -> None:
        found = choose_slots([a_day])
        assert (int(found[0][0]), int(found[1][0])) == (hours, days)

    def test_strata_of_one_record_count_little(self) -> None:
        assert effective_strata([]) == 1.0
        assert effective_strata([100, 1]) < 1.03
        assert effective_strata([10] * 4) == 4.0
