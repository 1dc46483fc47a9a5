"""Work in a new process, by whatever interpreter: its CPU and wall time, its peak memory, or how it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Run", "in_a_new_process"]

ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"], "1"
)


@dataclass(frozen=True)
class Run:
    """One piece of work, measured.

    Attributes
    ----------
    cpu, wall, first
        Seconds: the quickest of several runs in one process, and the CPU time of the first of them; NaN if it ended.
    peak_mb
        The peak resident memory of the process, in megabytes.
    answer
        What the work says of itself.
    ended
        Why there is no result: out of time, of memory, or the error; empty if there is one.
    """

    name: str
    cpu: float = float("nan")
    wall: float = float("nan")
    first: float = float("nan")
    peak_mb: float = float("nan")
    answer: dict[str, Any] = field(default_factory=dict)
    ended: str = ""


def in_a_new_process(
    name: str, module: str, function: str, options: dict[str, Any], python: str | Path = sys.executable
) -> Run:
    """Run ``module.function(**options)`` in a new process with one thread; see :mod:`benchmarks.task`."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [str(python), "-m", "benchmarks.task", module, function, json.dumps(options)],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        run = Run(name, ended=f"stopped after {options.get('cpu_limit', '?')} CPU-s")
    elif done.returncode:
        run = Run(name, ended=_last_line(done.stderr))
    else:
        run = Run(name, **json.loads(done.stdout.splitlines()[-1]))
    print(f"{name}: {run.ended or f'{run.cpu:.3f} CPU-s, {run.wall:.3f} s, {run.peak_mb:,.0f} MB'}", flush=True)
    return run


def _last_line(text: str) -> str:
    """Return what an error says; being refused memory has many faces."""
    if "MemoryError" in text or "allocate" in text:
        return "out of memory"
    lines = text.strip().splitlines()
    return lines[-1] if lines else "ended without a word"
