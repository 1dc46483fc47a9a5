"""What a search gives back: the contexts it proposes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.model.context import Context
    from fairtest.types import FloatArray, IntArray


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
