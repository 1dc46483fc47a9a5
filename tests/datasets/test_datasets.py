"""The built-in data is what it says it is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairtest.datasets.berkeley import COUNTS, berkeley
from fairtest.datasets.planted import RACES, STATES, Microbenchmark, microbenchmark
from fairtest.datasets.pricing import PLANTED, pricing


class TestBerkeley:
    def test_has_the_published_totals(self) -> None:
        applicants = berkeley()
        assert applicants.shape == (4_526, 3)
        rate = applicants.group_by("gender").agg((pl.col("admitted") == "Yes").mean()).rows_by_key("gender")
        assert rate["Male"][0][0] == pytest.approx(1_198 / 2_691)
        assert rate["Female"][0][0] == pytest.approx(557 / 1_835)

    def test_has_every_count(self) -> None:
        applicants = berkeley()
        for department, genders in COUNTS.items():
            for gender, (yes, no) in genders.items():
                cell = applicants.filter(department=department, gender=gender)
                assert (cell.filter(admitted="Yes").height, cell.height) == (yes, yes + no)

    def test_a_seed_shuffles_the_same_people(self) -> None:
        plain, shuffled = berkeley(), berkeley(seed=1)
        assert not plain.equals(shuffled)
        assert shuffled.equals(berkeley(seed=1))
        order = plain.columns
        assert plain.sort(order).equals(shuffled.sort(order))


class TestPricing:
    def test_the_planted_bias_is_there_and_nowhere_else(self) -> None:
        customers = pricing(1_000_000, seed=1)
        inside = [bias.mask(customers) for bias in PLANTED]
        for bias, mask in zip(PLANTED, inside, strict=True):
            assert _gap(customers, mask) == pytest.approx(bias.points, abs=2)
        assert _gap(customers, ~np.any(inside, axis=0)) == pytest.approx(0, abs=0.5)

    def test_the_whole_hides_it(self) -> None:
        customers = pricing(1_000_000, seed=1)
        assert _gap(customers, np.ones(customers.height, dtype=bool)) == pytest.approx(0, abs=1)

    def test_groups_are_of_a_realistic_size(self) -> None:
        customers = pricing()
        assert all(0.02 < bias.mask(customers).mean() < 0.15 for bias in PLANTED)

    def test_same_seed_same_customers(self) -> None:
        assert pricing(500, seed=3).equals(pricing(500, seed=3))
        assert not pricing(500, seed=3).equals(pricing(500, seed=4))

    def test_has_an_identifier_and_missing_values(self) -> None:
        customers = pricing(5_000)
        assert customers["customer"].n_unique() == 5_000
        assert customers["referrer"].null_count() == pytest.approx(1_500, abs=200)


def _gap(customers: pl.DataFrame, mask: np.ndarray) -> float:
    group = customers.filter(mask)
    low, high = ((group.filter(income=level)["discount"] == "Yes").mean() for level in ("low", "high"))
    return 100 * (low - high)


@pytest.fixture(scope="module")
def made() -> Microbenchmark:
    return microbenchmark(2_000, 0.1, seed=3)


class TestMicrobenchmark:
    def test_population(self, made: Microbenchmark) -> None:
        assert made.frame.height == 988_871
        assert made.frame.columns == ["State", "Race", "Gender", "Income", "Output"]
        assert set(made.frame["State"].unique()) == set(STATES)
        assert set(made.frame["Race"].unique()) == set(RACES)

    def test_state_sizes_fall_with_their_rank(self, made: Microbenchmark) -> None:
        sizes = made.frame["State"].value_counts().sort("State")["count"].to_numpy()
        assert sizes / sizes[0] == pytest.approx(np.arange(1, 52) ** -0.8, rel=1e-3)

    def test_ten_groups_of_the_size_wanted(self, made: Microbenchmark) -> None:
        assert len(set(made.planted)) == 10
        for state, race in made.planted:
            assert 1_000 < made.frame.filter(State=state, Race=race).height <= 2_000

    def test_the_rates_differ_in_them_alone(self, made: Microbenchmark) -> None:
        planted = pl.DataFrame(made.planted, schema=["State", "Race"], orient="row")
        inside = made.frame.join(planted, on=["State", "Race"], how="semi")
        outside = made.frame.join(planted, on=["State", "Race"], how="anti")
        assert _rates(inside) == pytest.approx((0.6, 0.4), abs=0.02)
        assert _rates(outside) == pytest.approx((0.5, 0.5), abs=0.005)

    def test_about_half_have_a_high_income(self, made: Microbenchmark) -> None:
        assert (made.frame["Income"] == "high").mean() == pytest.approx(0.49, abs=0.02)

    def test_same_seed_same_people(self) -> None:
        first, again = (microbenchmark(50, 0.1, seed=9, people=10_000) for _ in range(2))
        assert first.frame.equals(again.frame)
        assert first.planted == again.planted

    @pytest.mark.parametrize("size", [100, 500, 1_000, 5_000, 10_000])
    def test_all_sizes_of_the_paper(self, size: int) -> None:
        made = microbenchmark(size, 0.025, seed=0)
        sizes = [made.frame.filter(State=state, Race=race).height for state, race in made.planted]
        assert max(sizes) <= size
        assert np.median(sizes) > size / 2


def _rates(people: pl.DataFrame) -> tuple[float, float]:
    return tuple(people.filter(Income=level)["Output"].mean() for level in ("high", "low"))
