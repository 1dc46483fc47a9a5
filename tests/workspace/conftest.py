"""A file of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from audits import people_frame

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people_frame().write_csv(path)
    return path
