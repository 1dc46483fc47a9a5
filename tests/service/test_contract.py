"""A few requests of every kind to every operation; ``make contract`` makes many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from calibration.faults.contract import check_operations

if TYPE_CHECKING:
    from fairtest.service.settings import Settings


@pytest.fixture
def database_url() -> str:
    """The two databases answer the same; SQLite is enough here."""
    return ""


@pytest.mark.filterwarnings("ignore")  # schemathesis warns of requests that it cannot make up
def test_no_operation_breaks_its_description(settings: Settings) -> None:
    found = list(check_operations(settings, 4))
    assert {operation: wrong for operation, _, wrong in found if wrong} == {}
    assert all(status < 500 for _, statuses, _ in found for status in statuses)
    assert len(found) > 45
