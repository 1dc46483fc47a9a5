"""What an error profile measures, and of which two columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairtest.data.streaming.blocks import find_range
from fairtest.exceptions import unquoted
from fairtest.investigations.predicted_labels import Labels
from fairtest.investigations.roles import usable
from fairtest.model.names import column_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.data.variables import Variable
    from fairtest.model.names import OutcomeWords
    from fairtest.types import Level


@dataclass(frozen=True)
class Among:
    """The people a profile is about: those with one value of a column, rather than another."""

    column: str
    value: Level
    other: Level


@dataclass(frozen=True)
class Profile:
    """What is measured.

    Attributes
    ----------
    subject
        What it is, in words: ``false-positive rate of predicted``.
    given
        The columns that are conditioned on.
    among
        Whom it is about; None for everybody.
    everyone
        The variable before it was restricted to them.
    positive
        The label that a false positive wrongly gives, where there are two.
    meaning
        What it is for a reader who does not know the word, naming the columns.
    outcomes, average
        How a sentence tells of its levels, and of the mean of a number; nothing where it needs no words of its own.
    """

    variable: Variable
    subject: str
    meaning: str
    given: tuple[str, ...] = ()
    among: Among | None = None
    everyone: Variable | None = None
    positive: Level | None = None
    outcomes: Mapping[str, OutcomeWords] = field(default_factory=dict)
    average: str | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """A prediction and the truth, as columns of a source."""

    source: DataSource
    prediction: Column
    truth: Column

    @classmethod
    def of(cls, source: DataSource, prediction: str, truth: str) -> Pair:
        """Return the two columns after checking that they can be used."""
        return cls(source, usable(source, prediction, "output"), usable(source, truth, unquoted("ground_truth")))

    def name_columns(self, words: str) -> str:
        """Return words with the two columns in place of ``{predicted}`` and ``{truth}``."""
        return words.format(predicted=column_words(self.prediction.name), truth=column_words(self.truth.name))

    def labels(self, wanted: str) -> Labels:
        """Return them as labels."""
        return Labels.of(self.prediction, self.truth, wanted)

    @property
    def are_probabilities(self) -> bool:
        """Whether the prediction is a number between 0 and 1, and the truth one of two values."""
        if not self.prediction.is_number or self.truth.is_number or len(self.truth.levels) > 2:
            return False
        low, high = find_range(self.prediction)
        return low >= 0 and high <= 1
