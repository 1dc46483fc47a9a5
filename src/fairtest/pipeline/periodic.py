"""A question that is asked again and again, each time of people who came since: what a monitor runs.

The training set is everybody who came before, the test set everybody since the last time, tested at a level of its own
(:meth:`fairtest.DataSource.divided`). Contexts that were found in earlier runs are tested in every later one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtest.data.holdout import Budget
from fairtest.model.plans import TestingPlan, TrainingPlan
from fairtest.pipeline.search import with_followed
from fairtest.pipeline.stages import search_batch, validate_batch
from fairtest.progress import as_stage_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairtest.data.source import DataSource
    from fairtest.investigations.base import Investigation
    from fairtest.model.context import Context
    from fairtest.model.results import Answered, Results


class KeepingBudget(Budget):
    """One test set whose answers are handed over to whoever stores them, before anybody sees them."""

    def __init__(self) -> None:
        super().__init__(1)
        self.mark_shown()
        self.answers: list[Answered] = []

    def keep(self, number: int, answers: Iterable[Answered]) -> None:  # noqa: ARG002 - there is one set
        """Take what the set has answered."""
        self.answers = list(answers)


def check_plans(training: Mapping[str, Any], testing: Mapping[str, Any]) -> None:
    """Raise if an option of a question is not what it must be, long before it is asked."""
    TrainingPlan.of(dict(training))
    TestingPlan.of(dict(testing))


def put_under_budget(source: DataSource) -> KeepingBudget:
    """Let a source hand over its answers; before an investigation is made of it."""
    budget = KeepingBudget()
    source.budget = budget
    return budget


def run_question(
    investigation: Investigation,
    training: Mapping[str, Any],
    testing: Mapping[str, Any],
    followed: Sequence[Context] = (),
    notes: Sequence[str] = (),
) -> Results:
    """Search the training set, test what was found and what is followed, and return the results.

    Parameters
    ----------
    training, testing
        Options as for :func:`fairtest.train` and :func:`fairtest.test`.
    followed
        Contexts of earlier runs.
    notes
        Remarks for the report, such as at which level this run is tested and why.
    """
    progress = as_stage_progress(None)
    (found,) = search_batch([investigation], TrainingPlan.of(dict(training)), progress)
    pairs = zip(investigation.questions, found.found, strict=True)
    together = tuple(with_followed(investigation.source, question, each, followed) for question, each in pairs)
    found = replace(found, found=together, notes=(*found.notes, *notes))
    (results,) = validate_batch([investigation], [found], TestingPlan.of(dict(testing)), progress)
    return results
