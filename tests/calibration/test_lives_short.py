"""Lives of monitors, in small: no false alarm where none is likely, and a bias that is noticed in time."""

from __future__ import annotations

import pytest

from calibration.forms import DESIGNS, has_false_alarm
from calibration.lives import (
    WORLDS,
    Simulation,
    World,
    count_false_alarms,
    known_columns,
    measure_claims,
    measure_delays,
)


def test_lives_without_bias(capsys: pytest.CaptureFixture[str]) -> None:
    hits, lives = count_false_alarms(8, 40)
    assert lives == 8
    assert hits <= 2  # of 8 lives with a chance of 5 % each, three or more in one of 170
    assert "following the hour" in capsys.readouterr().out


def test_a_life_with_the_daily_search(capsys: pytest.CaptureFixture[str]) -> None:
    hits, lives = count_false_alarms(1, 20, search=True, worlds=WORLDS[:1])
    assert (hits, lives) == (0, 1)


def test_the_false_alarms_that_blocks_of_a_day_would_give_are_seen() -> None:
    """The fault put in: groups and outputs follow the hour, and blocks are days."""
    following = World("following the hour", 1000, WORLDS[3].group, WORLDS[3].rate)
    alarm = Simulation(known_columns(), following, 60, 0, whole_days=True).run(lambda event: event.kind == "new")
    assert alarm is not None
    quiet = Simulation(known_columns(), following, 60, 0).run(lambda event: event.kind == "new")
    assert quiet is None


@pytest.mark.parametrize("whole_days", [True, False])
def test_a_bias_is_noticed_in_time(whole_days: bool, capsys: pytest.CaptureFixture[str]) -> None:
    (median,) = measure_delays(5, (1,), whole_days=whole_days)
    assert 4 <= median <= 18
    assert "5 of 5 within 90" in capsys.readouterr().out


@pytest.mark.parametrize("design", DESIGNS)
def test_every_form_of_bet_is_quiet_without_bias(design: str) -> None:
    assert sum(has_false_alarm(design, seed, days=20) for seed in range(2)) == 0


def test_it_is_said_when_it_is_less(capsys: pytest.CaptureFixture[str]) -> None:
    (median,) = measure_claims(3, (1,))
    assert 4 <= median <= 30
    assert "before it was true in 0 of 3" in capsys.readouterr().out
