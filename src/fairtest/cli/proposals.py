"""What training proposes, for ``--train-only``: the contexts and their sizes in the training set, nothing tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.contexts.search import FoundLabels
from fairtest.data.holdout import TRAIN
from fairtest.pipeline.answers import put
from fairtest.pipeline.search import engine_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.contexts.search import Found
    from fairtest.investigations.base import Investigation
    from fairtest.investigations.question import Question
    from fairtest.pipeline.choices import Training

__all__ = ["proposals_text"]

MOST_SHOWN = 40


def proposals_text(investigation: Investigation) -> str:
    """Return the proposed contexts of each protected attribute, those with most evidence first, in words."""
    return "\n".join(_lines(investigation)) + "\n"


def _lines(investigation: Investigation) -> Iterator[str]:
    training: Training = investigation.require_training("--train-only")
    train, *tests = investigation.source.holdout.sizes
    yield f"Contexts proposed by the training set: {train:,} of {investigation.source.table.n_rows:,} people."
    yield "NOTHING WAS TESTED. These groups looked strongest to the search, which would find such groups in pure chance"
    yield f"too; only the test says which are real. The test set of {tests[0]:,} people is unspent."
    for question, found in zip(investigation.questions, training.found, strict=True):
        yield ""
        yield f"{question.protected.name} → {question.output.name}, by {question.metric.name}"
        if isinstance(found, FoundLabels):
            yield from _labels(question, found)
            continue
        yield f"{len(found.contexts) - 1:,} contexts proposed of {found.looked_at:,} looked at."
        yield from _strongest(investigation, question, found)


def _labels(question: Question, found: FoundLabels) -> Iterator[str]:
    """Yield the labels with most evidence, and where."""
    names = question.output.levels
    number = len(set(found.places.tolist()))
    yield f"{number:,} labels proposed of {len(names):,}, {len(found.contexts):,} times, everybody included."
    order = sorted(range(len(found.contexts)), key=lambda i: (-found.evidence[i], i))
    yield "Evidence in the training set (standard deviations from no link), the label, and where:"
    for i in order[:MOST_SHOWN]:
        yield f"{found.evidence[i]:>5.1f}  {names[found.places[i]]}: {found.contexts[i]}"
    if len(order) > MOST_SHOWN:
        yield f"… and {len(order) - MOST_SHOWN:,} more with less evidence."


def _strongest(investigation: Investigation, question: Question, found: Found) -> Iterator[str]:
    """Yield the contexts with most evidence, everybody first."""
    contexts = range(1, len(found.contexts))
    shown = [0, *sorted(contexts, key=lambda i: (-found.evidence[i], str(found.contexts[i])))[:MOST_SHOWN]]
    sizes = _sizes(investigation, question, found)
    yield "People in the training set, evidence there (standard deviations from no link), and where:"
    for i in shown:
        yield f"{sizes[i]:>10,}  {found.evidence[i]:>5.1f}  {found.contexts[i]}"
    if left := len(found.contexts) - len(shown):
        yield f"… and {left:,} more with less evidence."


def _sizes(investigation: Investigation, question: Question, found: Found) -> list[int]:
    source = investigation.source
    asked = put(source, question, found)
    target = question.search_target(source)
    sums = engine_of(source).tables(TRAIN, asked.conditions, target)
    return [int(size) for size in target.wrap(sums).size]
