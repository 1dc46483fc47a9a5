"""What passes and what fails: section 7 of the statistics as code.

A cell fails at a level when the upper Clopper–Pearson limit of its coverage, Bonferroni over all cells, is below the
bound (94 % for a nominal 95 %, 99.9 % for 99.95 %): too low for bad luck to explain. A null cell fails likewise when
the lower limit of its level is above 6 % or 0.1 %. Cells known to be weak stand in :data:`KNOWN_WEAK`, each with the
warning that the report prints there; a cell that fails without standing there, an entry in which nothing is weak any
more, and a weak cell whose warning is not printed all break the rule. So does a warning in a plain cell
(:data:`PLAIN`), where nothing is wrong.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from scipy.special import betaincinv

import fairtest.metrics
from fairtest.metrics.cautions import FEW
from fairtest.metrics.correlation import TAILS
from fairtest.metrics.correlation_ratio import SKEWED, UNEVEN
from fairtest.metrics.mean import SKEWED as SKEWED_MEANS
from fairtest.metrics.rank_correlation import SMALL_STRATA, STRONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.levels import Cell

__all__ = [
    "COVERAGE",
    "KNOWN_WEAK",
    "PLAIN",
    "Verdict",
    "Weak",
    "failures",
    "judge",
    "limits",
    "null_runs_hold",
    "printed_texts",
    "weakness_of",
]

COVERAGE = (0.94, 0.999)
"""What intervals at 95 % and at 99.95 % must cover."""
ERROR = 0.05
"""The probability that all these checks together fail a suite in which every bound is just kept."""
NULL_RUNS = 0.07
"""What the 95 % limit of the share of null runs with a finding must stay below."""
WARNED = 0.9
"""A weak cell must print its warning in at least this share of replicates …"""
QUIET = 0.05
"""… and a plain one none in more than this share."""


@dataclass(frozen=True)
class Weak:
    """Cells known to be weak.

    Attributes
    ----------
    cells
        A pattern (as of file names) of names of designs.
    warning
        What the report prints there.
    """

    cells: str
    warning: str


KNOWN_WEAK: tuple[Weak, ...] = (
    Weak("CORR: log-normal *, effect 0.[37]", TAILS),
    Weak("CORR: t3 errors, *, effect 0.[37]", TAILS),
    Weak("CORR: binary group of threefold spread, n=200, share 0.01, effect 0.2", FEW),
    Weak("conditional CORR: log-normal 1 errors*, effect 0.3", TAILS),
    Weak("MEAN: log-normal 1.5 errors, 3 times the spread, n=50, *", SKEWED_MEANS),
    Weak("ETA: *log-normal 1 errors, *", SKEWED),
    Weak("ETA: * t3 errors, *, effect 0.[14]", SKEWED),
    Weak("ETA: *%, log-normal 1.5 errors, *, effect 0.02", SKEWED),
    Weak("ETA: *%, rare amounts errors, *, effect 0.02", SKEWED),
    Weak("ETA: 3 groups, the rare one of threefold spread, normal errors, *", UNEVEN),
    Weak("conditional ETA: 3 groups, log-normal 1 errors*", SKEWED),
    Weak("RANK: *, n=50, *, effect 0.8", STRONG),
    Weak("conditional RANK: *, effect 0.3", SMALL_STRATA),
)
"""What no method at hand repairs: skewed or heavy-tailed errors beside an effect, a handful of people with a larger
spread than the rest, and ranks in tiny strata, whose correlation is smaller than that of many people."""

PLAIN = (
    "*DIFF: *",
    "RATIO: *",
    "NMI: *",
    "MEAN: normal errors, *",
    "*CORR: normal errors*",
    "CORR: binary group, normal errors, *, share 0.5, *",
    "ETA: * groups, normal errors, n=[!5]*, share 0.5, *",
    "RANK: * errors, n=[!5]*",
    "RANK: binary group, *, share 0.5, *",
)
"""Cells in which a warning would be a false alarm."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The judgement of all cells.

    Attributes
    ----------
    broken
        What breaks the rule, in words.
    weak
        The cells that fail and are known to, with their entry.
    """

    broken: tuple[str, ...]
    weak: tuple[tuple[Cell, Weak], ...]


def limits(hits: int, trials: int, error: float) -> tuple[float, float]:
    """Return the Clopper–Pearson limits of a probability; each alone is wrong with probability ``error``.

    Examples
    --------
    >>> low, high = limits(9_350, 10_000, 0.05 / 1_000)
    >>> round(low, 4), round(high, 4)
    (0.9249, 0.9442)
    """
    low = float(betaincinv(hits, trials - hits + 1, error)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - error)) if hits < trials else 1.0
    return low, high


def failures(cell: Cell, cells: int) -> list[str]:
    """Return in words how a cell fails when it is one of ``cells``; nothing where it passes."""
    found = []
    for i, bound in enumerate(COVERAGE):
        error = ERROR / max(cells, 1)
        if cell.reps and limits(int(cell.covered[i]), cell.reps, error)[1] < bound:
            found.append(f"coverage {cell.coverage[i]:.4f}, must be {bound:g}")
        if cell.reps and cell.design.null and limits(int(cell.rejected[i]), cell.reps, error)[0] > 1 - bound:
            found.append(f"level {cell.level[i]:.4f}, may be {1 - bound:.3g}")
    return found


def weakness_of(cell: Cell, known: Sequence[Weak] = KNOWN_WEAK) -> Weak | None:
    """Return the entry of the list in which a cell stands."""
    return next((w for w in known if fnmatchcase(cell.design.name, w.cells)), None)


def judge(cells: Sequence[Cell], known: Sequence[Weak] = KNOWN_WEAK, *, complete: bool = True) -> Verdict:
    """Apply the rule to all cells.

    With ``complete``, the whole grid was run, and an entry of the list in which no cell is weak is out of date.
    """
    broken, weak = [], []
    for cell in cells:
        found, entry = failures(cell, len(cells)), weakness_of(cell, known)
        if found and entry is None:
            broken.append(f"{cell.design.name}: {'; '.join(found)}")
        elif found and entry is not None:
            weak.append((cell, entry))
            if cell.warned(entry.warning) < WARNED:
                share = f"{cell.warned(entry.warning):.0%}"
                broken.append(f"{cell.design.name}: weak, and the report says so in {share} of replicates only")
        if _cries_wolf(cell, len(cells)):
            broken.append(f"{cell.design.name}: plain, and the report warns in {cell.loudest:.0%} of replicates")
    if complete:
        broken += [f"{w.cells}: nothing is weak there any more" for w in known if not _weak_at_all(w, cells)]
    broken += [f"{w.cells}: the report has no text {w.warning!r}" for w in known if w.warning not in printed_texts()]
    return Verdict(tuple(broken), tuple(weak))


def _weak_at_all(entry: Weak, cells: Sequence[Cell]) -> bool:
    """Whether a cell of an entry fails when only the cells of that entry are looked at."""
    own = [cell for cell in cells if fnmatchcase(cell.design.name, entry.cells)]
    return any(failures(cell, len(own)) for cell in own)


def _cries_wolf(cell: Cell, cells: int) -> bool:
    """Whether a plain cell is warned of too often for bad luck to explain."""
    often = limits(round(cell.loudest * cell.reps), cell.reps, ERROR / cells)[0] > QUIET
    return often and any(fnmatchcase(cell.design.name, plain) for plain in PLAIN)


def null_runs_hold(found: int, runs: int) -> bool:
    """Whether the 95 % Clopper–Pearson limit (two-sided) of the share of null runs with a finding is below 7 %.

    Examples
    --------
    >>> null_runs_hold(25, 500), null_runs_hold(10, 500)
    (False, True)
    """
    return limits(found, runs, 0.025)[1] < NULL_RUNS


@cache
def printed_texts() -> frozenset[str]:
    """Return every text that the code of metrics holds, the warnings of their tests and intervals among them."""
    folder = Path(next(iter(fairtest.metrics.__path__)))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py"))
    constants = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))
