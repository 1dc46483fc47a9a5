"""What the stages give back: the contexts that training found, and what a test set said of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.model.context import Context
    from fairtest.model.finding import Elsewhere, Finding, Tested
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


@dataclass(frozen=True)
class AttributeResult:
    """The answer to one question of an investigation.

    Attributes
    ----------
    tested, untestable
        Hypotheses of the question in the family, and contexts in which the effect is undefined on the test set.
    significant_contexts, significant_strata
        Where the association is significant, the whole population included, and in how many strata.
    left_out, outside
        People of the test set with a value missing, and others whom the question is not about.
    findings
        What is reported, strongest first; ``population`` is the whole population.
    detectable
        How large an effect over everybody would have been seen; None where it is not known.
    detectable_inside
        A number of people, and how large an effect would have been seen in a context that has as many.
    named
        Whether the whole population was tested on the people of the training set too, because the question was there
        before anything was shown of them.
    everywhere
        Whether the link is that of the whole population, and the findings differ from it.
    elsewhere
        What is left to see outside the findings; None where there are none, or it cannot be said.
    others
        Contexts that were tested and are no findings, as far as they are listed.
    labels, parts, rare
        For labels: the findings over everybody, significant ones first; the answer about each; how many labels were
        left out because too few people have them.
    """

    tested: int
    untestable: int
    significant_contexts: tuple[Context, ...]
    significant_strata: int
    left_out: int
    population: Finding
    findings: tuple[Finding, ...]
    detectable: float | None = None
    outside: int = 0
    labels: tuple[Finding, ...] = ()
    parts: Mapping[str, AttributeResult] = field(default_factory=dict)
    rare: int = 0
    others: tuple[Tested, ...] = ()
    detectable_inside: tuple[int, float] | None = None
    named: bool = False
    everywhere: bool = False
    elsewhere: Elsewhere | None = None

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
