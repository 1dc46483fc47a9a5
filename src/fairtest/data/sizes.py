"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

from fairtest.exceptions import InputError, the

LEAST = 100_000_000
_UNITS = {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def as_bytes(memory: str | int | float, argument: str = "") -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> as_bytes("1.5 GB"), as_bytes("512MiB"), as_bytes(200_000_000)
    (1500000000, 536870912, 200000000)
    """
    text = "" if isinstance(memory, bool) else str(memory)
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([a-z]*)\s*", text.casefold())
    size = int(float(match[1]) * _UNITS[match[2]]) if match and match[2] in _UNITS else 0
    if size < LEAST:
        raise InputError(
            f"{argument or the('memory', 'of DataSource')} must be an amount such as '1 GB' or '500 MB', of at least "
            f"{LEAST // 10**6} MB. Got {memory!r} instead."
        )
    return size
