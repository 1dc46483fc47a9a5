"""A page of simulations whose sections are written one by one, each by a command of its own."""

from __future__ import annotations

import re
from pathlib import Path

from scipy.stats import beta

PAGE = "docs/groups.md"


def exact_limits(hits: int, runs: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of a share (Clopper and Pearson).

    Examples
    --------
    >>> [round(limit, 3) for limit in exact_limits(0, 100)]
    [0.0, 0.036]
    """
    low = float(beta.ppf(alpha / 2, hits, runs - hits + 1)) if hits else 0.0
    return low, float(beta.ppf(1 - alpha / 2, hits + 1, runs - hits)) if hits < runs else 1.0


def write_section(page: str, name: str, title: str, lines: list[str]) -> None:
    """Put a section into a page, in place of the one of this name if there is one."""
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    section = "\n".join([f"<!-- {name} -->", f"## {title}", "", *lines, f"<!-- end of {name} -->"])
    there = re.compile(rf"<!-- {name} -->.*?<!-- end of {name} -->", re.DOTALL)
    found = there.search(text)
    text = text[: found.start()] + section + text[found.end() :] if found else f"{text.rstrip()}\n\n{section}\n"
    path.write_text(text, encoding="utf-8")
