"""Echoes: alarms that say again what an alarm in an overlapping context has said.

A bias in one context is one in part of every context that overlaps it, so many true alarms follow the first. Leaving
some of them out keeps every promise; what is kept is what says more: a clearly larger gap in a part, or as large a
gap in a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.model.context import Op

if TYPE_CHECKING:
    from fairtest.model.context import Context, Predicate
    from fairtest.monitoring.intervals import Trail

LARGER = 2.0
"""A gap in a part is clearly larger if it is so many times as large."""
FEWEST_DAYS = 3
"""Gaps are compared over so many days at least."""
_WINDOWS = (3, 7, 28)


def overlap(first: Context, second: Context) -> bool:
    """Whether a record can be in both contexts.

    Examples
    --------
    >>> from fairtest.model.context import Context, Predicate
    >>> north, old = (Context.of([Predicate(*p)]) for p in (("region", "==", "N"), ("age", ">", 60)))
    >>> overlap(north, old), overlap(north, Context.of([Predicate("region", "==", "S")]))
    (True, False)
    """
    return not any(_excludes(a, b) for a in first.predicates for b in second.predicates if a.column == b.column)


def _excludes(first: Predicate, second: Predicate) -> bool:
    if Op.MISSING in (first.op, second.op):
        return first.op is not second.op
    bounds = {first.op: first, second.op: second}
    if set(bounds) == {Op.AT_MOST, Op.ABOVE}:
        return bounds[Op.ABOVE].rank >= bounds[Op.AT_MOST].rank
    if first.op in (Op.IS, Op.IN) and second.op in (Op.IS, Op.IN):
        values = [p.value if isinstance(p.value, tuple) else (p.value,) for p in (first, second)]
        return not set(values[0]) & set(values[1])
    return False


@dataclass(frozen=True)
class Seen:
    """A gap in a context over some days, in the direction of the bias, and the records it was seen in."""

    context: Context
    gap: float
    records: float


def is_echo(new: Seen, known: Seen) -> bool:
    """Whether an alarm says nothing beyond another one.

    If the bias were in the known context alone, a whole around it would have the share of the gap that the known
    context has of its records; a whole with half of what is missing to the full gap is news.
    """
    if not overlap(new.context, known.context):
        return False
    if len(new.context) < len(known.context) and new.context.contains(known.context):
        share = min(known.records / max(new.records, 1.0), 1.0)
        return new.gap < known.gap * (1 + share) / 2
    return new.gap <= LARGER * known.gap


def see(context: Context, trail: Trail, sign: int, since: int, day: int, otherwise: float) -> Seen:
    """Return the gap of a context from a day on until the day before another; ``otherwise`` where there is none.

    What began on that very day cannot be seen in days before it: then the day itself is looked at.
    """
    sums = trail.between(day, day) if since >= day else trail.between(min(since, day - FEWEST_DAYS), day - 1)
    return Seen(context, sign * sums[1] / sums[0] if sums[0] > 0 else otherwise, float(sums[3]))


def seen_gap(trail: Trail, sign: int, day: int) -> float:
    """Return how large a gap looks when it is found: the largest over the last days, and so rather too large."""
    sums = [trail.between(day - days + 1, day) for days in _WINDOWS]
    return float(max((sign * s[1] / s[0] for s in sums if s[0] > 0), default=np.float64(0.0)))
