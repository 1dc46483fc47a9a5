"""The usual rates of a prediction in one group: selection, accuracy, both kinds of mistakes, precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.model.rates import rate_of

if TYPE_CHECKING:
    from fairtest.model.rates import Rate
    from fairtest.types import Level


@dataclass(frozen=True)
class GroupErrors:
    """How prediction and truth go together in one group of people.

    Attributes
    ----------
    cells
        True negatives, false positives, false negatives, true positives.

    Examples
    --------
    >>> errors = GroupErrors("women", (50, 10, 5, 35))
    >>> {name: round(rate.share, 3) for name, rate in errors.rates.items() if rate is not None}
    {'selection': 0.45, 'accuracy': 0.85, 'FPR': 0.167, 'FNR': 0.125, 'PPV': 0.778}
    """

    group: Level
    cells: tuple[int, int, int, int]

    @property
    def size(self) -> int:
        """The people of the group."""
        return sum(self.cells)

    @property
    def rates(self) -> dict[str, Rate | None]:
        """Each rate by its name, with its interval; None where nobody is in what it is a share of."""
        tn, fp, fn, tp = self.cells
        return {
            "selection": rate_of(fp + tp, self.size),
            "accuracy": rate_of(tn + tp, self.size),
            "FPR": rate_of(fp, tn + fp),
            "FNR": rate_of(fn, fn + tp),
            "PPV": rate_of(tp, fp + tp),
        }


MEANINGS = {
    "selection": "the share predicted positive",
    "accuracy": "the share predicted right",
    "FPR": "false positives among those who are truly negative",
    "FNR": "false negatives among those who are truly positive",
    "PPV": "those truly positive among the ones predicted so (precision)",
}
"""What each rate is."""
