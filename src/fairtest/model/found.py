"""What a search gives back: the hypotheses it proposes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.model.context import Context
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Found:
    """The hypotheses a search proposes: an output and a context each, for every output the whole population first.

    Attributes
    ----------
    contexts
        The context of each hypothesis; for one output, every proposed context once.
    looked_at
        How many candidates were evaluated to find them.
    evidence, sign
        How surely the training set shows an association in each (a normal deviate, 0 where unknown), and its
        direction (0 where the metric has none, or it is unknown).
    guided
        The contexts that are nodes of the guided tree, proposed or not; empty where none was grown.
    notes
        What the user should know about what was not looked at.
    outputs
        The number of the output of each hypothesis; None where the question has one output only.
    strongest
        The outputs that the training set ranked first over everybody.
    rare
        How many outputs were not looked at because too few people have them (or have them not).
    """

    contexts: tuple[Context, ...]
    looked_at: int
    evidence: FloatArray
    sign: FloatArray
    guided: frozenset[Context] = field(default=frozenset(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    outputs: IntArray | None = field(default=None, kw_only=True)
    strongest: tuple[int, ...] = field(default=(0,), kw_only=True)
    rare: int = field(default=0, kw_only=True)

    def take(self, at: Sequence[int] | IntArray) -> Found:
        """Return some of the hypotheses."""
        at = np.asarray(at, dtype=int)
        return Found(
            tuple(self.contexts[i] for i in at.tolist()),
            self.looked_at,
            self.evidence[at],
            self.sign[at],
            guided=self.guided,
            outputs=None if self.outputs is None else self.outputs[at],
        )


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
