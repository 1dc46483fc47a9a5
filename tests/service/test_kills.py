"""The server and the worker killed while clients send over HTTP; ``make service-kills`` does it fifty times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.faults.kills import kill_under_load

if TYPE_CHECKING:
    from fairtest.service.settings import Settings


def test_killed_while_clients_send(settings: Settings) -> None:
    wrong, clients = kill_under_load(settings, 2, 5, longest=1.0)
    assert wrong == []
    assert len(clients.acknowledged) > 8
    assert set(clients.statuses) <= {0, 200, 201, 503}
