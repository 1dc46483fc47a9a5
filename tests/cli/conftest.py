from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from calling import fairtest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from calling import Run


@pytest.fixture
def run() -> Callable[..., Run]:
    return fairtest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a file of 1,200 people."""
    rng = np.random.default_rng(1)
    n = 1_200
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    rate = 0.5 - 0.4 * ((sex == "f") & (region == "north"))
    frame = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "sex": sex,
            "race": rng.choice(["a", "b", "c", "?"], n),
            "region": region,
            "age": rng.integers(18, 80, n),
            "department": rng.choice(["x", "y"], n),
            "same": ["x"] * n,
            "hired": np.where(rng.random(n) < rate, "yes", "no"),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path
