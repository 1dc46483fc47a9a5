"""Worse, better, gone; intervals over time; planning; echoes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fairtest.exceptions import InputError
from fairtest.model.context import Context, Predicate
from fairtest.monitoring.claims import Following, following_from_plain, following_to_plain, levels_above, share_of
from fairtest.monitoring.echoes import Seen, is_echo, overlap, see, seen_gap
from fairtest.monitoring.intervals import Trail, exact_interval, radius, trail_from_plain, trail_to_plain
from fairtest.monitoring.plan import days_until_alarm, records_until_alarm

LOG_20 = float(np.log(20))


def follow(
    rng: np.random.Generator, gaps: list[float], *, a_day: int, sign: int = 1, seen: float = 0.1
) -> dict[str, int]:
    """Bet on claims day after day; return the day on which each was first shown."""
    following = Following.begin(levels_above(0.0), 0, sign, order=1, since=0, seen=seen)
    shown: dict[str, int] = {}
    for day, gap in enumerate(gaps, start=1):
        following.begin_day(day)
        n1 = rng.binomial(a_day, 0.5)
        x, y = rng.binomial(n1, 0.4 + gap / 2), rng.binomial(a_day - n1, 0.4 - gap / 2)
        table = [np.array([v]) for v in (x, n1, x + y, a_day)]
        for claim in following.close_table(*table, LOG_20):
            shown[f"{claim.kind} {claim.level:g}"] = day
    return shown


class TestClaims:
    def test_more_and_more(self) -> None:
        shown = follow(np.random.default_rng(0), [0.15] * 60, a_day=500)
        assert {"worse 0.02", "worse 0.05", "worse 0.1", "better 0.2"} <= set(shown)
        assert "worse 0.2" not in shown
        assert "gone 0.02" not in shown
        assert shown["worse 0.02"] <= shown["worse 0.05"] <= shown["worse 0.1"]

    def test_gone_after_it_is_off(self) -> None:
        shown = follow(np.random.default_rng(1), [0.1] * 30 + [0.0] * 200, a_day=500)
        assert shown["worse 0.05"] <= 30 < shown["better 0.05"] < shown["gone 0.02"]

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_bias_the_other_way_is_not_gone(self, sign: int) -> None:
        shown = follow(np.random.default_rng(2), [-0.1 * sign] * 150, a_day=500, sign=sign)
        assert "gone 0.02" not in shown
        assert not any(name.startswith("worse") for name in shown)

    def test_an_effect_at_the_level_is_seldom_called_less_or_more(self) -> None:
        """The chance is at most 5 % for each; 100 lives, and a limit that 5 % stays under with 99 %."""
        false = {"worse 0.2": 0, "better 0.2": 0}
        for seed in range(100):
            shown = follow(np.random.default_rng((5, seed)), [0.2] * 60, a_day=48)
            for name in false:
                false[name] += name in shown
        assert max(false.values()) <= 11

    def test_what_is_news(self) -> None:
        following = Following.begin(levels_above(0.0), 0, 1, 1, 0, seen=0.07)
        first = following.close_window((0.06, 0.09))
        assert [(c.kind, c.level, c.news) for c in first] == [
            ("worse", 0.02, False),
            ("worse", 0.05, False),
            ("better", 0.2, False),
            ("better", 0.1, False),
        ]
        assert [(c.kind, c.level, c.news) for c in following.close_window((0.11, 0.19))] == [("worse", 0.1, True)]
        after = [(c.kind, c.level, c.news) for c in following.close_window((-0.01, 0.01))]
        assert after == [("better", 0.05, True), ("gone", 0.02, True)]

    def test_windows_against_the_sign(self) -> None:
        following = Following.begin(levels_above(0.0), 0, -1, 1, 0, seen=0.0)
        assert [c.level for c in following.close_window((-0.3, -0.06)) if c.kind == "worse"] == [0.02, 0.05]

    def test_shares_fall_and_add_up(self) -> None:
        assert sum(share_of(k) for k in range(1, 100_000)) < 1
        assert share_of(1) > share_of(2)

    def test_a_tolerance_is_the_lowest_level(self) -> None:
        assert levels_above(0.1) == (0.1, 0.2)

    def test_stored_and_back(self) -> None:
        following = Following.begin(levels_above(0.0), 2, -1, 3, 7, 0.1)
        following.begin_day(8)
        table = [np.array([v]) for v in (30, 40, 50, 100)]
        following.close_table(*table, LOG_20)
        back = following_from_plain(json.loads(json.dumps(following_to_plain(following))))
        assert (back.more == following.more).all()
        assert following_to_plain(back) == following_to_plain(following)


class TestIntervals:
    def test_reference_number(self) -> None:
        assert float(radius(100.0, 0.05, 10.0)) == pytest.approx(30.378110214260, abs=1e-11)

    def trail(self, rng: np.random.Generator, gap: float, days: int = 60, a_day: int = 200) -> Trail:
        trail = Trail()
        for day in range(days):
            n1 = rng.binomial(a_day, 0.5)
            n2 = a_day - n1
            x, y = rng.binomial(n1, 0.3 + gap / 2), rng.binomial(n2, 0.3 - gap / 2)
            weight = n1 * n2 / a_day
            p, q = (x + 0.5) / (n1 + 1), (y + 0.5) / (n2 + 1)
            v = p * (1 - p) / n1 + q * (1 - q) / n2
            trail.add(100 + day, np.array([weight, weight * (x / n1 - y / n2), weight**2 * v, a_day]))
        return trail

    def test_it_covers_on_all_days_at_once(self) -> None:
        missed = 0
        for seed in range(200):
            trail = self.trail(np.random.default_rng((3, seed)), 0.08)
            lines = [trail.running(day, 0.05) for day in trail.days[8:]]
            missed += any(not line.low <= 0.08 <= line.high for line in lines if line is not None)
        assert missed <= 18

    def test_nothing_in_the_first_week(self) -> None:
        trail = self.trail(np.random.default_rng(0), 0.1, days=7)
        assert trail.running(106, 0.05) is None
        assert Trail().running(5, 0.05) is None

    def test_windows_see_the_change_and_are_wider(self) -> None:
        rng = np.random.default_rng(0)
        trail, after = self.trail(rng, 0.0), self.trail(rng, 0.2)
        for day, sums in zip(after.days, after.sums, strict=True):
            trail.add(day + 60, sums)
        window, whole = trail.window(192, 219, 100, 0.05), trail.running(219, 0.05)
        assert window is not None
        assert whole is not None
        assert window.gap == pytest.approx(0.2, abs=0.03)
        assert whole.gap == pytest.approx(0.107, abs=0.03)
        assert window.high - window.low > whole.high - whole.low
        assert window.records == 28 * 200
        young = trail.window(192, 219, 190, 0.05)
        assert young is not None
        assert young.high - young.low < window.high - window.low  # the longer it lives, the more windows share the 5 %

    def test_weeks_are_pooled_without_losing_anything(self) -> None:
        trail = self.trail(np.random.default_rng(0), 0.1, days=200)
        before = trail.between(0, 1000)
        trail.pool_weeks(300)
        assert len(trail.days) < 120
        assert trail.between(0, 1000) == pytest.approx(before)

    def test_the_exact_interval_covers(self) -> None:
        missed = 0
        for seed in range(100):
            rng = np.random.default_rng((9, seed))
            n1, n2 = rng.binomial(30, 0.5, 60) + 1, rng.binomial(30, 0.5, 60) + 1
            x, y = rng.binomial(n1, 1 / (1 + np.exp(-0.5))), rng.binomial(n2, 0.5)
            low, high = exact_interval(x, n1, x + y, n1 + n2)
            missed += not low - 0.05 <= 0.5 <= high + 0.05
        assert missed <= 10

    def test_stored_and_back(self) -> None:
        trail = self.trail(np.random.default_rng(0), 0.1, days=20)
        back = trail_from_plain(json.loads(json.dumps(trail_to_plain(trail))))
        assert back.running(119, 0.05) == trail.running(119, 0.05)


class TestPlan:
    @pytest.mark.parametrize(
        ("a_day", "share", "gap", "simulated"),
        [
            (1_000, 0.25, 0.05, 38),
            (1_000, 0.25, 0.10, 11),
            (1_000, 0.05, 0.10, 48),
            (1_000, 0.05, 0.20, 14),
            (1_000, 0.01, 0.20, 62),
            (5_000, 0.05, 0.05, 40),
            (20_000, 0.01, 0.05, 45),
        ],
    )
    def test_simulated_delays_of_610_hypotheses(self, a_day: int, share: float, gap: float, simulated: int) -> None:
        assert days_until_alarm(a_day, share, gap, hypotheses=610) == pytest.approx(simulated, rel=0.2)

    def test_a_week_at_a_high_rate(self) -> None:
        records = records_until_alarm(0.2, hypotheses=610, onset=3)
        assert records == pytest.approx(480, rel=0.1)

    def test_a_tolerance_makes_it_later(self) -> None:
        plain = records_until_alarm(0.1, hypotheses=100)
        assert records_until_alarm(0.1, hypotheses=100, tolerance=0.05) == pytest.approx(4 * plain)

    @pytest.mark.parametrize(("name", "value"), [("gap", 0.0), ("gap", 5), ("group", 1.0), ("rate", 0.0)])
    def test_what_cannot_be(self, name: str, value: float) -> None:
        facts = {"gap": 0.1, "hypotheses": 10} | {name: value}
        with pytest.raises(InputError, match=f"'{name}' must be"):
            records_until_alarm(**facts)


def context(*predicates: tuple[object, ...]) -> Context:
    return Context.of([Predicate(*p) for p in predicates])  # type: ignore[arg-type]


class TestEchoes:
    north, south = context(("region", "==", "N")), context(("region", "==", "S"))

    @pytest.mark.parametrize(
        ("first", "second", "both"),
        [
            (context(("age", "<=", 40)), context(("age", ">", 40)), False),
            (context(("age", "<=", 40)), context(("age", ">", 39)), True),
            (context(("age", "missing")), context(("age", ">", 39)), False),
            (context(("r", "in", ("N", "S"))), context(("r", "==", "S")), True),
            (context(("r", "in", ("N", "S"))), context(("r", "==", "W")), False),
        ],
    )
    def test_overlap(self, first: Context, second: Context, both: bool) -> None:
        assert overlap(first, second) is overlap(second, first) is both

    def test_a_part_with_the_same_gap_is_one(self) -> None:
        part = Context.of([*self.north.predicates, Predicate("age", ">", 40)])  # type: ignore[arg-type]
        assert is_echo(Seen(part, 0.12, 50), Seen(self.north, 0.1, 100))
        assert not is_echo(Seen(part, 0.3, 50), Seen(self.north, 0.1, 100))

    def test_a_whole_with_as_large_a_gap_is_none(self) -> None:
        known = Seen(self.north, 0.1, 100)
        assert is_echo(Seen(Context(), 0.03, 400), known)
        assert not is_echo(Seen(Context(), 0.09, 400), known)
        assert is_echo(Seen(Context(), 0.07, 200), known)  # half of it alone would give 0.05

    def test_others_are_none(self) -> None:
        assert not is_echo(Seen(self.south, 0.05, 100), Seen(self.north, 0.1, 100))

    def test_gaps_are_compared_on_days_that_are_over(self) -> None:
        trail = Trail()
        for day in range(10):
            trail.add(day, np.array([10.0, 10 * (0.9 if day == 9 else 0.1), 1.0, 40.0]))
        assert see(self.north, trail, 1, 6, 9, 0.0) == Seen(self.north, pytest.approx(0.1), 120.0)
        assert see(self.north, Trail(), 1, 6, 9, 0.25).gap == 0.25

    def test_the_gap_that_is_seen_is_that_of_the_last_days(self) -> None:
        trail = Trail()
        for day in range(40):
            trail.add(day, np.array([10.0, 10 * (-0.2 if day >= 37 else 0.0), 1.0, 40.0]))
        assert seen_gap(trail, -1, 39) == pytest.approx(0.2)
