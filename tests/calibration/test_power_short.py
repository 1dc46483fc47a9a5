"""A short version of the power benchmarks."""

from calibration.power import narrow, wide


def test_large_planted_contexts_are_reported_exactly():
    trial = narrow(2000, 0.15, seed=1, people=200_000)
    assert trial.hits >= 9
    assert not trial.false


def test_planted_contexts_of_several_shapes_are_found_among_many_columns():
    trial = wide(0.2, seed=1, people=60_000)
    assert trial.hits >= 8
    assert trial.reported <= 60
