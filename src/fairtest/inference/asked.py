"""What is put to a test set: hypotheses about one or many outputs of a question, counted together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.inference.recentre import remote, test_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest.data.axes import Condition
    from fairtest.data.neighbourhood import Neighbourhood
    from fairtest.data.strata import FinerStrata
    from fairtest.data.summaries import Summary, Target
    from fairtest.engine.contract import Engine
    from fairtest.inference.validate import Validated
    from fairtest.investigations.question import Question
    from fairtest.model.context import Context
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Asked:
    """The hypotheses of one question: an output and a context each, for every output the whole population first.

    Attributes
    ----------
    targets
        What is counted for each output, by its number; a question that is not about labels has the output 0 only.
    evidence, sign
        What the training set says of each: a normal deviate, and the direction (0 where the metric has none).
    outputs
        The number of the output of each hypothesis.
    strata_evidence
        The deviate of each stratum of each hypothesis, row by row; None without strata.
    title
        What to call the question where an error comes from it; empty if it is the only one.
    guided
        The contexts that are nodes of the guided tree.
    strongest
        The outputs that the training set ranked first over everybody.
    rare
        How many outputs were not looked at because too few people have them.
    named
        Whether the question was there before anything was shown of these people.
    population_set
        The people on whom the whole population is tested at a level of its own; None where it is one hypothesis among
        the others.
    finer
        Where a number is conditioned on: the strata of the target, and how they become those shown.
    neighbourhood
        There too: what says who is near whom, which few hypotheses ask for.
    training
        The counts of every hypothesis in the training set, where they were needed before the test set is looked at.
    """

    question: Question
    targets: dict[int, Target]
    contexts: tuple[Context, ...]
    conditions: tuple[tuple[Condition, ...], ...]
    evidence: FloatArray
    sign: FloatArray
    outputs: IntArray
    strata_evidence: FloatArray | None = None
    title: str = ""
    guided: frozenset[Context] = field(default=frozenset(), kw_only=True)
    strongest: tuple[int, ...] = field(default=(0,), kw_only=True)
    rare: int = field(default=0, kw_only=True)
    named: bool = field(default=False, kw_only=True)
    population_set: int | None = field(default=None, kw_only=True)
    finer: FinerStrata | None = field(default=None, kw_only=True)
    neighbourhood: Callable[[], Neighbourhood] | None = field(default=None, kw_only=True)
    training: Counts | None = field(default=None, kw_only=True)

    @property
    def target(self) -> Target:
        """What is counted for the first output; for the others, it differs in the output alone."""
        return next(iter(self.targets.values()))

    @property
    def n_strata(self) -> int:
        """The number of strata that are shown, at least 1."""
        return self.target.n_strata if self.finer is None else self.finer.n_shown

    @property
    def populations(self) -> IntArray:
        """Where the hypotheses about the whole population are: the first of each output."""
        return np.unique(self.outputs, return_index=True)[1]

    def target_of(self, i: int) -> Target:
        """Return what is counted for one hypothesis."""
        return self.targets[int(self.outputs[i])]

    def about(self, output: int) -> Asked:
        """Return the hypotheses about one output, as if they were asked alone."""
        some = self.take(np.flatnonzero(self.outputs == output))
        # the tree was grown for all outputs together: it is not theirs one by one
        alone = {output: self.targets[output]}
        return replace(some, question=self.question.about(output), targets=alone, guided=frozenset())

    def take(self, at: IntArray) -> Asked:
        """Return some of the hypotheses."""
        strata = self.strata_evidence
        if strata is not None:
            strata = strata.reshape(len(self.contexts), -1)[at].ravel()
        return replace(
            self,
            contexts=tuple(self.contexts[i] for i in at.tolist()),
            conditions=tuple(self.conditions[i] for i in at.tolist()),
            evidence=self.evidence[at],
            sign=self.sign[at],
            outputs=self.outputs[at],
            strata_evidence=strata,
            training=None if self.training is None else self.training.take(at),
        )

    def everybody(self) -> Asked:
        """Return the hypothesis about the whole population alone, for a question about one output."""
        return replace(self.take(np.array([0])), strata_evidence=None, named=False, population_set=None)

    def count(self, engine: Engine, number: int) -> Summary:
        """Return the summary of every hypothesis in a set."""
        if len(self.targets) == 1:
            together = None if self.finer is None else self.finer.shown
            return test_summary(engine, number, self.conditions, self.target, together)
        summary: Any = self.target.wrap(
            self.question.count_entries(engine, number, self.target, self.conditions, self.outputs)
        )
        # labels with numbers far from the centre are counted again one by one
        if not isinstance(summary, Counts) and (far := remote(summary)).any():
            for output in np.unique(self.outputs[far]).tolist():
                alone = self.about(output)
                again: Any = test_summary(engine, number, alone.conditions, alone.target)
                summary.sums[self.outputs == output] = again.sums
        return summary  # type: ignore[no-any-return]


def by_output(validated: Validated) -> Iterator[tuple[int, Validated]]:
    """Yield each output of a question with the answer about it."""
    asked = validated.asked
    strata = asked.n_strata
    for output in asked.targets:
        at = np.flatnonzero(asked.outputs == output)
        inner = (at[:, None] * strata + np.arange(strata)).ravel()
        yield (
            output,
            replace(
                validated,
                asked=asked.about(output),
                contexts=validated.contexts.take(at),
                strata=None if validated.strata is None else validated.strata.take(inner),
                summary=validated.summary.take(at),
                population=validated.population.take(at),
                required=validated.required[at],
            ),
        )
