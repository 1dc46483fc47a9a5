"""SIGKILL at each named point and at random moments under load: what was acknowledged is there once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from calibration.service_crashes import check, finish_run, kill_once, prepare, prepare_run, work_run

if TYPE_CHECKING:
    from fairtest.service.settings import Settings

POINTS = (
    "append.inside",
    "append.committed",
    "seal.written",
    "seal.inside",
    "seal.committed",
    "swap.inside",
    "swap.committed",
)


@pytest.fixture
def prepared(settings: Settings) -> Settings:
    prepare(settings)
    return settings


def test_killed_at_every_point_of_one_store(prepared: Settings) -> None:
    for seed, point in enumerate(POINTS):
        keys = kill_once(prepared, f"{point}:{1 + seed % 3}", seed)
        assert check(prepared, keys, seed) == [], point


@pytest.mark.parametrize("seconds", [0.4, 0.9])
def test_killed_at_any_moment(prepared: Settings, seconds: float) -> None:
    keys = kill_once(prepared, seconds, 7)
    assert check(prepared, keys, 7) == []


@pytest.mark.parametrize("point", ["claim.committed", "spend.inside", "spend.committed"])
def test_a_run_is_spent_once_wherever_its_worker_dies(prepared: Settings, point: str) -> None:
    prepare_run(prepared)
    assert kill_once(prepared, f"{point}:1", 0, work_run) == []
    assert finish_run(prepared) == []
