"""The outlook of a monitor: how soon a gap would be noticed, given the records it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.exceptions import InputError, argument
from fairtest.monitoring.capital import share_capital
from fairtest.monitoring.pairs import Form
from fairtest.monitoring.plan import PLANNED, days_until_alarm, say_delay
from fairtest.monitoring.words import say_size

if TYPE_CHECKING:
    from fairtest.monitoring.life import Life, Records
    from fairtest.types import FloatArray

ONSET = 30
"""The day of the monitor on which a bias is imagined to begin."""


@dataclass(frozen=True)
class Outlook:
    """How soon a gap would be noticed.

    Attributes
    ----------
    days
        The median delay in days, within about a fifth.
    hypotheses
        One over the share of the capital that such a context has.
    """

    gap: float
    share: float
    days: float
    records_a_day: float
    hypotheses: float
    group: float
    rate: float
    points: bool = True

    def __str__(self) -> str:
        size = say_size(self.gap, points=self.points)
        what = f"A gap of {size}" if self.points else size[0].upper() + size[1:]
        whom = "all of your records" if self.share == 1 else f"{100 * self.share:.3g} % of your records"
        return f"{what} in {whom} would be noticed {say_delay(self.days)}."


@dataclass(frozen=True)
class Rates:
    """What the records so far say: how many a day, the share of the compared group, the rate of the output."""

    records_a_day: float | None
    group: float
    rate: float
    points: bool = True
    """Whether gaps are differences of rates; a correlation counts like one between two halves at a rate of one half."""


def rates_of(life: Life, history: Records | None) -> Rates:
    """Return the rates of the first pair that has two groups and two outputs, or of its first comparison."""
    pair = next((p for p, of in enumerate(life.pairs) if of.form is Form.TABLE), None)
    census = life.censuses[pair or 0]
    days = len([day for day in census.days if day >= 0])
    a_day = float(census.total[0]) / days if days else None
    if pair is None:
        return Rates(a_day, 0.5, 0.5, points=False)
    if history is None or not history.pairs[pair][2].any():
        return Rates(a_day, 0.5, 0.3)
    protected, output, usable = history.pairs[pair]
    cell = life.pairs[pair].cells[0]
    shares = [float((v[usable] == at).mean()) for v, at in ((protected, cell.group), (output, cell.outcome))]
    group, rate = (min(max(share, 0.01), 0.99) for share in shares)
    return Rates(a_day, group, rate)


def hypotheses_like(life: Life, share: float) -> float:
    """Return one over the share of the capital that a context with such a share of the records has."""
    origins = [origin for book in life.books for origin in book.origins]
    if not origins:
        return 1.0
    depths = np.concatenate([book.depths for book in life.books])
    weights = share_capital(origins, depths, [True] * len(origins))
    sizes = np.concatenate([_sizes(life, pair) for pair in range(len(life.books))])
    known = sizes > 0
    # contexts of about that size; of none, the nearest
    distance = np.abs(np.log(np.where(known, sizes, 1e-9) / share))
    alike = distance <= max(np.log(2), float(distance.min()))
    return float(1 / np.median(weights[alike]))


def _sizes(life: Life, pair: int) -> FloatArray:
    book, total = life.books[pair], life.censuses[pair].total
    records = np.where(book.candidate >= 0, total[np.maximum(book.candidate, 0)], 0)
    return np.asarray(records / max(int(total[0]), 1), dtype=float)


def outlooks_of(life: Life, rates: Rates, records_a_day: float | None = None) -> list[str]:
    """Return in sentences how soon some gaps would be noticed; none where it is not known how many records come."""
    a_day = records_a_day or rates.records_a_day
    if not a_day:
        return []
    above = [(gap, share) for gap, share in PLANNED if gap > life.terms.tolerance]
    return [str(outlook_of(life, rates, gap, share, records_a_day=a_day)) for gap, share in above]


def outlook_of(
    life: Life,
    rates: Rates,
    gap: float,
    share: float,
    *,
    records_a_day: float | None = None,
    group: float | None = None,
    rate: float | None = None,
) -> Outlook:
    """Return how soon a gap in a share of the records would be noticed."""
    a_day = records_a_day or rates.records_a_day
    if not a_day:
        raise InputError(
            f"How many records come in a day is not known yet: say it with {argument('records_a_day')}, or "
            f"give a history "
            "with the time column."
        )
    many = hypotheses_like(life, share)
    facts = {"group": rates.group if group is None else group, "rate": rates.rate if rate is None else rate}
    days = days_until_alarm(
        a_day,
        share,
        gap,
        hypotheses=many,
        onset=ONSET,
        alpha=life.terms.alpha,
        tolerance=life.terms.tolerance,
        mode=life.terms.mode,
        **facts,
    )
    return Outlook(gap, share, days, a_day, many, points=rates.points, **facts)
