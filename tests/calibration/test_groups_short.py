"""A short version of ``python -m calibration.groups``."""

from calibration.groups import DESIGNS, FALSE, covers, is_false, numbers


def test_gaps_hold_together():
    for name in ("rates, census", "rates given job", "means, normal"):
        assert sum(covers(DESIGNS[name], seed) for seed in range(12)) >= 10


def test_whole_runs_are_seldom_false():
    assert sum(is_false(name, seed) for name in FALSE for seed in range(3)) <= 3


def test_medians_and_ratios_hold():
    name, medians, ratios, runs = next(iter(numbers(60)))
    assert min(medians, ratios) >= 0.85 * runs, name
