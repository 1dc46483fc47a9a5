"""What training proposes, for ``--train-only``: contexts with the numbers of the training set, nothing tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.cli.texts import render_text
from fairtest.metrics.choice import scale_for
from fairtest.numbers import count
from fairtest.pipeline.prospects import prospects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.investigations.base import Investigation
    from fairtest.metrics.scale import Scale
    from fairtest.pipeline.prospects import Prospect, Prospects

MOST_SHOWN = 25


def proposals_text(
    investigation: Investigation, correction: str | None = None, population_share: float | None = None
) -> str:
    """Return the proposed contexts of each protected attribute, most evidence first, in words."""
    source = investigation.source
    train, test, *_ = source.holdout.sizes
    people = source.words.people
    proposed = prospects(investigation, correction, MOST_SHOWN, population_share)
    questions = [(each, each.question.labels is not None, _table(each, people)) for each in proposed]
    sizes = {"rows": source.n_people, "train": train, "test": test}
    text = render_text("proposals", warnings=investigation.warnings, questions=questions, people=people, **sizes)
    return f"{text}\n"


def _table(found: Prospects, people: str) -> Iterator[str]:
    """Yield the lines of the table of contexts, numbers to the right."""
    effect = next((p.effect for p in found.shown if p.effect is not None), None)
    scale = scale_for(found.question.metric.name, effect)
    rows = [(people, "evidence", "effect", "could confirm", "where"), *(_row(p, scale) for p in found.shown)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *numbers, where in rows:
        yield "  ".join([*(f"{cell:>{width}}" for cell, width in zip(numbers, widths, strict=False)), where])


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
