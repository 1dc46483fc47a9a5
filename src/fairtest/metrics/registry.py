"""What a metric is, and which there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtest.metrics.resampling import RESAMPLING
from fairtest.metrics.scale import PLAIN, Additive, Scale
from fairtest.metrics.words import Words
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairtest.engine.contract import Rows
    from fairtest.metrics.evidence import Evidence
    from fairtest.metrics.procedure import Procedure
    from fairtest.statistics.design import Effective
    from fairtest.statistics.influence import Influence
    from fairtest.statistics.weighted_tables import EffectiveTables, WeightTables
    from fairtest.types import FloatArray, IntArray

LEVELS = frozenset({Kind.BINARY, Kind.CATEGORICAL, Kind.ORDERED})
NUMBERS = frozenset({Kind.BINARY, Kind.ORDERED, Kind.NUMERIC})


@dataclass(frozen=True)
class Metric:
    """An association metric: a name, the kinds it accepts, and its effect.

    Attributes
    ----------
    protected, output
        The kinds of attribute it accepts.
    summary
        The table that ``effect`` reads on the test set.
    effect
        From a summary to the (signed) effect of each context; undefined is NaN. Several strata are conditioned on.
    bound
        From a summary and a normal quantile to a lower bound of the strength, for searching only.
    evidence
        From a summary to how surely it shows an association, for weighting hypotheses.
    least_p
        From a summary, and how many times as many people a test set has, to the smallest p-value that its margins
        allow; None: not known.
    procedure, conditional
        How it is tested and gets its intervals, and how given explanatory attributes; None is the same as without.
    influence
        What each person contributes to its statistic, to know how hypotheses depend on each other; None: not known.
    row_effect
        From both columns and the stratum to the effect, for resampling people; None: ``effect`` takes them.
    effective
        From people row by row to how many independent people they are worth, where people have several rows or rows
        have weights; None: not known, and such data is refused.
    effective_in_tables
        The same from tables of weights, for many contexts at once, where every row is one person; None: row by row.
    signed
        Whether the effect has a direction.
    additive
        Where effects add up: searching, ranking, verdicts and power compare sizes there.
    most
        The largest size an effect can have.
    compares
        Where the effect is that of two groups' rates: how the rates are compared.
    compares_means
        Whether the effect is one group's mean less that of the other, and so is itself the comparison of the two.
    scale, words
        How it is written, and what is said about it.
    search_summary
        The table that ``bound`` and ``effect`` read during the search, where another is cheaper.
    phrase
        What the number is, for a reader: "difference of rates".
    """

    name: str
    phrase: str
    protected: frozenset[Kind]
    output: frozenset[Kind]
    summary: SummaryKind
    effect: Callable[..., Any]
    bound: Callable[[Any, float], FloatArray] | None = None
    evidence: Callable[[Any], Evidence] | None = None
    least_p: Callable[[Any, float], FloatArray] | None = None
    procedure: Procedure = RESAMPLING
    conditional: Procedure | None = None
    influence: Influence | None = None
    row_effect: Callable[[NDArray[Any], NDArray[Any], IntArray], float] | None = None
    effective: Callable[[Rows], Effective] | None = None
    effective_in_tables: Callable[[WeightTables], EffectiveTables] | None = None
    signed: bool = True
    additive: Additive = PLAIN
    most: float = np.inf
    compares: Literal["difference", "ratio"] | None = None
    compares_means: bool = False
    scale: Scale = field(default_factory=Scale)
    words: Words = field(default_factory=Words)
    search_summary: SummaryKind | None = None
    swaps_roles: bool = False

    def strength(self, effect: FloatArray) -> FloatArray:
        """Return what searching, filtering and ranking compare: the size of effects."""
        return np.asarray(np.abs(self.additive.forth(effect)))

    def effect_of_rows(self, protected: NDArray[Any], output: NDArray[Any], stratum: IntArray) -> float:
        """Return the effect among people given one by one."""
        return float((self.row_effect or self.effect)(protected, output, stratum))

    def procedure_for(self, *, strata: int, resampling: bool = False) -> Procedure:
        """Return how hypotheses with this number of strata are tested; ``resampling``: by the generic procedure."""
        if resampling:
            return RESAMPLING
        return self.procedure if strata == 1 or self.conditional is None else self.conditional

    def effective_rows(self, *, conditional: bool) -> Callable[[Rows], Effective] | None:
        """Return what says how many people rows are worth, given explanatory attributes or not; None: not known."""
        resampled = self.conditional is RESAMPLING if conditional else self.procedure is RESAMPLING
        return None if resampled else self.effective

    def is_joint(self, *, conditional: bool) -> bool:
        """Whether it is known, given explanatory attributes or not, how hypotheses depend on each other."""
        return self.influence is not None and (self.influence.within_strata or not conditional)

    @property
    def title(self) -> str:
        """What it measures, in a word or two, and its name."""
        return f"{self.words.noun} ({self.name})" if self.words.noun else self.name

    @property
    def subject(self) -> str:
        """What a sentence says that the effect is."""
        said = self.words.subject or self.words.noun
        return f"the {said}" if said else self.name

    @property
    def symbol(self) -> str:
        """What stands before the effect in brackets."""
        return self.words.symbol or self.words.noun or self.name

    def accepts(self, protected: Kind, output: Kind) -> bool:
        """Whether the metric is defined for a pair of kinds."""
        if protected in self.protected and output in self.output:
            return True
        return self.swaps_roles and output in self.protected and protected in self.output


_METRICS: dict[str, Metric] = {}


def register(new: Metric) -> Metric:
    """Add a metric to those that can be named."""
    _METRICS[new.name] = new
    return new


def named_metrics() -> dict[str, Metric]:
    """Return the metrics that can be named."""
    return _METRICS
