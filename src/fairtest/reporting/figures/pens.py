"""What marks look like: on a page by the classes of its style, in a file by fixed colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from fairtest.reporting.figures.palette import LIGHT, WHITE

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Pen:
    """How marks are written: how a position is written, and the attributes of a kind of mark.

    Attributes
    ----------
    width
        The width of the plot in pixels; None where it stretches, and positions stay in per cent.
    """

    width: float | None
    attributes: Callable[[str], str]

    def across(self, at: float) -> str:
        """Return a horizontal position, given in per cent, as it is written."""
        return f"{at:g}%" if self.width is None else f"{round(self.width * at / 100, 1):g}"

    def style(self, kind: str) -> Markup:
        """Return the attributes of a kind of mark: a look, the line of one, or a part of a box."""
        return Markup(f" {self.attributes(kind)}")


_CLASSES = {
    **{f"line of {look}": "ci" for look in ("whole", "clear", "unclear")},
    "whole": "dot",
    "clear": "dot",
    "unclear": "hollow",
    **{f"line of {group}": f"band k-{group}" for group in "abo"},
    **{group: f"g-{group}" for group in "abo"},
}
PAGE = Pen(None, lambda kind: f'class="{_CLASSES.get(kind, kind)}"')
_COLOURS = {
    "whole": "ink", "clear": "strength", "unclear": "strength", "arrow": "strength",
    "a": "group-a", "b": "group-b", "o": "other",
}  # fmt: skip
_FIXED = {
    **{kind: f'fill="{LIGHT[name]}"' for kind, name in _COLOURS.items()},
    **{
        f"line of {kind}": f'stroke="{LIGHT[name]}" stroke-width="3" stroke-opacity="0.4"'
        for kind, name in _COLOURS.items()
    },
    "whisker": f'stroke="{LIGHT["group-a"]}"',
    "iqr": f'fill="{WHITE}" stroke="{LIGHT["group-a"]}"',
    "median": f'stroke="{LIGHT["group-a"]}" stroke-width="3"',
}


def file_pen(width: float) -> Pen:
    """Return the pen of a file whose plot is so many pixels wide."""
    return Pen(width, _FIXED.__getitem__)
