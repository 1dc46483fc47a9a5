"""What a monitor says, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.monitoring.slots import date_of

if TYPE_CHECKING:
    from fairtest.model.context import Context
    from fairtest.monitoring.capital import Mode
    from fairtest.monitoring.events import Event
    from fairtest.monitoring.intervals import Measured
    from fairtest.monitoring.view import Followed


def say_date(day: int) -> str:
    """Return a day as people write it.

    Examples
    --------
    >>> say_date(20526)
    '14 March 2026'
    """
    date = date_of(day)
    return f"{date.day} {date:%B %Y}"


def say_size(gap: float, points: bool) -> str:
    """Return the size of a gap.

    Examples
    --------
    >>> say_size(-0.093, True), say_size(0.05, False)
    ('9.3 points', 'a correlation of 0.05')
    """
    if points:
        text = f"{abs(gap) * 100:.1f}".removesuffix(".0")
        return f"{text} point{'' if text == '1' else 's'}"
    return f"a correlation of {abs(gap):.2g}"


def say_interval(measured: Measured, sign: int, points: bool) -> str:
    """Return an interval that is valid on any day, in the direction of the bias."""
    low, high = sorted((sign * measured.low, sign * measured.high))
    scale, digits = (100, 0) if points else (1, 2)
    ends = (round(scale * bound, digits) + 0.0 for bound in (low, high))  # no −0
    return " to ".join(f"{end:.{digits}f}" for end in ends).replace("-", "−")


def say_gap(measured: Measured | None, sign: int, points: bool) -> str:
    """Return a sentence about the gap over the last weeks."""
    if measured is None:
        return ""
    gap = sign * measured.gap
    size = f"{100 * gap:.0f} points" if points else f"a correlation of {gap:.2f}"
    since = f"over the {measured.records:,} records since {say_date(measured.since)}"
    return f" The gap is {size} {since} (interval valid on any day: {say_interval(measured, sign, points)}).".replace(
        "-", "−"
    )


def say_where(context: Context) -> str:
    """Return the lead of a sentence about a context."""
    return "Among all records" if not len(context) else f"Where {context}"


def say_association(event: Event) -> str:
    """Return what was found, in one sentence: where, who, and in which direction."""
    return f"{say_where(event.context)}, {_comparison(event)}."


def say_followed(followed: Followed) -> str:
    """Return the gap in a context as it stands: with an interval that may be read on any day, where there is one."""
    if followed.gap is None:
        return "Nothing could be compared so far."
    now = followed.now
    if now is None:
        after = "An interval that may be read on any day is there after the first week."
        return f"The gap is {_show_size(followed.gap, followed.points)} over {followed.records:,} records. {after}"
    ends = " to ".join(say_signed(bound, followed.points) for bound in sorted((now.low, now.high)))
    since = f"over the {now.records:,} records since {say_date(now.since)}"
    return f"The gap is {_show_size(now.gap, followed.points)} {since}; the interval {ends} may be read on any day."


def _show_size(gap: float, points: bool) -> str:
    return f"{say_signed(gap, points)} points" if points else f"a correlation of {say_signed(gap, points)}"


def say_signed(value: float, points: bool) -> str:
    """Return a gap with its sign: points, or a correlation.

    Examples
    --------
    >>> say_signed(-0.0934, True), say_signed(0.05, False), say_signed(-0.0001, True)
    ('−9.3', '+0.05', '0.0')
    """
    size, digits = (100 * value, 1) if points else (value, 2)
    size = round(size, digits)
    return f"{size:+.{digits}f}".replace("-", "−") if size else f"{0:.{digits}f}"


def say_claim(event: Event) -> str:
    """Return one sentence for a claim, and one for the gap.

    The sentence names no cause: an alarm is about an association.
    """
    where = say_where(event.context)
    what = _comparison(event)
    gap = say_gap(event.measured, event.sign, event.points)
    if event.kind == "new":
        sure = f"the stake on it reached {event.stake:,.0f}; without any bias, {1 / event.alpha:.0f} is ever reached "
        return (
            f"New: {where[0].lower()}{where[1:]}, {what} ({sure}with a chance of {_percent(event.alpha)} at most).{gap}"
        )
    size = say_size(event.level, event.points)
    lead = {"worse": "Worse", "better": "Better", "gone": "Gone"}[event.kind]
    than = {"worse": f"is now more than {size}", "better": f"is now less than {size}", "gone": f"is below {size}"}
    return f"{lead}: {where[0].lower()}{where[1:]}, the gap in which {what} {than[event.kind]}.{gap}"


def _comparison(event: Event) -> str:
    if not event.group and not event.outcome:
        return f"{event.output} {'rises' if event.sign > 0 else 'falls'} with {event.protected}"
    more = "more" if event.sign > 0 else "less"
    if not event.outcome:
        return f"{event.output} is {'higher' if event.sign > 0 else 'lower'} for {event.protected} = {event.group}"
    if not event.group:
        higher = "higher" if event.sign > 0 else "lower"
        return f"{event.protected} is {higher} for those with {event.output} = {event.outcome}"
    who = f"people with {event.protected} = {event.group}"
    return f"{who} have {event.output} = {event.outcome} {more} often than the others"


def explain_method(protected: list[str], output: list[str], alpha: float, mode: Mode, hypotheses: int) -> str:
    """Return how a monitor decides, in words for everybody."""
    whom = f"{' or '.join(output)} depends on {' or '.join(protected)}"
    promise = (
        f"the chance that any of its stakes ever reaches {1 / alpha:.0f} is at most {_percent(alpha)}, over all "
        f"groups and the "
        "whole life of the monitor"
        if mode == "lifetime"
        else f"at most {alpha:g} false alarms a year are expected, over all groups"
    )
    return (
        f"How this monitor decides. It starts with an imaginary capital of 1 and bets, slot by slot, that in "
        f"some group "
        f"of records {whom}; it follows {hypotheses:,} groups now. If that is not so, no betting scheme can "
        f"be expected "
        f"to gain: {promise}. You may look as often as you like; looking costs nothing. "
        "What is said afterwards has promises of its own: the chance that it ever wrongly says 'worse' is at most "
        f"{_percent(alpha)}, and so is the chance that it ever wrongly says 'better' or 'gone'. 'Gone' is said only "
        f"when the data "
        "show that the gap is small, which takes as many records as finding so small a gap would. "
        "All of this is about association within the hours of a day, not about causes. Another monitor has its own "
        f"{_percent(alpha)}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:g} %"
