"""A short version of the simulations of Discovery."""

from calibration.discovery import run


def test_planted_labels_are_reported():
    trial = run(1, planted=True, people=30_000, labels=150)
    assert trial.everywhere == 5
    assert trial.in_context >= 4
    assert trial.false == 0


def test_noise_is_not():
    assert not any(run(seed, planted=False, people=4_000, labels=60).false for seed in range(4))
