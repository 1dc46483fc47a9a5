"""How a benchmark is timed, and what its result looks like."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")

YARDSTICK_NUMBERS = 10_000_000


@dataclass(frozen=True)
class Measured:
    """The CPU seconds of one benchmark.

    Attributes
    ----------
    prototype
        What the prototype of 2016 takes for the same, in CPU seconds on a current machine; None where there is none.
    at_most
        What it may take at most, in CPU seconds; None where nothing is laid down.
    """

    name: str
    seconds: float
    prototype: float | None = None
    at_most: float | None = None


def cpu_seconds(prepare: Callable[[], T], work: Callable[[T], R], repeats: int = 3) -> tuple[float, R]:
    """Return the CPU time of ``work``, the quickest of several runs, all threads together; and the last result.

    Every run works on what ``prepare`` gives it, whose time does not count.
    """
    times = []
    for _ in range(repeats):
        given = prepare()
        start = time.process_time()
        result = work(given)
        times.append(time.process_time() - start)
    return min(times), result


def yardstick(numbers: int = YARDSTICK_NUMBERS) -> float:
    """Return the CPU time of numpy for sorting ten million doubles, a measure of the machine."""
    values = np.random.default_rng(0).random(numbers)
    return cpu_seconds(lambda: values, np.sort)[0]


def table(results: Sequence[Measured], unit: float) -> str:
    """Return the results as a table, in seconds, in yardsticks and against the prototype."""
    head = f"{'':<50} {'CPU s':>8} {'yardsticks':>11} {'at most':>8} {'prototype':>10} {'times faster':>13}"
    lines = [head, "─" * len(head)]
    for r in results:
        at_most = "" if r.at_most is None else f"{r.at_most:.2f}"
        prototype, faster = ("", "") if r.prototype is None else (f"{r.prototype:g}", f"{r.prototype / r.seconds:.0f}")
        lines.append(
            f"{r.name:<50} {r.seconds:>8.3f} {r.seconds / unit:>11.2f} {at_most:>8} {prototype:>10} {faster:>13}"
        )
    return "\n".join([*lines, f"{'yardstick: numpy sorts ten million doubles':<50} {unit:>8.3f} {1:>11.2f}"])
