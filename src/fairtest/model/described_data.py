"""The data behind a report: how many people, what the rows are, and what each column was to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnNote:
    """How one column was understood and used.

    ``role`` is ``"protected"``, ``"output"``, ``"truth"``, ``"explanatory"``, ``"contextual"`` or ``"left out"``;
    ``reason`` says why it has its kind, ``note`` anything a reader should know (an identifier, pooled levels, bins).
    """

    name: str
    kind: str
    role: str
    reason: str
    missing: int
    note: str = ""


@dataclass(frozen=True)
class DesignInfo:
    """What the rows are, where they are not one person each who counts as any other.

    Attributes
    ----------
    person, weights
        The columns that say whose a row is and what it weighs; None where none does.
    people
        How many people there are.
    effective
        With how many people who have one row each, all of the same weight, a rate over everybody would be as precise if
        all rows of a person were alike.
    weight
        What all rows weigh together.
    """

    person: str | None
    weights: str | None
    people: int
    effective: float
    weight: float


@dataclass(frozen=True)
class DataInfo:
    """The data behind a report; ``train`` and ``test`` count people."""

    name: str
    rows: int
    train: int
    test: int
    fingerprint: str
    library: str
    columns: tuple[ColumnNote, ...] = ()
    design: DesignInfo | None = None

    @property
    def people(self) -> int:
        """How many people there are: as many as rows, unless people have several."""
        return self.rows if self.design is None else self.design.people
