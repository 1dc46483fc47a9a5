"""What a search is asked, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.model.context import Context
    from fairtest.search.scoring import Aggregate, Estimate
    from fairtest.types import FloatArray, IntArray

WIDEST = 1000
"""How many populations of one depth a tree cuts further. A hundred thousand people hardly have more that are large
enough. Ten million have a hundred times as many, and testing them all takes the power from each."""


@dataclass(frozen=True)
class SearchSettings:
    """How to search for contexts.

    Attributes
    ----------
    max_depth
        The most cuts between the population and a context.
    min_people
        The fewest people of the training set a context may have.
    estimate
        Score by the effect itself (``"point"``, the paper) or its lower confidence bound.
    aggregate
        A split's score from its children: their mean (``"avg"``, the paper), size-weighted mean, or the best.
    search
        ``"tree"``, ``"forest"``, ``"exhaustive"``, or ``"auto"`` for conjunctions and the tree.
    trees, attributes_per_node
        How many trees a forest has, and among how many attributes each node chooses (None for a third of them).
    seed
        Where the randomness of a forest starts.
    widest
        The most populations of one depth that a tree cuts further, the strongest ones; None for all of them.
    """

    max_depth: int
    min_people: float
    estimate: Estimate = "bound"
    aggregate: Aggregate = "max"
    search: str = "tree"
    trees: int = 1
    attributes_per_node: int | None = None
    seed: int = 0
    widest: int | None = WIDEST


@dataclass(frozen=True, eq=False)
class Found:
    """The contexts a search proposes, the whole population first.

    Attributes
    ----------
    contexts
        Every proposed context once.
    parents
        The position of the context each was cut from, −1 for the population.
    looked_at
        How many candidates were evaluated to find them.
    evidence, sign
        How surely the training set shows an association in each (a normal deviate, 0 where unknown), and its
        direction (0 where the metric has none, or it is unknown).
    guided
        The contexts that are nodes of the guided tree, proposed or not; empty where none was grown.
    notes
        What the user should know about what was not looked at.
    """

    contexts: tuple[Context, ...]
    parents: tuple[int, ...]
    looked_at: int
    evidence: FloatArray
    sign: FloatArray
    guided: frozenset[Context] = field(default=frozenset(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)


class FoundUnweighed(Found):
    """Contexts whose evidence is counted when somebody asks for it: only some corrections do.

    Parameters
    ----------
    weigh
        Counts it, and gives evidence and sign.
    """

    def __init__(self, found: Found, weigh: Callable[[], tuple[FloatArray, FloatArray]]) -> None:
        known = {name: value for name, value in vars(found).items() if name not in ("evidence", "sign")}
        vars(self).update(known, _weigh=weigh)

    @cached_property
    def _weights(self) -> tuple[FloatArray, FloatArray]:
        weights: tuple[FloatArray, FloatArray] = vars(self)["_weigh"]()
        return weights

    @cached_property
    def evidence(self) -> FloatArray:
        """How surely the training set shows an association in each context."""
        return self._weights[0]

    @cached_property
    def sign(self) -> FloatArray:
        """Its direction."""
        return self._weights[1]


@dataclass(frozen=True, eq=False)
class FoundLabels(Found):
    """The labels a search proposes, each with contexts: the first of every label is the whole population.

    ``contexts``, ``evidence`` and ``sign`` have an entry for each label and context.

    Attributes
    ----------
    places
        Which label each entry is about.
    strongest
        The labels kept over everybody, in the order of the regression.
    rare
        How many labels were left out because too few people have them (or have them not).
    """

    places: IntArray
    strongest: tuple[int, ...]
    rare: int
