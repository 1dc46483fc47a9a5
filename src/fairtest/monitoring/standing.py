"""How hypotheses stand, for whoever looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.monitoring.stakes import log_totals

if TYPE_CHECKING:
    from fairtest.model.context import Context
    from fairtest.monitoring.life import Life

LARGEST = 700.0
"""The log of the largest stake that is written as a number."""


@dataclass(frozen=True)
class Standing:
    """How one hypothesis stands.

    Attributes
    ----------
    stake
        What the stakes on it have grown to; at 1/α there is an alarm.
    given
        The capital that was put in.
    alarmed
        Whether a bias was found that is not known to be gone; its stake is taken off then.
    echo
        Whether the alarm only said again what one in an overlapping context had said.
    """

    context: Context
    protected: str
    output: str
    stake: float
    given: float
    alarmed: bool
    echo: bool


def standings_of(life: Life) -> list[Standing]:
    """Return how all hypotheses stand: first those that alarmed, then the largest stakes, echoes last."""
    found: list[Standing] = []
    for book in life.books:
        stakes = np.exp(np.minimum(log_totals(book.log_stakes), LARGEST))
        arrays = (stakes, book.given, book.alarmed, book.echo_of >= 0)
        facts = zip(book.contexts, *(array.tolist() for array in arrays), strict=True)
        pair = (book.pair.protected.name, book.pair.output.name)
        found += [Standing(context, *pair, *rest) for context, *rest in facts]
    return sorted(found, key=lambda s: (s.echo, not s.alarmed, -s.stake, str(s.context)))
