"""What an answer leaves for the next question: all that explaining needs, small enough to be stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.model.context import Context
    from fairtest.reporting.assemble import AttributeResult, Results, TestChoices, TrainChoices


@dataclass(frozen=True)
class Significant:
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
class Told:
    """What an investigation was told, for each protected attribute, and how it was searched and tested."""

    training: TrainChoices
    test: TestChoices
    attributes: tuple[Significant, ...]


def told(results: Results) -> Told:
    """Return what of the results is needed to ask again."""
    return Told(results.training, results.test, tuple(_significant(a) for a in results.attributes))


def _significant(answered: AttributeResult) -> Significant:
    labels = {n: r.significant_contexts for n, r in answered.parts.items() if r.significant_contexts}
    return Significant(answered.population.output, answered.significant_contexts, labels)
