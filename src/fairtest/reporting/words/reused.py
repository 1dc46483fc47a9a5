"""What a report says where the test set is used again: which numbers are whose, and how much has been told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.numbers import count, per_cent

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.report import Report, Reuse


def whose_numbers(report: Report) -> str:
    """Return of whom the numbers are, and what the test set adds."""
    data = report.data
    return (
        f"The groups were chosen on {report.names.number_of(data.train)}, and the shares, tables and estimates shown "
        "are of these: a group that was searched for tends to look stronger there than it is. "
        f"{count(data.test)} others, the test set, say of each link whether they confirm it, and in which interval."
    )


def promise(report: Report, reuse: Reuse) -> str:
    """Return what holds over all questions, at which level this one was tested, and what is left."""
    settings = report.settings
    return (
        f"Over all {count(settings.budget)} questions that may be put to the test set, each made in the light of the "
        f"answers before, the chance that even one confirmed link is a fluke is at most {per_cent(1 - settings.conf)}; "
        f"so is the chance that even one interval misses its effect. This is question {reuse.question}. The answers "
        f"before it have told {_bits(reuse.bits_before)} about the test set, so it was tested at level "
        f"{settings.level:.2g}; its own tells {_bits(reuse.bits)}. {_left(reuse)}"
    )


def _bits(bits: float) -> str:
    return f"{bits:.1f} bits"


def _left(reuse: Reuse) -> str:
    if not reuse.left:
        return "No question is left."
    more = "One more question is" if reuse.left == 1 else f"{count(reuse.left)} more questions are"
    return f"{more} left, the next at level {reuse.next_level:.2g}."


def how_done(report: Report, reuse: Reuse, corrected: str, within: str) -> str:
    """Return how the report came about, in a paragraph."""
    data, settings = report.data, report.settings
    share = f"{1 - settings.conf:.2g} / {settings.budget}"
    return (
        f"The {report.names.number_of(data.rows)} were divided at random: {count(data.train)} to look for groups, and "
        f"{count(data.test)} for one test set that answers up to {count(settings.budget)} questions. On the first, "
        f"groups were searched for in which the link between attribute and output is strong{within}; the strongest few "
        f"were put to the test set. It says no more than that a link is confirmed or not, and whether the interval "
        f"proposed by the training set holds; there are no p-values, for they would tell too much. {corrected} "
        f"An answer that the training set leads one to expect tells little about the test set, a surprise tells more; "
        f"{_bits(reuse.bits_before)} before this question make its level {share} / 2^{reuse.bits_before:.1f} = "
        f"{settings.level:.2g}, which keeps the chance of a fluke over all questions however they are chosen. A link "
        f"that was confirmed before is quoted. Strata are described and not tested. Findings are ordered by estimate."
    )


def confirmation(finding: Finding, scale: Scale, name: str) -> str:
    """Return what the test set says of a link."""
    if finding.effect is None:
        return f"{name} is undefined"
    if finding.interval is None:
        return "not confirmed by the test set"
    return f"confirmed by the test set ; {name} = {scale.interval(finding.interval)}{scale.unit}"
