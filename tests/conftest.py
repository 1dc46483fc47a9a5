"""What all tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from fairtest.metrics.registry import named_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.metrics.registry import Metric

settings.register_profile("fairtest", deadline=None)  # machines are noisy: no test fails for being slow
settings.load_profile("fairtest")


@pytest.fixture
def registry() -> Iterator[dict[str, Metric]]:
    """Give the metrics that can be named, and forget those that a test declares."""
    before = dict(named_metrics())
    yield named_metrics()
    named_metrics().clear()
    named_metrics().update(before)
