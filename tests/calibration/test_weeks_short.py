"""Weeks of daily reports, in small."""

from __future__ import annotations

from calibration.weeks import count_false_reports


def test_a_week_without_bias() -> None:
    assert count_false_reports(0, 500) == 0
