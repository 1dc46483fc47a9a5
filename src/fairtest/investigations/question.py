"""One question: is this output associated with this protected attribute, perhaps within strata?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import Target
from fairtest.data.variables import RANK_BINS, Variable, rank_variable
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.data.labels import Labels
    from fairtest.data.source import DataSource
    from fairtest.metrics.registry import Metric

MOST_RANK_CELLS = 1 << 25
"""The most cells that the joint counts of ranks may have, over all contexts and strata."""


@dataclass(frozen=True)
class Question:
    """A protected attribute, an output, the strata and the metric that relates them.

    Attributes
    ----------
    contextual
        The columns along which contexts may be cut.
    everyone
        The output before it was restricted to the people it is about; None where it is about everybody.
    """

    protected: Variable
    output: Variable
    strata: Variable | None
    metric: Metric
    contextual: tuple[str, ...]
    everyone: Variable | None = None
    labels: ClassVar[Labels | None] = None
    """The outputs, where the question is about many of them (Discovery) …"""
    top_k: ClassVar[int] = 1
    """… of which so many are kept in each context …"""
    min_people: ClassVar[int] = 0
    """… and which so many people of the whole table must have."""

    def about(self, output: int) -> Question:  # noqa: ARG002 - there is only one
        """Return the question about one of its outputs."""
        return self

    def test_targets(self, source: DataSource, outputs: Iterable[int], contexts: int = 1) -> dict[int, Target]:
        """Return what the validation counts for each of some outputs."""
        return dict.fromkeys(outputs, self.test_target(source, contexts))

    def search_target(self, source: DataSource) -> Target:
        """Return what the search counts."""
        return self._target(source, self.metric.search_summary or self.metric.summary, order=2)

    def test_target(self, source: DataSource, contexts: int = 1) -> Target:
        """Return what the validation counts: sums up to the fourth order, for standard errors that hold.

        Ranks of many values are put in bins, fewer of them where there are many contexts and strata to count.
        """
        strata = 1 if self.strata is None else len(self.strata.levels)
        bins = int(min(max((MOST_RANK_CELLS / (contexts * strata)) ** 0.5, 16), RANK_BINS))
        return self._target(source, self.metric.summary, order=4, bins=bins)

    def _target(self, source: DataSource, summary: SummaryKind, order: int, bins: int = RANK_BINS) -> Target:
        protected, output = self.protected, self.output
        if self.metric.summary is SummaryKind.RANKS:
            rows = source.holdout.rows(TRAIN)
            protected, output = (rank_variable(v, source.table, rows, bins) for v in (protected, output))
        return Target(protected, output, self.strata, summary, order)
