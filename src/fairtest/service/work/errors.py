"""What may be said of an error in a log or on a page: nothing of the data."""

from __future__ import annotations

import traceback
from pathlib import Path

from fairtest.exceptions import FairTestError
from fairtest.service.work.memory import SIGNS


def describe_error(error: Exception) -> str:
    """Return what may be said of an error: what the library says to users, else where it was. Nothing of the data."""
    if isinstance(error, FairTestError):
        return " ".join(f"{type(error).__name__}: {error}".split())
    if any(sign in f"{type(error).__name__}: {error}" for sign in SIGNS):
        return MemoryError.__name__
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
