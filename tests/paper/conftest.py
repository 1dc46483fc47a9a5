"""The paper's data, which is not part of the project: tests that need it are skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """Return the folder of the paper's data."""
    if not DATA.is_dir():
        pytest.skip("the paper's data is not there: it is expected in the folder shared/data beside the repository")
    return DATA
