"""The tree as a picture: each row divides the row above, width is people, colour is strength where significant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.hierarchy import Node

LEVEL = 27
"""The height of a row in pixels."""
STEPS = 6
_LETTER = 0.75
"""About how much of the picture's width, in per cent, a letter takes on a wide screen."""


@dataclass(frozen=True)
class Cell:
    """Where a node stands: its left side and its width in per cent, and its row."""

    left: float
    width: float
    row: int


@dataclass(frozen=True)
class Ramp:
    """Which of the steps of colour an effect gets: from none to the strongest, or for each direction its own.

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
        place = int(abs(effect) / self.step * (1 + 1e-9))
        if not self.signed:
            return f"q{min(place, STEPS - 1)}"
        return f"{'a' if effect > 0 else 'b'}{min(place + 1, STEPS // 2)}"


def ramp_of(nodes: Sequence[Node], *, signed: bool) -> Ramp:
    """Return equal steps up to the strongest effect that is significant, a round number each."""
    strongest = max((abs(n.part.effect or 0.0) for n in nodes if n.part.significant), default=0.0)
    return Ramp(_round_up(strongest / (STEPS // 2 if signed else STEPS)), signed)


def _round_up(step: float) -> float:
    if not 0 < step < math.inf:
        return 0.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if m * power >= step * (1 - 1e-9))


def cells_of(nodes: Sequence[Node]) -> list[Cell]:
    """Return where each node stands; children that overlap, and so are too wide together, are narrowed alike."""
    whole = max(nodes[0].part.size, 1)
    cells = [Cell(0.0, 100.0, 0)]
    taken = [0.0]
    below = [0] * len(nodes)
    for node in nodes[1:]:
        below[node.parent] += node.part.size
    for node in nodes[1:]:
        parent, people = cells[node.parent], nodes[node.parent].part.size
        share = node.part.size / max(below[node.parent], people, 1)
        width = parent.width * share if people else 100 * node.part.size / whole
        cells.append(Cell(round(parent.left + taken[node.parent], 3), round(width, 3), node.depth))
        taken[node.parent] += width
        taken.append(0.0)
    return cells


def icicle(
    nodes: Sequence[Node], words: Sequence[str], colours: Sequence[str], reported: Sequence[bool], stem: str
) -> Markup:
    """Return the picture; a cell carries the name of its line in the outline, ``stem`` and its number."""
    cells = cells_of(nodes)
    height = LEVEL * (1 + max(cell.row for cell in cells))
    marks = [
        _cell(cell, f"{stem}-{i}", name, colour)
        for i, (cell, name, colour) in enumerate(zip(cells, words, colours, strict=True))
    ]
    marks += [_outline(cell) for cell, shown in zip(cells, reported, strict=True) if shown]
    return Markup(f'<svg class="ice" aria-hidden="true" height="{height}">{"".join(marks)}</svg>')


def _cell(cell: Cell, anchor: str, words: str, colour: str) -> str:
    rect = f'<rect class="{colour}" width="100%" height="{LEVEL}"/>'
    letters = int(cell.width / _LETTER) - 1
    text = words if len(words) <= letters else f"{words[: letters - 1]}…" if letters > 6 else ""
    text = f'<text x="5" y="18" class="{colour}t">{escape(text)}</text>' if text else ""
    place = f'x="{cell.left:g}%" y="{LEVEL * cell.row}" width="{cell.width:g}%" height="{LEVEL}"'
    return f'<svg {place} data-node="{anchor}"><title>{escape(words)}</title>{rect}{text}</svg>'


def _outline(cell: Cell) -> str:
    place = f'x="{cell.left:g}%" y="{LEVEL * cell.row + 1}" width="{cell.width:g}%" height="{LEVEL - 2}"'
    return f'<rect class="mark" {place}/>'
