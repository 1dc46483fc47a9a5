"""Level and coverage: replicates of each design through the procedures that the product uses.

Where the product draws p-values by Monte-Carlo, draws here go on until the p-value is settled against 5 % and, if it is
small, against 0.05 %, up to 2,048 draws: the product draws more, against smaller levels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.inference.monte_carlo import sequential_p_values
from fairtest.metrics.batch import Batch
from fairtest.metrics.choice import find_metric

if TYPE_CHECKING:
    from calibration.designs.base import Design, Drawn
    from fairtest.metrics.procedure import Procedure
    from fairtest.statistics.resampling.samplers import Sampler

__all__ = ["LEVELS", "Cell", "evaluate", "replicates"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

LEVELS = (0.05, 0.0005)
"""One interval, and one of a hundred simultaneous ones."""
MOST_DRAWS = 2_048


@dataclass(frozen=True, eq=False)
class Cell:
    """What became of the replicates of one design; arrays have an entry for each of :data:`LEVELS`.

    Attributes
    ----------
    reps
        Replicates in which the effect is defined.
    covered
        How often the interval held the true effect.
    rejected
        How often p ≤ α; under the null, the level.
    harmful
        How often the bound nearest 0 overstated the effect.
    contradictions
        How often p ≤ α and "0 is outside the interval" disagreed.
    noted
        How often the report would print each warning.
    """

    design: Design
    reps: int
    covered: Ints
    rejected: Ints
    harmful: Ints
    contradictions: Ints
    noted: Counter[str]

    @property
    def coverage(self) -> Floats:
        """The share of intervals that hold the true effect."""
        return self.covered / max(self.reps, 1)

    @property
    def level(self) -> Floats:
        """The share of replicates that are rejected."""
        return self.rejected / max(self.reps, 1)

    def warned(self, text: str) -> float:
        """Return the share of replicates in which the report would print a warning."""
        return self.noted[text] / max(self.reps, 1)

    @property
    def loudest(self) -> float:
        """The share of the warning that is printed most often."""
        return max(map(self.warned, self.noted), default=0.0)

    @property
    def harm(self) -> Floats:
        """The share of intervals whose bound nearest 0 overstates the effect."""
        return self.harmful / max(self.reps, 1)


def replicates(design: Design, reps: int) -> int:
    """Return how many replicates a design gets when a cheap one gets ``reps``: large ones cost too much."""
    return int(np.clip(40_000_000 // design.cost, min(reps, 200), reps))


def evaluate(design: Design, reps: int, seed: int = 0, procedure: Procedure | None = None) -> Cell:
    """Draw replicates of a design and return what the product makes of them.

    ``procedure`` replaces the product's, to compare methods.
    """
    rng = design.generator(seed)
    total = np.zeros((4, len(LEVELS)), dtype=np.int64)
    defined, noted = 0, Counter[str]()
    for start in range(0, reps, design.at_once):
        count = min(design.at_once, reps - start)
        part, people, notes = _part(design, design.draw(count, rng), procedure, seed + start)
        total += part
        defined += people
        noted.update(notes)
    return Cell(design, defined, *total, noted)


def _part(design: Design, drawn: Drawn, procedure: Procedure | None, seed: int) -> tuple[Ints, int, Counter[str]]:
    batch = Batch(find_metric(design.metric), drawn.summary, lambda some: map(drawn.rows, some), seed)
    procedure = procedure or batch.metric.procedure_for(strata=design.strata)
    p = _p_values(procedure, batch, seed)
    defined = ~np.isnan(p) & ~np.isnan(drawn.truth)
    truth = drawn.truth[defined]
    tally = np.zeros((4, len(LEVELS)), dtype=np.int64)
    for i, alpha in enumerate(LEVELS):
        low, high = (b[defined] for b in procedure.interval(batch, p, alpha))
        tally[:, i] = _tally(p[defined], low, high, truth, alpha)
    notes = (note for found, d in zip(procedure.notes(batch), defined, strict=True) if d for note in found)
    return tally, int(defined.sum()), Counter(notes)


def _tally(p: Floats, low: Floats, high: Floats, truth: Floats, alpha: float) -> Ints:
    """Return how many intervals cover, how many p-values reject, harmful misses and contradictions."""
    slack = 1e-9  # a bound equal to the truth covers it, whatever the last digit
    rejected = p <= alpha
    apart = (low > 0) | (high < 0)
    over = ((low > truth + slack) & (low > 0)) | ((high < truth - slack) & (high < 0))
    covered = (low <= truth + slack) & (high >= truth - slack)
    return np.array([np.count_nonzero(v) for v in (covered, rejected, over, rejected != apart)])


def _p_values(procedure: Procedure, batch: Batch, seed: int) -> Floats:
    """Return the p-values, drawing those that the product draws."""
    p, drawn = procedure.p_values(batch, min(LEVELS))
    p, samplers = p.copy(), drawn.samplers()
    rng = np.random.default_rng([seed, 1])
    p[list(samplers)] = _drawn(list(samplers.values()), max(LEVELS), rng)
    small = {i: s for i, s in samplers.items() if p[i] <= 10 * min(LEVELS)}
    p[list(small)] = _drawn(list(small.values()), min(LEVELS), rng)
    return p


def _drawn(samplers: list[Sampler], alpha: float, rng: np.random.Generator) -> Floats:
    return sequential_p_values(samplers, fixed_p=[], alpha=alpha, rng=rng, most=MOST_DRAWS, adjust=lambda p: p)
