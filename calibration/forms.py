"""Lives without bias for every form of bet: values and numbers, strata, small streams, through :class:`fairtest.Watch`.

``python -m calibration.forms --lives 200`` lets monitors of one context live for 120 days, with all capital on it,
while shares of groups, rates and spreads wander; the last two designs let groups and outputs follow the hour. Each line
is printed when it is known.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

import fairtest as ft
from calibration.lives import limits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Made = dict[str, NDArray[Any]]
    Make = Callable[[np.random.Generator, float, NDArray[np.int64]], Made]

START = np.datetime64("2026-01-01")
LETTERS = np.array(list("abcdefgh"))


def _groups(rng: np.random.Generator, wave: float, hour: NDArray[np.int64], number: int = 3) -> NDArray[Any]:
    """Draw groups whose shares follow a slow wave."""
    shares = np.exp(wave * np.linspace(-1, 1, number))
    return LETTERS[rng.choice(number, hour.size, p=shares / shares.sum())]


def tables(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:
    """Three groups, three outputs: both shares wander together."""
    return {"s": _groups(rng, wave, hour), "o": _groups(rng, wave, hour)}


def means(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:
    """Two groups and a number with heavy tails, whose level and spread wander with the share of the groups."""
    number = wave + np.exp(wave) * rng.standard_t(2, hour.size)
    return {"s": _groups(rng, wave, hour, 2), "o": number}


def several_means(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:
    """Three groups and a number."""
    return {"s": _groups(rng, wave, hour), "o": wave + np.exp(rng.normal(wave, 1, hour.size))}


def numbers(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:
    """Two numbers whose levels wander together."""
    return {"s": wave + rng.standard_t(2, hour.size), "o": 2 * wave + np.exp(rng.normal(size=hour.size))}


def strata(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:
    """Eight strata in which groups and outputs go together between, and not within."""
    e = rng.integers(0, 8, hour.size)
    group = rng.random(hour.size) < 0.1 + 0.1 * e
    output = rng.random(hour.size) < np.clip(0.8 - 0.09 * e + 0.1 * wave, 0.02, 0.98)
    return {"s": np.where(group, "f", "m"), "o": output, "e": LETTERS[e]}


def hours(rng: np.random.Generator, wave: float, hour: NDArray[np.int64]) -> Made:  # noqa: ARG001
    """Two groups and two outputs that follow the hour."""
    swing = np.sin(2 * np.pi * hour / 24)
    group = rng.random(hour.size) < 0.5 + 0.2 * swing
    return {"s": np.where(group, "f", "m"), "o": rng.random(hour.size) < 0.3 + 0.1 * swing}


DESIGNS: dict[str, tuple[Make, int, dict[str, Any]]] = {
    "three groups, three outputs": (tables, 60, {}),
    "means, heavy tails": (means, 60, {}),
    "means of three groups": (several_means, 60, {}),
    "two numbers": (numbers, 60, {}),
    "eight strata": (strata, 200, {"explanatory": "e"}),
    "following the hour, 60 a day": (hours, 60, {}),
    "following the hour, 20 a day": (hours, 20, {}),
}


def has_false_alarm(design: str, seed: int, days: int = 120) -> bool:
    """Let one monitor live; return whether it ever alarmed."""
    make, a_day, options = DESIGNS[design]
    rng = np.random.default_rng((31, seed))
    phase = rng.random()

    def records(day: int, n: int) -> Made:
        second = np.sort(rng.integers(0, 86_400, n))
        made = make(rng, np.sin(2 * np.pi * (day / 60 + phase)), second // 3600)
        made["at"] = START + np.timedelta64(day, "D") + (second * 1_000_000).astype("timedelta64[us]")
        return made

    watch = ft.Watch(
        "s", "o", history=records(0, 500), contextual=[], person=False, time="at", search=False, seed=seed, **options
    )
    return any(watch.observe(records(day, a_day)) for day in range(1, days + 1))


def main() -> None:
    """Count false alarms in all designs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--days", type=int, default=120)
    given = parser.parse_args()
    for design in DESIGNS:
        wrong = sum(has_false_alarm(design, seed, given.days) for seed in range(given.lives))
        print(f"{design}: {wrong} of {given.lives} {limits_of(wrong, given.lives)}", flush=True)


if __name__ == "__main__":
    main()
