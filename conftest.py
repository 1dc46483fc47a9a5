"""What all tests and doctests share: nothing of what they do may reach the user's own files."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

collect_ignore_glob = [
    "tests/*conftest.py",  # they hold no doctests, and would be imported under one name
    "src/fairtest/service/store/migrations/*",  # Alembic runs them
]
os.environ["FAIRTEST_REGISTRY"] = "off"  # tests audit the same people again and again
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in jobs in the background, and passed on to what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    os.environ["FAIRTEST_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    del os.environ["FAIRTEST_HOME"]
