"""A forest: the guided tree again and again, each node choosing among a few attributes drawn at random.

A tree that always takes the strongest cut never sees what lies behind the second best. Repeating it on random subsets
of the attributes is how the paper (section 6.2) looks at more candidates and still lets the association lead. What is
drawn hangs on the user's seed, the number of the tree, the node and the names of the attributes, never on their order.
"""

from __future__ import annotations

import hashlib
from math import ceil
from typing import TYPE_CHECKING

from fairtest.progress import progress_of_step, silent
from fairtest.search.tree import grow_trees, merge_trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.data.axes import Axis
    from fairtest.data.table import Table
    from fairtest.model.context import Context
    from fairtest.model.found import Found
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.tree import Choice, LookedAt, Node, Scorer

SHARE = 3
"""A node chooses among one in this many attributes, unless the user says otherwise."""


def per_node(attributes: int, wanted: int | None = None) -> int:
    """Return among how many attributes a node chooses.

    Examples
    --------
    >>> per_node(15), per_node(2), per_node(15, 8), per_node(3, 8)
    (5, 1, 8, 3)
    """
    return min(attributes, max(ceil(attributes / SHARE), 1) if wanted is None else wanted)


def choices_of(axes: Sequence[Axis], settings: TrainingRun) -> list[Choice]:
    """Return along which attributes each tree may cut each context; the first tree may cut along all of them."""
    columns = sorted(axis.column for axis in axes)
    few = per_node(len(columns), settings.plan.attributes_per_node)
    everything = frozenset(columns)
    others = (_RandomAttributes(columns, few, settings.seed, tree) for tree in range(1, settings.plan.trees or 1))
    return [lambda _context: everything, *others]


class _RandomAttributes:
    """The attributes whose names, hashed together with the seed, the tree and the node, come first."""

    def __init__(self, columns: Sequence[str], few: int, seed: int, tree: int) -> None:
        self._columns = columns
        self._few = few
        self._tree = f"{seed}\n{tree}\n".encode()

    def __call__(self, context: Context) -> frozenset[str]:
        """Return the attributes along which a context may be cut."""
        node = hashlib.blake2b(self._tree + f"{context}\n".encode(), digest_size=8)

        def draw_place(column: str) -> bytes:
            own = node.copy()
            own.update(column.encode())
            return own.digest()

        return frozenset(sorted(self._columns, key=draw_place)[: self._few])


def grow_forest(
    scorer_of: Callable[[LookedAt], Scorer],
    table: Table,
    settings: TrainingRun,
    axes: Sequence[Axis],
    looked_at: LookedAt,
    together: int,
    progress: Progress = silent,
) -> Found:
    """Grow all trees and return their nodes as contexts, each once.

    Parameters
    ----------
    scorer_of
        Gives a fresh scorer, which notes what it looks at in what it is given.
    together
        So many trees are counted together: as many as fit in memory. The result does not hang on it.
    """
    choices = choices_of(axes, settings)
    trees: list[list[Node]] = []
    batches = [choices[first : first + together] for first in range(0, len(choices), together)]
    for number, batch in enumerate(batches):
        trees += grow_trees(
            scorer_of(looked_at), table, settings, batch, progress_of_step(progress, number, len(batches))
        )
    return merge_trees(trees, looked_at)
