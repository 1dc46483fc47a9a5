"""What the tests of the repository share."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def own_metrics() -> Iterator[None]:
    """Forget, after a page, the metrics that it declares."""
    import_module("fairtest.metrics.choice")  # loads the built-in ones
    from fairtest.metrics.registry import named_metrics

    before = dict(named_metrics())
    yield
    named_metrics().clear()
    named_metrics().update(before)
