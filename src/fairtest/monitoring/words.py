"""What a monitor says, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairtest.monitoring.slots import date_of

if TYPE_CHECKING:
    from fairtest.model.context import Context
    from fairtest.monitoring.capital import Mode
    from fairtest.monitoring.events import Event
    from fairtest.monitoring.intervals import Measured
    from fairtest.monitoring.view import Followed


@dataclass(frozen=True)
class OwnWords:
    """What the user calls things, as in a report.

    Attributes
    ----------
    columns, groups
        What columns are called, and the people with a value: ``{"sex": {"f": "women"}}``.
    people
        What the records are about: ``"applicants"``.
    outcomes
        What happens to those with a value of an output: ``{("hired", "true"): "are hired"}``.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    people: str = "people"
    outcomes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Mapping[str, Any]) -> OwnWords:
        """Return the words that a question has: ``labels``, ``people``, and ``outcome`` for the favourable value.

        Examples
        --------
        >>> asked = {"output": "hired", "favourable": {"hired": True}, "outcome": "are hired", "people": "applicants"}
        >>> OwnWords.of({**asked, "labels": {"sex": {"f": "women", "": "gender"}}})
        OwnWords(columns={'sex': 'gender'}, groups={'sex': {'f': 'women'}}, people='applicants', \
outcomes={('hired', 'true'): 'are hired'})
        """
        columns: dict[str, str] = {}
        groups: dict[str, dict[str, str]] = {}
        for name, words in (question.get("labels") or {}).items():
            own = {"": words} if isinstance(words, str) else {str(value): each for value, each in words.items()}
            columns |= {name: own.pop("")} if "" in own else {}
            groups |= {name: own} if own else {}
        outcome = question.get("outcome")
        favourable: Mapping[str, Any] = question.get("favourable") or {}
        happens = {
            (name, _as_written(value)): words
            for name, value in favourable.items()
            if (words := outcome.get(name) if isinstance(outcome, Mapping) else outcome)
        }
        return cls(columns, groups, question.get("people") or "people", happens)

    def name_column(self, name: str) -> str:
        """Return what a column is called."""
        return self.columns.get(name, name)

    def name_group(self, column: str, value: str) -> str:
        """Return what the people with a value are called."""
        of_column = self.groups.get(column, {})
        return of_column.get(value) or f"{self.people} with {self.name_column(column)} = {value}"

    def say_outcome(self, output: str, value: str, often: str) -> str:
        """Return what happens more or less often."""
        happens = self.outcomes.get((output, _as_written(value)))
        return f"{happens or f'have {self.name_column(output)} = {value}'} {often} often"


PLAIN = OwnWords()


def _as_written(value: object) -> str:
    return str(value).casefold()


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


def say_where(context: Context, words: OwnWords = PLAIN) -> str:
    """Return the lead of a sentence about a context."""
    everybody = "records" if words.people == PLAIN.people else words.people
    return f"Among all {everybody}" if not len(context) else f"Where {context}"


def say_association(event: Event, words: OwnWords = PLAIN) -> str:
    """Return what was found, in one sentence: where, who, and in which direction."""
    return f"{say_where(event.context, words)}, {_compare(event, words)}."


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


def say_claim(event: Event, words: OwnWords = PLAIN) -> str:
    """Return one sentence for a claim, and one for the gap; in the user's own words, where there are any.

    The sentence names no cause: an alarm is about an association.
    """
    where = say_where(event.context, words)
    what = _compare(event, words)
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


def _compare(event: Event, words: OwnWords) -> str:
    protected, output = words.name_column(event.protected), words.name_column(event.output)
    if not event.group and not event.outcome:
        return f"{output} {'rises' if event.sign > 0 else 'falls'} with {protected}"
    higher = "higher" if event.sign > 0 else "lower"
    if not event.outcome:
        who = words.groups.get(event.protected, {}).get(event.group) or f"{protected} = {event.group}"
        return f"{output} is {higher} for {who}"
    if not event.group:
        return f"{protected} is {higher} for those with {output} = {event.outcome}"
    what = words.say_outcome(event.output, event.outcome, "more" if event.sign > 0 else "less")
    return f"{words.name_group(event.protected, event.group)} {what} than the others"


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
