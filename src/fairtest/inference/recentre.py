"""Contexts far from where sums are taken: their sums are taken again, about a centre of their own.

Sums of numbers are taken about the median of everybody. In a context whose numbers lie a thousand standard deviations
from it (another currency, another unit), the fourth powers about the context's own mean would be lost in rounding.
Everything that reads these sums does not mind about which centre they were taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.summaries import Counts, Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.axes import Condition
    from fairtest.data.summaries import GroupMoments, Summary, Target
    from fairtest.data.variables import Variable
    from fairtest.engine.contract import Engine
    from fairtest.types import BoolArray, FloatArray, IntArray

REMOTE = 1e4
"""Sums are taken again where raw sums of squares are more than this many times the centred ones."""
MOST_CENTRES = 16


def test_summary(
    engine: Engine,
    number: int,
    conditions: Sequence[Sequence[Condition]],
    target: Target,
    together: IntArray | None = None,
) -> Summary:
    """Return the summary of every context in a test set, with no digits lost.

    ``together`` says for each stratum with which it is pooled: two people who happen to be alike are not remote.
    """
    summary = target.wrap(engine.tables(number, conditions, target))
    if isinstance(summary, Counts):
        return summary
    sums = summary.sums.copy()
    units = np.full(len(sums), _unit(summary))
    left = np.flatnonzero(remote(summary, together))
    for _ in range(MOST_CENTRES):
        if not left.size:
            break
        largest = left[np.argmax(_like(summary, sums[left]).size)]
        about = _about(target, _like(summary, sums[largest][None]))
        again = about.wrap(engine.tables(number, [conditions[i] for i in left.tolist()], about))
        assert not isinstance(again, Counts)
        near = ~remote(again, together)
        sums[left[near]], units[left[near]] = again.sums[near], _unit(again)
        left = left[~near & (left != largest)]
    return _like(summary, sums, units)


test_summary.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def _like(summary: Moments | GroupMoments, sums: FloatArray, units: FloatArray | None = None) -> Moments | GroupMoments:
    if isinstance(summary, Moments) or units is None:
        return replace(summary, sums=sums)
    return replace(summary, sums=sums, unit=units)


def _unit(summary: Moments | GroupMoments) -> float | FloatArray:
    """Return what a step of 1 is in the number that users know; correlations have no unit."""
    return 1.0 if isinstance(summary, Moments) else summary.unit


def remote(summary: Moments | GroupMoments, together: IntArray | None = None) -> BoolArray:
    """Whether a context has a stratum whose numbers are far from the centre in terms of their spread."""
    if together is not None:
        pooled = np.eye(int(together.max()) + 1)[together]
        return remote(_like(summary, np.einsum("ce...,ek->ck...", summary.sums, pooled)))
    if isinstance(summary, Moments):
        centred = summary.by_stratum.sums
        raw = summary.sums[..., 3], summary.sums[..., 5]
        far = (raw[0] > REMOTE * centred[2, 0]) | (raw[1] > REMOTE * centred[0, 2])
        return np.asarray((far & (summary.sums[..., 0] > 1)).any(axis=-1))
    far = summary.sums[..., 2] > REMOTE * summary.central(2)
    return np.asarray((far & (summary.sums[..., 0] > 1)).any(axis=(-2, -1)))


def _about(target: Target, context: Moments | GroupMoments) -> Target:
    """Return the target with plain numbers centred at the means of a context."""
    if isinstance(context, Moments):
        n, s, o = (float(context.sums[..., i].sum()) for i in range(3))
        return replace(
            target, protected=_move_centre(target.protected, s / n), output=_move_centre(target.output, o / n)
        )
    mean = float(context.sums[..., 1].sum() / context.sums[..., 0].sum())
    moved = _move_centre(target.measured, mean)
    return replace(target, output=moved) if target.measured is target.output else replace(target, protected=moved)


def _move_centre(variable: Variable, mean: float) -> Variable:
    """Return a plain number centred at its mean (given as the sums see it), still at most 1 after scaling."""
    if not variable.is_number:
        return variable
    return replace(variable, centre=variable.raw(mean), scale=variable.scale * (1 + abs(mean)))
