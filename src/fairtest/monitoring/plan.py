r"""Planning: how soon a gap would be noticed, said before a monitor begins.

With a gap Δ in a context whose group has the share q and whose output has the rate p, a record is worth about
:math:`φ^2/2` nats, :math:`φ^2 = Δ^2 q(1-q) / (p(1-p))`; a stake of :math:`γ_τ w` must grow to 1/α. So the median
number of records of the context until the alarm is about :math:`2 (\ln(1/(α w γ_τ)) - 1) / φ^2`; simulated delays are
within a tenth of that, or a fifth where they are under two weeks.
"""

from __future__ import annotations

from math import log
from typing import Any

from fairtest.exceptions import InputError, the
from fairtest.monitoring.capital import Mode, daily_stake

PLANNED = ((0.10, 0.05), (0.20, 0.05), (0.10, 1.0))
"""The gaps, and the shares of the records, of which monitors say how soon they would be noticed."""
USUAL = 610
"""How many groups share the capital where nothing is known: the conjunctions of a few columns."""


def records_until_alarm(
    gap: float,
    *,
    hypotheses: float,
    group: float = 0.5,
    rate: float = 0.3,
    onset: int = 30,
    alpha: float = 0.05,
    tolerance: float = 0.0,
    mode: Mode = "lifetime",
) -> float:
    """Return about how many records of a context it takes until a gap is noticed.

    Parameters
    ----------
    gap
        The difference of the rates, as a share: 0.1 is ten points.
    hypotheses
        One over the context's share of the capital: the number of hypotheses, if all have the same.
    group, rate
        The group's share of the records, and the rate of the output.
    onset
        The day of the monitor on which the bias begins.
    tolerance
        The gap that is no bias.

    Examples
    --------
    >>> round(records_until_alarm(0.10, hypotheses=610) / 50)
    48
    """
    if not tolerance < abs(gap) <= 1:
        raise InputError(
            f"{the('gap')} must be a share above the tolerance, such as 0.1 for ten points. Got {gap!r} instead."
        )
    for name, value in (("group", group), ("rate", rate)):
        if not 0 < value < 1:
            raise InputError(f"{the(name)} must be a share between 0 and 1, both excluded. Got {value!r} instead.")
    worth = gap**2 * group * (1 - group) / (rate * (1 - rate)) * (1 - tolerance / abs(gap)) ** 2
    nats = max(log(hypotheses / (alpha * daily_stake(onset, mode))) - 1, 0.5)
    return 2 * nats / worth


def days_until_alarm(records_a_day: float, share: float, gap: float, **settings: Any) -> float:
    """Return about how many days it takes until a gap in a share of the records is noticed."""
    if records_a_day <= 0 or not 0 < share <= 1:
        raise InputError(
            f"{the('share')} must be between 0 and 1, and there must be records. Got {share!r} of "
            f"{records_a_day:g} a day."
        )
    return records_until_alarm(gap, **settings) / (records_a_day * share)


def say_usual_delays(tolerance: float = 0.0) -> list[str]:
    """Return how soon gaps would be noticed among 1,000 records a day and some hundred groups.

    Examples
    --------
    >>> say_usual_delays()[0]
    'If 1,000 records arrive in a day, a gap of 10 points in 5 % of them would be noticed after about 48 days.'
    """
    said = []
    for gap, share in PLANNED:
        if gap > tolerance:
            days = days_until_alarm(1000, share, gap, hypotheses=USUAL, tolerance=tolerance)
            whom = "all of them" if share == 1 else f"{100 * share:.3g} % of them"
            what = f"a gap of {100 * gap:.0f} points in {whom} would be noticed {say_delay(days)}."
            said.append(f"If 1,000 records arrive in a day, {what}")
    return said


def say_delay(days: float) -> str:
    """Return a delay in words.

    Examples
    --------
    >>> say_delay(0.4), say_delay(1.2), say_delay(48.3), say_delay(900.0)
    ('within a day', 'after about a day', 'after about 48 days', 'after about 2.5 years')
    """
    if days < 0.75:
        return "within a day"
    if days < 1.5:
        return "after about a day"
    if days < 700:
        return f"after about {days:.0f} days"
    return f"after about {days / 365:.1f} years"
