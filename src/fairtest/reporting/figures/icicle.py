"""The tree as a picture: each row divides the row above, width is people, colour is strength where significant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.names import clean_line
from fairtest.numbers import digits, typeset
from fairtest.reporting.figures.axes import round_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.registry import Metric
    from fairtest.metrics.scale import Scale
    from fairtest.model.hierarchy import Node
    from fairtest.model.report import AttributeReport

LEVEL = 27
"""The height of a row in pixels."""
STEPS = 6
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_LETTER = 0.75
"""About how much of the picture's width, in per cent, a letter takes on a wide screen."""


@dataclass(frozen=True)
class TreeCell:
    """The rectangle of a node: its left side and its width in per cent, and its row."""

    left: float
    width: float
    row: int

    def shorten(self, words: str) -> str:
        """Return as much of some words as fits in the cell; nothing where only a few letters would."""
        letters = int(self.width / _LETTER) - 1
        return words if len(words) <= letters else f"{words[: letters - 1]}…" if letters > 6 else ""


@dataclass(frozen=True)
class Ramp:
    """Steps of colour for effects: from none to the strongest, or for each direction its own.

    Attributes
    ----------
    step
        How much a step is, in the unit of the effect.
    """

    step: float
    signed: bool

    def colour(self, effect: float | None, *, significant: bool) -> str:
        """Return the class of an effect: ``q0`` to ``q5``, ``a1`` to ``a3`` or ``b1`` to ``b3``, ``qn`` for none."""
        if effect is None or not significant or not self.step:
            return "qn"
        number = int(abs(effect) / self.step * (1 + 1e-9))
        if not self.signed:
            return f"q{min(number, STEPS - 1)}"
        return f"{'a' if effect > 0 else 'b'}{min(number + 1, STEPS // 2)}"


def ramp_of(nodes: Sequence[Node], *, signed: bool) -> Ramp:
    """Return a ramp whose equal steps reach the strongest significant effect; a step is a round number."""
    strongest = max((abs(n.part.effect or 0.0) for n in nodes if n.part.significant), default=0.0)
    step = strongest / (STEPS // 2 if signed else STEPS)
    return Ramp(round_up(step, _ROUND) if 0 < step < math.inf else 0.0, signed)


@dataclass(frozen=True)
class Icicle:
    """The tree of an attribute as a picture: what its cells say and which colours they have.

    Attributes
    ----------
    nodes
        The tree, parents before children.
    findings
        For each node the number of the finding it is; None where it is none.
    people
        How many the test set has, where the whole population was tested on more.
    """

    nodes: tuple[Node, ...]
    findings: tuple[int | None, ...]
    ramp: Ramp
    metric: Metric
    scale: Scale
    people: int | None = None

    @property
    def height(self) -> int:
        """How high it is, in pixels."""
        return LEVEL * (1 + max(node.depth for node in self.nodes))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What each context adds to the one above it, in words."""
        return "Everyone", *(_own_words(node, self.nodes[node.parent]) for node in self.nodes[1:])

    @cached_property
    def colours(self) -> tuple[str, ...]:
        """The class of each cell's colour."""
        return tuple(self.ramp.colour(n.part.effect, significant=n.part.significant) for n in self.nodes)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The colours that are in the picture, with the effects they stand for."""
        steps = [digits(self.scale.factor * self.ramp.step * i) for i in range(STEPS)]
        words = {"q0": f"under {steps[1]}"} | {f"q{i}": f"{steps[i]} or more" for i in range(1, STEPS)}
        if self.ramp.signed:
            sizes = (f"under {steps[1]}", f"{steps[1]} to {steps[2]}", f"over {steps[2]}")
            sides = (("b", self.metric.words.lower), ("a", self.metric.words.higher))
            words = {f"{s}{i}": f"{way} {size}{self.scale.unit}" for s, way in sides for i, size in enumerate(sizes, 1)}
        return [(colour, typeset(what)) for colour, what in words.items() if colour in self.colours]

    @cached_property
    def cells(self) -> list[TreeCell]:
        """The cell of each node."""
        return cells_of(self.nodes, self.people)

    @property
    def rings(self) -> list[TreeCell]:
        """The cells of the findings, which have a ring around them."""
        return [cell for cell, number in zip(self.cells, self.findings, strict=True) if number is not None]


def icicle_of(attribute: AttributeReport, scale: Scale, people: int | None = None) -> Icicle | None:
    """Return the picture of an attribute's tree; None where there are labels or nothing is significant.

    ``people`` is how many the test set has, where the whole population was tested on more.
    """
    nodes = () if attribute.labels else attribute.tree
    if len(nodes) < 2 or not any(n.part.significant and n.part.effect is not None for n in nodes):
        return None
    numbers = {finding.context: i for i, finding in enumerate(attribute.inside, 1)}
    metric = reported_metric(attribute.metric)
    ramp = ramp_of(nodes, signed=metric.signed)
    return Icicle(nodes, tuple(numbers.get(node.part.context) for node in nodes), ramp, metric, scale, people)


def _own_words(node: Node, parent: Node) -> str:
    own = [p for p in node.part.context.predicates if p not in parent.part.context.predicates]
    return clean_line(", ".join(map(str, own))) or clean_line(str(node.part.context))


def cells_of(nodes: Sequence[Node], everybody: int | None = None) -> list[TreeCell]:
    """Return the cell of each node; children that overlap, and so are too wide together, are narrowed alike."""
    whole = max(nodes[0].part.size if everybody is None else everybody, 1)
    cells = [TreeCell(0.0, 100.0, 0)]
    taken = [0.0]
    below = [0] * len(nodes)
    for node in nodes[1:]:
        below[node.parent] += node.part.size
    for node in nodes[1:]:
        parent, people = cells[node.parent], whole if node.parent == 0 else nodes[node.parent].part.size
        share = node.part.size / max(below[node.parent], people, 1)
        width = parent.width * share if people else 100 * node.part.size / whole
        cells.append(TreeCell(round(parent.left + taken[node.parent], 3), round(width, 3), node.depth))
        taken[node.parent] += width
        taken.append(0.0)
    return cells
