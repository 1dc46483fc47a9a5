"""Contexts: subpopulations given by a few predicates on contextual attributes."""

from __future__ import annotations

import datetime as dt
from bisect import bisect
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fairtest.model.above import provider
from fairtest.types import day_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairtest.types import BoolArray, Level


class Op(StrEnum):
    """The comparisons a predicate can make."""

    AT_MOST = "<="
    ABOVE = ">"
    IS = "=="
    IN = "in"
    MISSING = "missing"


_SIGN = {Op.AT_MOST: "≤", Op.ABOVE: ">", Op.IS: "=", Op.IN: "in"}


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition on one attribute.

    Attributes
    ----------
    value
        The threshold, the value, a tuple of values for ``in``, None for ``missing``.
    order
        For a threshold on an ordered column: its levels from low to high.

    Examples
    --------
    >>> print(Predicate("age", Op.AT_MOST, 42))
    age ≤ 42
    >>> print(Predicate("job", Op.MISSING))
    job missing
    """

    column: str
    op: Op
    value: Level | tuple[Level, ...] | None = None
    order: tuple[Level, ...] = field(default=(), compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)  # searches look predicates up by the hundred thousand

    def __post_init__(self) -> None:
        object.__setattr__(self, "op", Op(self.op))
        object.__setattr__(self, "_hash", hash((self.column, self.op, self.value)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Predicate, (self.column, self.op, self.value, self.order)  # texts hash anew in each process

    @property
    def rank(self) -> float:
        """Where a threshold stands among the values of its column."""
        if self.order:
            return float(self.order.index(self.value))
        if isinstance(self.value, dt.date):
            return day_number(self.value)
        return float(self.value)  # type: ignore[arg-type]

    def implies(self, other: Predicate) -> bool:
        """Whether everybody who satisfies this predicate satisfies ``other``, whatever the data."""
        if self.column != other.column:
            return False
        if self.op is not other.op:
            return self.op is Op.IS and isinstance(other.value, tuple) and self.value in other.value
        if self.op is Op.AT_MOST:
            return self.rank <= other.rank
        if self.op is Op.ABOVE:
            return self.rank >= other.rank
        return self.value == other.value

    def __str__(self) -> str:
        if self.op is Op.MISSING:
            return f"{self.column} missing"
        return f"{self.column} {_SIGN[self.op]} {written_value(self.value)}"


@dataclass(frozen=True, slots=True)
class Context:
    """A conjunction of predicates; without any, the whole population.

    Predicates are simplified (the tightest bound of each side) and sorted by column, so two contexts that say the
    same thing are equal.

    Examples
    --------
    >>> c = Context.of([Predicate("job", Op.IS, "Sales"), Predicate("age", Op.AT_MOST, 50),
    ...                 Predicate("age", Op.AT_MOST, 42)])
    >>> print(c)
    age ≤ 42, job = Sales
    >>> Context.of([Predicate("age", Op.AT_MOST, 42)]).contains(c)
    True
    """

    predicates: tuple[Predicate, ...] = ()
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.predicates))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Context, (self.predicates,)

    @classmethod
    def of(cls, predicates: Iterable[Predicate]) -> Context:
        """Return the simplified, sorted conjunction."""
        kept: dict[tuple[object, ...], Predicate] = {}
        for p in predicates:
            threshold = p.op in (Op.AT_MOST, Op.ABOVE)
            key = (p.column, p.op) if threshold else (p.column, p.op, p.value)
            known = kept.get(key)
            if known is None or p.implies(known):
                kept[key] = p
        order = {op: i for i, op in enumerate((Op.ABOVE, Op.AT_MOST, Op.IS, Op.IN, Op.MISSING))}
        return cls(tuple(sorted(kept.values(), key=lambda p: (p.column, order[p.op]))))

    def narrowings(self, predicates: Sequence[Predicate]) -> Iterator[Context]:
        """Yield the conjunction of the context with each of some predicates on the same attribute."""
        column = predicates[0].column if predicates else ""
        columns = [p.column for p in self.predicates]
        if column in columns:
            return (Context.of((*self.predicates, predicate)) for predicate in predicates)
        at = bisect(columns, column)
        before, after = self.predicates[:at], self.predicates[at:]
        return (Context((*before, predicate, *after)) for predicate in predicates)

    def __str__(self) -> str:
        return ", ".join(str(p) for p in self.predicates) or "everyone"

    def __len__(self) -> int:
        return len(self.predicates)

    @property
    def columns(self) -> frozenset[str]:
        """The attributes that the context has conditions on."""
        return frozenset(p.column for p in self.predicates)

    def contains(self, other: Context) -> bool:
        """Whether everybody in ``other`` is in this context, whatever the data."""
        for ours in self.predicates:
            for theirs in other.predicates:
                if theirs.column == ours.column and theirs.implies(ours):
                    break
            else:
                return False
        return True

    def mask(self, frame: Any, missing: Iterable[object] = ()) -> BoolArray:
        """Return which rows of a pandas or polars frame, or of an Arrow table, are in the context.

        ``missing`` are the values that stand for a missing one, as they were given to the source.
        """
        rows: BoolArray = provider("rows of a context")(self, frame, missing)
        return rows


def written_value(value: Level | tuple[Level, ...] | None) -> str:
    """Return a predicate's value as people read it."""
    if isinstance(value, tuple):
        return "{" + ", ".join(written_value(v) for v in value) + "}"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.12g}"
    return value.isoformat() if isinstance(value, dt.date) else str(value)
