"""Streams of records, and watches over them, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import fairtest as ft

FIRST = np.datetime64("2026-01-01")


def records(
    rng: np.random.Generator, day: int, n: int = 300, gap: float = 0.0, region: str = "N", **more: Any
) -> dict[str, Any]:
    """A day of applicants; women in one region are hired less often."""
    sex, where = rng.choice(["f", "m"], n), rng.choice(["N", "S", "E"], n)
    rate = 0.45 - gap * ((sex == "f") & (where == region))
    seconds = (1_000_000 * np.sort(rng.integers(0, 86_400, n))).astype("timedelta64[us]")
    frame = {
        "sex": sex,
        "region": where,
        "hired": rng.random(n) < rate,
        "at": FIRST + np.timedelta64(day, "D") + seconds,
    }
    return {**frame, **more}


def watch(rng: np.random.Generator, **options: Any) -> ft.Watch:
    settings: dict[str, Any] = {"person": False, "time": "at", "search": False, "reference": {"sex": "m"}}
    return ft.Watch("sex", "hired", history=records(rng, 0, 500), **{**settings, **options})


def live(w: ft.Watch, rng: np.random.Generator, days: range, gap: float = 0.0, **options: Any) -> list[Any]:
    return [event for day in days for event in w.observe(records(rng, day, gap=gap, **options))]
