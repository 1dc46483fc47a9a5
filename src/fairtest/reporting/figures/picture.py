"""A figure as an SVG file of its own: title, axis, and rows with their names, marks and numbers, in light colours."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from fairtest.reporting.figures.marks import BoxMark
from fairtest.reporting.figures.palette import LIGHT, WHITE
from fairtest.reporting.figures.svg import draw_box, draw_interval, file_pen
from fairtest.reporting.formats.tables import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.icicle import Icicle
    from fairtest.reporting.figures.marks import IntervalMark

_WIDTH, _MARGIN = 880, 12
_PLOT, _END = 330, 620
"""Where a plot begins and ends, in pixels."""
_PEN = file_pen(_END - _PLOT)
_ROW, _TOP = 26, 46
_LONGEST_NAME, _LONGEST_TITLE = 46, 110
_TREE_TOP, _LINE, _ACROSS = 40, 22, 3
"""Where a tree begins, the height of a line of its legend, and how many colours stand in one."""


@dataclass(frozen=True)
class PictureRow:
    """A row of a picture; ``look`` is that of a mark's dot, as in :mod:`.plots`."""

    name: str
    numbers: str
    mark: IntervalMark | BoxMark | None
    look: str


def draw_rows(title: str, axis: Axis, rows: Sequence[PictureRow], reference: float | None) -> str:
    """Return a picture of rows on one axis, with a dotted line where everybody stands."""
    bottom = _TOP + _ROW * len(rows)
    lines = [*_axis_lines(axis, bottom)]
    if reference is not None:
        lines.append(_upright(reference, bottom, LIGHT["ink"], ' stroke-dasharray="1 3"'))
    for i, row in enumerate(rows):
        lines += _row_lines(row, _TOP + _ROW * i)
    return _framed(title, bottom + 30, lines)


def _axis_lines(axis: Axis, bottom: float) -> Iterator[str]:
    for tick in axis.ticks:
        yield _upright(tick.at, bottom, LIGHT["rule"])
        yield _text(
            _x(tick.at), bottom + 16, tick.label, f' fill="{LIGHT["soft"]}" font-size="11" text-anchor="middle"'
        )
    if axis.zero is not None:
        yield _upright(axis.zero, bottom, LIGHT["soft"])


def _row_lines(row: PictureRow, top: float) -> Iterator[str]:
    baseline = top + _ROW / 2 + 4
    yield _text(_MARGIN, baseline, shorten(row.name, _LONGEST_NAME))
    yield _text(_END + 20, baseline, row.numbers, f' fill="{LIGHT["soft"]}"')
    if isinstance(row.mark, BoxMark):
        yield _placed(top, draw_box(row.mark, _ROW, _PEN))
    elif row.mark is not None:
        yield _placed(top, draw_interval(row.mark, row.look, _ROW, _PEN))


def _placed(top: float, mark: str) -> str:
    return f'<g transform="translate({_PLOT} {top:g})">{mark}</g>'


def _x(per_cent: float) -> float:
    return round(_PLOT + (_END - _PLOT) * per_cent / 100, 1)


def _upright(at: float, bottom: float, colour: str, more: str = "") -> str:
    x = _x(at)
    return f'<line x1="{x:g}" y1="{_TOP}" x2="{x:g}" y2="{bottom:g}" stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{style}>{escape(text)}</text>'


def draw_tree(title: str, tree: Icicle) -> str:
    """Return a picture of the tree of contexts, with its legend."""
    inside, below = _WIDTH - 2 * _MARGIN, _TREE_TOP + tree.height + _LINE
    legend = [*tree.legend, ("qn", "not significant"), ("mark", "finding")]
    lines = [
        f"<style>{' '.join(_tree_style())}</style>",
        f'<svg x="{_MARGIN}" y="{_TREE_TOP}" width="{inside}" height="{below - _TREE_TOP}">{tree.draw("tree-t")}</svg>',
    ]
    for i, (colour, words) in enumerate(legend):
        x, y = _MARGIN + i % _ACROSS * inside // _ACROSS, below + _LINE * (i // _ACROSS)
        lines.append(
            f'<g class="ice"><rect class="{colour}" x="{x}" y="{y}" width="14" height="14"/></g>'
            + _text(x + 22, y + 11, words)
        )
    return _framed(title, below + _LINE * -(-len(legend) // _ACROSS) + _MARGIN, lines)


def _tree_style() -> Iterator[str]:
    """Yield what the classes of the tree look like."""
    steps = [name for name in LIGHT if name[0] in "sab" and name[1:].isdigit()]
    yield from (f".{name.replace('s', 'q')} {{ fill: {LIGHT[name]}; }}" for name in steps)
    yield f".ice rect {{ stroke: {WHITE}; }}"
    yield ".ice text { font-size: 11px; }"
    yield f".ice rect.qn {{ fill: {WHITE}; stroke: {LIGHT['rule']}; }} .ice .qnt {{ fill: {LIGHT['soft']}; }}"
    yield f".ice rect.mark {{ fill: none; stroke: {LIGHT['ink']}; stroke-width: 2; }}"
    yield f".ice .q4t, .ice .q5t {{ fill: {WHITE}; }}"  # letters on dark cells


def _framed(title: str, height: float, lines: Sequence[str]) -> str:
    """Return a file with its title above the lines."""
    size = f'width="{_WIDTH}" height="{height:g}"'
    first = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" {size}'
        f' role="img" font-family="system-ui, sans-serif" font-size="12" fill="{LIGHT["ink"]}">',
        f"<title>{escape(title)}</title>",
        f'<rect {size} fill="{WHITE}"/>',
        _text(_MARGIN, 22, shorten(title, _LONGEST_TITLE), ' font-size="14" font-weight="600"'),
    ]
    return "\n".join([*first, *lines, "</svg>"]) + "\n"
