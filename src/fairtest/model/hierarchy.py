"""Which context is inside which: the tree that a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairtest.model.finding import Finding, Tested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.context import Context

Part: TypeAlias = Finding | Tested
MOST_WITHOUT_TREE = 20
"""How many significant contexts stand beside the findings where no guided tree was grown."""


@dataclass(frozen=True)
class Node:
    """A context in the tree.

    Attributes
    ----------
    part
        The population, a finding, or another context that was tested.
    parent
        The position of the nearest context around it; −1 for the population.
    depth
        How many contexts are around it.
    """

    part: Part
    parent: int
    depth: int


def tree_of(population: Finding, findings: Sequence[Finding], others: Sequence[Tested]) -> tuple[Node, ...]:
    """Return the population, the findings and the nodes of the guided tree, parents before children.

    Each hangs under the smallest context that contains it, whatever search has found it; of those under the same one
    the significant come first, then the strongest.
    """
    nodes = [other for other in others if other.guided]
    nodes = nodes or [other for other in others if other.significant][:MOST_WITHOUT_TREE]
    everyone: list[Part] = [*nodes, *findings, population]
    parts = {part.context: part for part in everyone}
    below: dict[Context, list[Part]] = {}
    for part in parts.values():
        around = [p for p in parts.values() if p is not part and p.context.contains(part.context)]
        if around:
            nearest = min(around, key=lambda p: (p.size, -len(p.context), str(p.context)))
            below.setdefault(nearest.context, []).append(part)
    ordered: list[Node] = []

    def hang(part: Part, parent: int, depth: int) -> None:
        place = len(ordered)
        ordered.append(Node(part, parent, depth))
        for child in sorted(below.get(part.context, ()), key=_strongest):
            hang(child, place, depth + 1)

    hang(population, -1, 0)
    return tuple(ordered)


def _strongest(part: Part) -> tuple[bool, float, int, str]:
    return not part.significant, -abs(part.effect or 0.0), -part.size, str(part.context)
