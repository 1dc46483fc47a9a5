"""A misbehaving service for each test, and pauses that are short."""

from __future__ import annotations

import pytest
from receivers import KEY, receiving

from fairtest_client import Client, sender


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(sender, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 0.05)


@pytest.fixture
def connect(receiver):
    """Return what makes a client of the receiver; every client is closed after the test."""
    clients = []

    def make(**settings):
        settings = {"every": 0.02, "close_within": 10.0} | settings
        clients.append(Client(settings.pop("url", receiver.url), KEY, **settings))
        return clients[-1]

    yield make
    receiver.always = None
    for client in clients:
        try:
            client.close(0.0)
        except Exception:  # a test that failed has said enough
            continue
