"""How an axis can be cut: the children of each split, as predicates for people and conditions for engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.data.axes import Condition
from fairtest.model.context import Op, Predicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.data.axes import Axis
    from fairtest.data.table import Column
    from fairtest.model.context import Context
    from fairtest.types import Level


def n_splits(axis: Axis) -> int:
    """Return the number of ways to cut an axis: between any two bins of a number, or by value."""
    return 1 if axis.thresholds is None else len(axis.thresholds)


def children(axis: Axis, split: int, column: Column) -> list[tuple[Predicate, Condition]]:
    """Return the parts into which one split cuts a population, in the order of the scorer's child axis."""
    name = axis.column
    parts: list[tuple[Predicate, Condition]] = []
    if axis.thresholds is None:
        for code, value in enumerate(axis.levels):
            predicate = Predicate(name, Op.IN, axis.pooled) if value is None else Predicate(name, Op.IS, value)
            parts.append((predicate, Condition(name, (code,))))
    else:
        value, order = _threshold(axis, split, column)
        bins = len(axis.thresholds) + 1
        parts.append((Predicate(name, Op.AT_MOST, value, order), Condition(name, tuple(range(split + 1)))))
        parts.append((Predicate(name, Op.ABOVE, value, order), Condition(name, tuple(range(split + 1, bins)))))
    if axis.missing is not None:
        parts.append((Predicate(name, Op.MISSING), Condition(name, (axis.missing,))))
    return parts


def _threshold(axis: Axis, split: int, column: Column) -> tuple[Level, tuple[Level, ...]]:
    assert axis.thresholds is not None
    threshold = axis.thresholds[split]
    if axis.levels:
        return threshold, column.levels
    return column.number.to_level(float(threshold)), ()  # type: ignore[arg-type]


def items(axis: Axis, column: Column) -> list[tuple[Predicate, Condition]]:
    """Return every predicate an axis allows: up to and above each threshold, or each value; missing last.

    Thresholds come as one run of ``≤`` and one of ``>``, each from low to high.
    """
    if axis.thresholds is None:
        parts = children(axis, 0, column)
        return parts if axis.pool is None or axis.pool_is_readable else [p for p in parts if p[0].op is not Op.IN]
    cuts = [children(axis, j, column) for j in range(n_splits(axis))]
    parts = [cut[side] for side in (0, 1) for cut in cuts]
    return parts + (cuts[0][2:] if axis.missing is not None else [])


def conditions_of(
    contexts: Iterable[Context], axis_of: Callable[[str], Axis | None]
) -> tuple[tuple[Condition, ...], ...]:
    """Return contexts as an engine understands them.

    Every predicate must be one that :func:`children` can give for its axis.
    """
    known: dict[Predicate, Condition] = {}
    same: dict[int, Condition] = {}  # contexts share the very objects, whose identity is cheaper than their hash
    contexts = tuple(contexts)
    for context in contexts:
        for p in context.predicates:
            if id(p) not in same:
                if p not in known:
                    known[p] = _condition(p, _present(axis_of(p.column)))
                same[id(p)] = known[p]
    return tuple(tuple([same[id(p)] for p in context.predicates]) for context in contexts)


def _present(axis: Axis | None) -> Axis:
    assert axis is not None, "a context speaks of a column without an axis"
    return axis


def _condition(predicate: Predicate, axis: Axis) -> Condition:
    if predicate.op is Op.MISSING:
        return Condition(axis.column, () if axis.missing is None else (axis.missing,))
    if predicate.op in (Op.AT_MOST, Op.ABOVE):
        assert axis.thresholds is not None
        at = axis.thresholds.index(predicate.value if axis.levels else predicate.rank)
        bins = range(len(axis.thresholds) + 1)
        return Condition(axis.column, tuple(bins[: at + 1] if predicate.op is Op.AT_MOST else bins[at + 1 :]))
    values: Iterable[Level | None] = [None] if predicate.op is Op.IN else [predicate.value]  # type: ignore[list-item]
    return Condition(axis.column, tuple(axis.levels.index(v) for v in values))
