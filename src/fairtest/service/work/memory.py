"""How much memory a run may take: one that needs more ends by itself, and nothing else on the machine does."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

SHARE = 0.75
"""What a run may take of the machine's memory where nothing else is said."""
SIGNS = (
    "MemoryError", "memory allocation of", "Cannot allocate memory", "out of memory", "failed to map segment",
    "Resource temporarily unavailable",
)  # fmt: skip
"""What Python and the compiled libraries say when they get no memory; the last, when a thread gets none."""
KILLED = -9


def limit_memory(most: int) -> int:
    """Let this process take no more than ``most`` bytes from now on (0: a share of the machine); return how many.

    The limit is one of addresses, of which libraries reserve many that they never use: those of now are not counted.
    """
    most = most or int(SHARE * machine_memory())
    with suppress(ImportError, OSError, ValueError):  # not every system has this limit, or lets it be set
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + most
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    return most


def machine_memory() -> int:
    """Return how many bytes of memory there are, for this container where it is one."""
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        return min(of_machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))  # "max" where there is no limit
    return of_machine


def say_out_of_memory(code: int, errors: str, most: int) -> str | None:
    """Return what to say of a process that ended for want of memory; None if it ended for another reason."""
    if code != KILLED and not any(sign in errors for sign in SIGNS):
        return None
    most = most or int(SHARE * machine_memory())
    return (
        f"It needed more memory than the {most / 1e9:.3g} GB that a run may take, or than the machine has left. "
        "Allow more with --run-memory, or let the monitor look at fewer people: a shorter training_days, "
        "or a smaller max_depth."
    )
