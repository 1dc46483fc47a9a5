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
    people, weighed
        Where rows are not one person each, which are then counted in the cells: how many people they are of, and each
        rate with its interval. None and empty elsewhere.

    Examples
    --------
    >>> errors = GroupErrors("women", (50, 10, 5, 35))
    >>> {name: round(rate.share, 3) for name, rate in errors.rates.items() if rate is not None}
    {'selection': 0.45, 'accuracy': 0.85, 'FPR': 0.167, 'FNR': 0.125, 'PPV': 0.778}
    """

    group: Level
    cells: tuple[int, int, int, int]
    people: int | None = None
    weighed: tuple[Rate | None, ...] = ()

    @property
    def size(self) -> int:
        """The people of the group."""
        return sum(self.cells) if self.people is None else self.people

    @property
    def rates(self) -> dict[str, Rate | None]:
        """Each rate by its name, with its interval; None where nobody is in what it is a share of."""
        if self.weighed:
            return dict(zip(PARTS, self.weighed, strict=True))
        return {
            name: rate_of(sum(self.cells[i] for i in part), sum(self.cells[i] for i in whole))
            for name, (part, whole) in PARTS.items()
        }


_TN, _FP, _FN, _TP = range(4)
PARTS = {
    "selection": ((_FP, _TP), (_TN, _FP, _FN, _TP)),
    "accuracy": ((_TN, _TP), (_TN, _FP, _FN, _TP)),
    "FPR": ((_FP,), (_TN, _FP)),
    "FNR": ((_FN,), (_FN, _TP)),
    "PPV": ((_TP,), (_FP, _TP)),
}
"""Each rate: which cells it counts, and of which it is a share."""
MEANINGS = {
    "selection": "the share predicted positive",
    "accuracy": "the share predicted right",
    "FPR": "false positives among those who are truly negative",
    "FNR": "false negatives among those who are truly positive",
    "PPV": "those truly positive among the ones predicted so (precision)",
}
"""What each rate is."""
