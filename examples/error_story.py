"""The story of an error profile in three steps, each on a test set of its own: detect, explain, try a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import fairtest as ft
from examples.command import Clock, bounds, title
from fairtest.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.finding import CountTable, GroupTable


@dataclass(frozen=True)
class Roles:
    """The columns of a story.

    Attributes
    ----------
    width
        How unsure each prediction is.
    cautious, answered
        The remedy: the predictions again, missing where they are unsure; and whether there is one.
    """

    protected: str
    predicted: str
    truth: str
    width: str
    cautious: str
    answered: str
    contextual: Sequence[str]
    unit: str


@dataclass(frozen=True)
class Story:
    """What the three test sets said."""

    detected: ft.Report
    explained: ft.Report
    remedied: ft.Report
    answered: ft.Report


def ask(source: ft.DataSource, roles: Roles, clock: Clock) -> Story:
    """Put three questions, each to the next test set of a source with a budget of three.

    The remedy is a column of the data from the start, because a source does not change; it is
    no context of the first two questions, nor are the predictions and their widths.
    """
    about = {
        "protected": roles.protected,
        "ground_truth": roles.truth,
        "contextual": roles.contextual,
    }
    now = ft.ErrorProfiling(source, output=roles.predicted, **about)
    with clock.training():
        ft.train(now)
    with clock.testing():
        ft.test(now)
        detected = ft.report(now)[0]
        explained = ft.explain(now, by=roles.width)
    then = [
        ft.ErrorProfiling(source, output=roles.cautious, **about),
        ft.Testing(source, roles.protected, output=roles.answered, contextual=()),
    ]
    with clock.training():
        ft.train(then)
    with clock.testing():
        ft.test(then)
        return Story(detected, explained, *ft.report(then))


def tell(story: Story, roles: Roles) -> Iterator[str]:
    """Tell a story line by line; what is said depends on the numbers alone."""
    yield from _detection(story.detected, roles)
    yield from _debugging(story, roles)
    yield from _remedy(story, roles)


def _detection(report: ft.Report, roles: Roles) -> Iterator[str]:
    everyone = report.populations[0]
    yield title("1. Detect: are predictions further off for some ages? (first test set)")
    yield everyone.sentence
    yield _measured(everyone)
    yield from _by_age(everyone.table, roles)
    if report.findings:
        yield f"The strongest of {len(report.findings)} reported: {report.findings[0].sentence}"
        yield _measured(report.findings[0])
    else:
        yield "No group stands out from the whole population."
    yield ""


def _debugging(story: Story, roles: Roles) -> Iterator[str]:
    everyone, alike = story.detected.populations[0], story.explained.populations[0]
    yield title(
        "2. Explain: does the confidence of the prediction account for it? (second test set)"
    )
    yield f"Everybody, compared with those of about the same {roles.width} (narrow is confident):"
    yield f"  {'overall':<26} {_correlation(everyone)}"
    yield f"  {'given ' + roles.width:<26} {_correlation(alike)}"
    for stratum in alike.strata:
        where = f"{roles.width} {stratum.values[roles.width]}"
        yield f"    {where:<24} {_correlation(stratum)}, {stratum.size:,} people"
    assert everyone.effect is not None
    assert alike.effect is not None
    left = 100 * alike.effect / everyone.effect
    yield f"Given the confidence, {left:.0f} % of the correlation is left, {_how_clear(alike)}."
    yield ""


def _how_clear(finding: ft.Finding) -> str:
    return "and is still clear" if finding.significant else "and cannot be told from none"


def _remedy(story: Story, roles: Roles) -> Iterator[str]:
    before, after = story.detected.populations[0], story.remedied.populations[0]
    people = story.remedied.data.test
    yield title("3. Remedy: confident predictions only (third test set)")
    yield f"{after.size:,} of {people:,} people ({100 * after.size / people:.0f} %) get a prediction."
    yield f"  every prediction (first set)       {_correlation(before)}"
    yield f"  confident ones only (third set)    {_correlation(after)}"
    yield f"Among confident predictions the link is {abs(after.effect):.3f} {_how_clear(after)}."
    yield from _by_age(after.table, roles)
    for words, finding in (("every prediction", before), ("confident ones only", after)):
        young, old = _ends(finding.table)
        yield f"Off by, on average, from the youngest to the oldest: {young:.2f} to {old:.2f} {roles.unit} ({words})."

    yield f"Who gets one: {story.answered.populations[0].sentence}"
    yield from _answered(story.answered.populations[0].table)


def _answered(table: CountTable) -> Iterator[str]:
    yes = table.counts[table.rows.index("yes")]
    everyone = [sum(column) for column in zip(*table.counts, strict=True)]
    for name, some, people in zip(table.columns, yes, everyone, strict=True):
        yield f"  {name!s:>12} {100 * some / people:>5.0f} % of {people:,} people get a prediction"


def _ends(table: GroupTable) -> tuple[float, float]:
    known = [group.mean for group in table.rows if group.mean is not None]
    return known[0], known[-1]


def _by_age(table: GroupTable, roles: Roles) -> Iterator[str]:
    assert table.line is not None
    yield f"  {table.by:>12}   people    mean    q1   median    q3   (error in {roles.unit})"
    for group in table.rows:
        if group.quantiles is not None:
            _, q1, median, q3, _ = group.quantiles
            yield f"  {group.name!s:>12} {group.size:>8,} {group.mean:>7.2f} {q1:>5.2f} {median:>8.2f} {q3:>5.2f}"
    sign = "−" if table.line.slope < 0 else "+"
    yield f"  fitted line: {table.line.intercept:.3f} {sign} {abs(table.line.slope):.4f} for each unit of {table.by}"


def _measured(finding: ft.Finding) -> str:
    return (
        f"  {_correlation(finding)}, p-value {finding.p_value:.1e}, {finding.size:,} people"
    )


def _correlation(part: ft.Finding) -> str:
    if part.effect is None:
        return "undefined"
    return f"correlation {fixed(part.effect, 3)} {bounds(part.interval, 3)}"
