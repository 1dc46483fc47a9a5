"""What training proposes, for ``--train-only``: contexts with the numbers of the training set, nothing tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.numbers import count
from fairtest.pipeline.prospects import prospects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.investigations.base import Investigation
    from fairtest.metrics.scale import Scale
    from fairtest.pipeline.prospects import Prospect, Prospects

MOST_SHOWN = 25


def proposals_text(investigation: Investigation, correction: str | None = None) -> str:
    """Return the proposed contexts of each protected attribute, most evidence first, in words."""
    return "\n".join(_lines(investigation, correction)) + "\n"


def _lines(investigation: Investigation, correction: str | None) -> Iterator[str]:
    source = investigation.source
    train, *tests = source.holdout.sizes
    people = source.words.people
    found = prospects(investigation, correction, MOST_SHOWN)
    yield f"Contexts proposed by the training set: {count(train)} of {count(source.table.n_rows)} {people}."
    yield "NOTHING WAS TESTED. These groups looked strongest to the search, which would find such groups in pure chance"
    yield f"too; only the test says which are real. The test set of {count(tests[0])} {people} is unspent."
    for each in found:
        yield ""
        yield from _question(each, people)
    yield ""
    yield "evidence: standard deviations from no link, on the training set. effect: there; it flatters, because the"
    yield "search picked these groups for it. could confirm: a link of this size would be confirmed by the test set"
    yield f"with a chance of about 80 %, among the {count(found[0].hypotheses)} hypotheses tested together; none: no"
    yield "link is so large that it would."


def _question(found: Prospects, people: str) -> Iterator[str]:
    question = found.question
    labels = question.labels is not None
    output = "labels" if labels else question.output.name
    yield f"{question.protected.name} → {output}, by {question.metric.name}"
    if labels:
        yield f"{count(found.proposed)} pairs of a label and a group proposed, everybody included."
    else:
        yield f"{count(found.proposed - 1)} contexts proposed of {count(found.looked_at)} looked at."
    effects = [p.effect for p in found.shown if p.effect is not None]
    scale = scale_for(question.metric.name, effects[0] if effects else None)
    rows = [(people, "evidence", "effect", "could confirm", "where"), *(_row(p, scale) for p in found.shown)]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False))
        yield f"  {numbers}  {row[4]}"
    folded = sum(p.copies for p in found.shown)
    if left := found.proposed - len(found.shown) - folded:
        yield f"  … and {count(left)} more, with less evidence or nearly the same as one of these."


def _row(prospect: Prospect, scale: Scale) -> tuple[str, str, str, str, str]:
    where = str(prospect.context)
    if prospect.copies:
        where += f" (and {count(prospect.copies)} much the same)"
    return (
        count(prospect.size),
        f"{prospect.evidence:.1f}",
        "–" if prospect.effect is None else scale.estimate(prospect.effect),
        "none" if prospect.detectable is None else scale.estimate(prospect.detectable).lstrip("+"),
        where if prospect.label is None else f"{prospect.label}: {where}",
    )
