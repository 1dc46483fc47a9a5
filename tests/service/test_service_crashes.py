"""SIGKILL at each named point and at random moments under load: what was acknowledged is there once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hooks import hooked

from calibration.service_crashes import (
    check,
    finish_run,
    finish_send,
    kill_once,
    prepare,
    prepare_run,
    prepare_send,
    work_run,
    work_send,
)
from fairtest.service import pausing

if TYPE_CHECKING:
    from fairtest.service.settings import Settings

POINTS = [point for point in pausing.POINTS if point.split(".")[0] in {"append", "seal", "swap"}]


@pytest.fixture
def prepared(settings: Settings) -> Settings:
    prepare(settings)
    return settings


def test_killed_at_every_point_of_one_store(prepared: Settings) -> None:
    for place, point in enumerate(POINTS):
        if point == "append.staged" and prepared.segments_at == "database":
            continue  # nothing is staged where segments are in the database anyway
        seed = 2 * place + (place + 1) % 2  # odd: batches count as large; the point of staging is the first
        keys = kill_once(prepared, f"{point}:{1 + place % 3}", seed)
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


@pytest.mark.parametrize("point", ["claim.committed", "send.sent"])
def test_a_message_is_told_wherever_its_postman_dies(prepared: Settings, point: str) -> None:
    reachable = replace(prepared, allow_private=("127.0.0.0/8",))
    with hooked() as hook:
        prepare_send(reachable, hook.url)
        kill_once(reachable, f"{point}:1", 0, work_send)
        assert finish_send(reachable) == []
        # whoever dies between sending and noting it sends again: the receiver knows it by its id
        assert len(hook.got) == (2 if point == "send.sent" else 1)
        assert len({headers["webhook-id"] for headers, _ in hook.got}) == 1


def test_every_point_is_one_at_which_somebody_is_killed() -> None:
    others = {"claim.committed", "spend.inside", "spend.committed", "send.sent", "watch.inside", "watch.committed"}
    assert {*POINTS, *others} == set(pausing.POINTS)
