"""One question: is this output associated with this protected attribute, perhaps within strata?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from fairtest.data.holdout import TRAIN
from fairtest.data.neighbourhood import find_neighbourhood
from fairtest.data.strata import finer_strata
from fairtest.data.summaries import Target
from fairtest.data.variables import RANK_BINS, Variable, rank_variable
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.data.labels import Labels
    from fairtest.data.neighbourhood import Neighbourhood
    from fairtest.data.source import DataSource
    from fairtest.data.strata import FinerStrata
    from fairtest.engine.contract import Engine
    from fairtest.metrics.registry import Metric
    from fairtest.types import IntArray, Level

MOST_RANK_CELLS = 1 << 25
"""The most cells that the joint counts of ranks may have, over all contexts and strata."""
MOST_CELLS, MOST_FINER = 1 << 25, 1000
"""The most cells and sums over all contexts and finer strata; the most finer strata."""
FINER_RANK_BINS = 64
"""Into how many bins ranks are put where strata are many and fine."""


@dataclass(frozen=True)
class Question:
    """A protected attribute, an output, the strata and the metric that relates them.

    Attributes
    ----------
    contextual
        The columns along which contexts may be cut.
    everyone
        The output before it was restricted to the people it is about; None where it is about everybody.
    reference
        Of several groups, the one that the user wants the others compared with; None: the largest.
    confusion
        The four cells of a prediction and its truth, for the usual rates; None where there are none.
    """

    protected: Variable
    output: Variable
    strata: Variable | None
    metric: Metric
    contextual: tuple[str, ...]
    everyone: Variable | None = None
    reference: Level | None = None
    confusion: Variable | None = None
    population_first: ClassVar[bool] = True
    """Whether the whole population is tested before everything else, at a level of its own."""
    labels: ClassVar[Labels | None] = None
    """The outputs, where the question is about many of them (Discovery) …"""
    top_k: ClassVar[int] = 1
    """… of which at most this many are kept in each context …"""
    min_people: ClassVar[int] = 0
    """… and the fewest people of the whole table who must have one."""

    @property
    def output_names(self) -> tuple[str, ...]:
        """What each output is called, by its number."""
        return (self.output.name,)

    def about(self, output: int) -> Question:  # noqa: ARG002 - there is only one
        """Return the question about one of its outputs."""
        return self

    def test_targets(
        self, source: DataSource, outputs: Iterable[int], contexts: int = 1, finer: FinerStrata | None = None
    ) -> dict[int, Target]:
        """Return what the validation counts for each of some outputs."""
        return dict.fromkeys(outputs, self.test_target(source, contexts, finer))

    def count_entries(
        self,
        engine: Engine,
        number: int,
        target: Target,
        conditions: Sequence[Sequence[Condition]],
        outputs: IntArray | None,  # noqa: ARG002 - there is only one
    ) -> NDArray[Any]:
        """Return the sums of some contexts in a set, each of the output whose number is given with it."""
        return engine.tables(number, conditions, target)

    def search_target(self, source: DataSource) -> Target:
        """Return what the search counts."""
        return self._target(source, self.metric.search_summary or self.metric.summary, order=2)

    def test_target(self, source: DataSource, contexts: int = 1, finer: FinerStrata | None = None) -> Target:
        """Return what the validation counts: sums up to the fourth order, for standard errors that hold.

        Ranks of many values are put in bins, fewer of them where there are many contexts and strata to count.
        """
        strata = self.strata if finer is None else finer.strata
        n_strata = 1 if strata is None else len(strata.levels)
        most = RANK_BINS if finer is None else FINER_RANK_BINS
        bins = int(min(max((MOST_RANK_CELLS / (contexts * n_strata)) ** 0.5, 16), most))
        return replace(self._target(source, self.metric.summary, order=4, bins=bins), strata=strata)

    def finer_strata(self, source: DataSource, contexts: int = 1) -> FinerStrata | None:
        """Return the strata in which people of a test set are compared, where a number is cut finer than it is shown.

        How fine hangs on how many people there are, not on their groups or outputs.
        """
        if self.strata is None:
            return None
        table, rows = source.table, source.holdout.rows(TRAIN)
        target = self.test_target(source, contexts)
        each = FINER_RANK_BINS**2 if target.summary is SummaryKind.RANKS else target.n_cells / target.n_strata
        most = min(MOST_FINER, int(MOST_CELLS / (contexts * each * prod(target.sum_shape))))
        return finer_strata(table, rows, self.strata, source.holdout.sizes[1], most)

    def neighbourhood(self, source: DataSource) -> Callable[[], Neighbourhood] | None:
        """Return what says where people are on explanatory numbers, once it is asked; None without numbers."""
        strata = self.strata
        if strata is None or not any(part.thresholds for part in strata.parts):
            return None
        return cache(lambda: find_neighbourhood(source.table, strata))

    def _target(self, source: DataSource, summary: SummaryKind, order: int, bins: int = RANK_BINS) -> Target:
        protected, output = self.protected, self.output
        if self.metric.summary is SummaryKind.RANKS:
            rows = source.holdout.rows(TRAIN)
            protected, output = (rank_variable(v, source.table, rows, bins) for v in (protected, output))
        share = 1.0 if source.design is None else source.design.share
        return Target(protected, output, self.strata, summary, order, share)
