"""What the stages give back: the contexts that training found, and what a test set said of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairtest.model.answer import AttributeAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.model.context import Context
    from fairtest.model.found import Found
    from fairtest.model.plans import TestingPlan, TestingRun, TrainingPlan
    from fairtest.model.report import Report


@dataclass(frozen=True)
class Training:
    """What training found: the contexts of each question.

    Attributes
    ----------
    notes
        Remarks that the report must have, such as what was not looked at.
    explains
        For an explanation: the number of the run whose groups are asked about again, and how many they are.
    not_asked_again
        How many others were significant then, and speak of an explanatory attribute themselves.
    """

    plan: TrainingPlan
    found: tuple[Found, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    explains: tuple[int, int] | None = None
    not_asked_again: int = 0


@dataclass(frozen=True, kw_only=True)
class AttributeResult(AttributeAnswer):
    """The answer to one question of an investigation.

    Attributes
    ----------
    significant_contexts
        Where the association is significant, the whole population included.
    parts
        For Discovery: the answer about each label.
    """

    significant_contexts: tuple[Context, ...]
    parts: Mapping[str, AttributeResult] = field(default_factory=dict)

    def where_significant(self) -> SignificantContexts:
        """Return what a later question about the same contexts needs."""
        labels = {n: r.significant_contexts for n, r in self.parts.items() if r.significant_contexts}
        return SignificantContexts(self.population.output, self.significant_contexts, labels)


@dataclass(frozen=True)
class Results:
    """The answers to all questions of an investigation.

    Attributes
    ----------
    looked_at
        Candidate contexts evaluated on the training set, for each question.
    family
        All hypotheses tested on the same set, those of other investigations of the batch included.
    notes
        Remarks about the whole run, in words.
    explains, not_asked_again
        As in :class:`Training`.
    """

    training: TrainingPlan
    test: TestingRun
    attributes: tuple[AttributeResult, ...] = field(repr=False)
    looked_at: tuple[int, ...]
    family: int
    notes: tuple[str, ...] = ()
    explains: tuple[int, int] | None = None
    not_asked_again: int = 0

    def to_explain(self) -> PriorAnswer:
        """Return what explaining these results needs."""
        plan = replace(self.test.plan, correction=self.test.correction)
        return PriorAnswer(self.training, plan, tuple(a.where_significant() for a in self.attributes))


@dataclass(frozen=True)
class Answered:
    """What a test set answered about one investigation: all that is worth keeping.

    Attributes
    ----------
    title
        What was asked, in a few words.
    arguments, explained_by
        What makes the investigation again: its arguments, and the attributes that were added to explain a finding.
    """

    title: str
    arguments: Mapping[str, object]
    explained_by: tuple[str, ...]
    prior: PriorAnswer
    report: Report


@dataclass(frozen=True)
class SignificantContexts:
    """Where the association with one protected attribute was significant.

    Attributes
    ----------
    output
        The output; for Discovery, the label that stood out most over everybody.
    labels
        For Discovery: the contexts of each label that has any.
    """

    output: str
    contexts: tuple[Context, ...]
    labels: Mapping[str, tuple[Context, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class PriorAnswer:
    """All that explaining an answer needs, small enough to be stored: how it was found, and where."""

    training: TrainingPlan
    test: TestingPlan
    attributes: tuple[SignificantContexts, ...]
