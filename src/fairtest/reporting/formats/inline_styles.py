"""Styles of single elements moved into the style sheet of a page, so that a strict policy need not allow any inline."""

from __future__ import annotations

import re

_STYLED = re.compile(r'class="([^"]*)"((?: id="[^"]*")?) style="(--[^"]*)"')
_END = "</style>"


def move_styles(page: str) -> str:
    """Return a page whose elements have classes where they had styles: each different style is a class of its own.

    Only the variables that templates give to plots are moved; a page without any is returned as it is.

    Examples
    --------
    >>> move_styles('<style>p{}</style><ul class="tree" style="--steps:4"></ul><ul class="a" style="--steps:4"></ul>')
    '<style>p{}.axis-1{--steps:4}</style><ul class="tree axis-1"></ul><ul class="a axis-1"></ul>'
    """
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        made = names.setdefault(found[3], f"axis-{len(names) + 1}")
        return f'class="{found[1]} {made}"{found[2]}'

    head, end, body = page.partition(_END)
    moved = _STYLED.sub(name, body)
    rules = "".join(f".{made}{{{style}}}" for style, made in names.items())
    return f"{head}{rules}{end}{moved}"
