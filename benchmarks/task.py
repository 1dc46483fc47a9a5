"""One piece of work in a process of its own: ``python -m benchmarks.task MODULE FUNCTION ARGUMENTS``.

Prints one line of JSON: the CPU and wall seconds of the work, the peak resident memory of the process, and what the
work says of itself. The limits are the kernel's: the process ends when its CPU time is used up or memory is refused.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module
from pathlib import Path

WARM_ENOUGH = 3.0
"""Work that takes longer than this is done once; shorter work as often as asked, and the quickest counts."""


def main() -> None:
    module, function, given = sys.argv[1:4]
    options = json.loads(given)
    cpu_limit, memory_limit = options.pop("cpu_limit", None), options.pop("memory_limit", None)
    repeats = options.pop("repeats", 1)
    if cpu_limit is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit), int(cpu_limit) + 5))
    if memory_limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory_limit), int(memory_limit)))
    prepare = getattr(import_module(module), function)
    try:
        print(json.dumps(_measured(prepare, options, repeats)))
    except MemoryError:
        print(json.dumps({"ended": "out of memory"}))


def _measured(prepare, options: dict[str, object], repeats: int) -> dict[str, object]:  # type: ignore[no-untyped-def]
    work = prepare(**options)
    cpu, wall = [], []
    answer: dict[str, object] = {}
    while len(cpu) < repeats and (not cpu or cpu[-1] < WARM_ENOUGH):
        begun, before = time.perf_counter(), _used()
        said = work()
        cpu.append(_used() - before)
        wall.append(time.perf_counter() - begun)
        if cpu[-1] == min(cpu):  # what the quickest says of itself
            answer = said
    return {
        "cpu": min(cpu),
        "wall": min(wall),
        "first": cpu[0],
        "peak_mb": peak_memory() / 1e6,
        "answer": answer,
    }


def _used() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def peak_memory() -> float:
    """Return the most memory this process has had resident, in bytes.

    Linux carries the peak of the parent over into ``getrusage``; the high-water mark of the process starts anew.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


if __name__ == "__main__":
    main()
