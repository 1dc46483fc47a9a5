"""What it costs to start: the library, and the command."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.measure import Measured

RUNS = {
    "import fairtest": (["-c", "import fairtest"], 0.5),
    "fairtest --help": (["-m", "fairtest.cli.main", "--help"], 0.7),
}


def run(repeats: int = 3) -> list[Measured]:
    """Return the CPU time of new processes, the interpreter's own start included."""
    return [
        Measured(name, min(_cpu_of(arguments) for _ in range(repeats)), at_most=at_most)
        for name, (arguments, at_most) in RUNS.items()
    ]


def _cpu_of(arguments: list[str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
