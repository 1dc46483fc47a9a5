"""Files are written first and named in the database afterwards; what nobody names is swept away.

Whoever stands still between the two for long must not name a file that may be gone.
"""

from __future__ import annotations

SWEPT_AFTER = 3600.0
"""Seconds after which a file that no manifest names is taken for what a crash left, and removed."""
NAMED_WITHIN = SWEPT_AFTER / 2
"""Seconds within which a file must be named after it was begun: later, it may have been swept away."""


def is_too_late(now: float, began: float) -> bool:
    """Return whether a file that was begun at some time may be gone.

    Examples
    --------
    >>> is_too_late(1000.0, 990.0), is_too_late(9000.0, 1000.0)
    (False, True)
    """
    return abs(now - began) > NAMED_WITHIN
