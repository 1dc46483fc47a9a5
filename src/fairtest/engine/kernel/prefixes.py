"""Contexts as a tree of common prefixes, so that what they share is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.axes import Condition


@dataclass
class Prefix:
    """Some leading conditions: the contexts that end here, and how they go on."""

    contexts: list[int] = field(default_factory=list)
    children: dict[Condition, Prefix] = field(default_factory=dict)

    def by_column(self) -> Iterator[tuple[str, list[tuple[Condition, Prefix]]]]:
        """Yield the continuations, grouped by the column they are about."""
        groups: dict[str, list[tuple[Condition, Prefix]]] = {}
        for condition, child in self.children.items():
            groups.setdefault(condition.column, []).append((condition, child))
        yield from groups.items()


def prefix_tree(contexts: Sequence[Sequence[Condition]]) -> Prefix:
    """Return the root of the prefixes of some contexts."""
    root = Prefix()
    for number, context in enumerate(contexts):
        at = root
        for condition in context:
            at = at.children.setdefault(condition, Prefix())
        at.contexts.append(number)
    return root


def commonest_first(contexts: Sequence[Sequence[Condition]]) -> list[list[Condition]]:
    """Return contexts with their conditions in an order in which many begin alike: the commonest conditions first."""
    times = Counter(condition for context in contexts for condition in context)
    return [sorted(context, key=lambda c: (-times[c], c.column, c.codes)) for context in contexts]


def order_by_prefix(contexts: Sequence[Sequence[Condition]]) -> list[int]:
    """Return an order of contexts in which those that begin alike, so sorted, follow each other."""
    keys = [[(c.column, c.codes) for c in ordered] for ordered in commonest_first(contexts)]
    return sorted(range(len(contexts)), key=keys.__getitem__)
