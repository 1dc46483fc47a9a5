"""Predictions beside the truth: the two columns, the labels they share, and what an error profile measures of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.streaming.blocks import count_levels, find_range
from fairtest.data.variables import Part, Variable
from fairtest.exceptions import InputError, argument, setting, unquoted
from fairtest.investigations.roles import check_few_levels, choose_event, usable_column
from fairtest.model.names import OutcomeWords, column_words
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.types import Level

CORRECT, INCORRECT = "Correct", "Incorrect"
FALSE_POSITIVE, FALSE_NEGATIVE = "False positive", "False negative"

JUDGEMENTS = {
    CORRECT: OutcomeWords("get a correct prediction", "the share of correct predictions"),
    INCORRECT: OutcomeWords("get a wrong prediction", "the share of wrong predictions"),
    FALSE_POSITIVE: OutcomeWords("get a false positive", "the share of false positives"),
    FALSE_NEGATIVE: OutcomeWords("get a false negative", "the share of false negatives"),
}


@dataclass(frozen=True)
class Among:
    """The people a profile is about: those with one value of a column, rather than another."""

    column: str
    value: Level
    other: Level


CELLS = ("true negative", "false positive", "false negative", "true positive")
"""What prediction and truth can be together: the truth negative first, in each the prediction negative first."""


@dataclass(frozen=True)
class Profile:
    """What is measured of a prediction.

    Attributes
    ----------
    subject
        What it is, in words: ``false-positive rate of predicted``.
    meaning
        What it is for a reader who does not know the word, naming the columns.
    given
        The columns that are conditioned on.
    among
        Whom it is about; None for everybody.
    everyone
        The variable before it was restricted to them.
    positive
        The label that a false positive wrongly gives, where there are two.
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
class Prediction:
    """A column of predictions and the column with the truth.

    ``threshold`` is the score from which on the prediction is the positive label of the truth; None where the
    prediction is taken as it is.
    """

    source: DataSource
    predicted: Column
    truth: Column
    threshold: float | None = None

    @classmethod
    def of(cls, source: DataSource, predicted: str, truth: str, threshold: float | None = None) -> Prediction:
        """Return the two columns after checking that they can be used."""
        role = unquoted("ground_truth")
        made = cls(source, usable_column(source, predicted, "output"), usable_column(source, truth, role), threshold)
        if threshold is not None:
            made.check_threshold()
        return made

    def check_threshold(self) -> None:
        """Raise if there are no scores to cut, or no two labels to make of them."""
        wanted = setting("threshold", self.threshold)
        if not self.predicted.is_number and self.scores is None:
            shown = ", ".join(repr(v) for v in self.predicted.levels[:5])
            raise InputError(f"{wanted} cuts a score, and {self.name!r} has {shown}, which are no numbers.")
        if self.truth.is_number or len(self.truth.levels) != 2:
            raise InputError(
                f"{wanted} needs a {unquoted('ground_truth')} of two values; {self.truth.name!r} has more."
            )

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The levels of the prediction as numbers; None where one of them is no number, or there are no levels."""
        numbers = [float(v) for v in self.predicted.levels if isinstance(v, bool | int | float)]
        return tuple(numbers) if numbers and len(numbers) == len(self.predicted.levels) else None

    @property
    def said(self) -> tuple[Part, tuple[Level, ...]]:
        """The prediction as codes, and the label that each code stands for."""
        if self.threshold is None:
            return Part(self.name, self.predicted.levels), self.predicted.levels
        negative, positive = self.negative_and_positive(setting("threshold", self.threshold))
        if self.predicted.is_number:
            below = (float(np.nextafter(self.threshold, -np.inf)),)
            return Part(self.name, (negative, positive), below), (negative, positive)
        labels = tuple(positive if score >= self.threshold else negative for score in self.scores or ())
        return Part(self.name, self.predicted.levels), labels

    def check_scale(self) -> None:
        """Raise if a score on a scale of its own would be compared with a truth of two values."""
        if self.threshold is not None or self.truth.is_number or len(self.truth.levels) != 2 or self.are_probabilities:
            return
        if self.predicted.is_number:
            low, high = find_range(self.predicted)
        elif self.scores is not None and len(self.scores) > 2:
            low, high = min(self.scores), max(self.scores)
        else:
            return
        two = " and ".join(repr(v) for v in self.truth.levels)
        middle = f"{(low + high) / 2:.3g}"
        raise InputError(
            f"{self.name!r} is a score from {low:g} to {high:g}, and {self.truth.name!r} has the two values {two}: a "
            f"difference between them means nothing. Say from where on the score counts as a prediction, as in "
            f"{setting('threshold', float(middle))}; or give a calibrated probability between 0 and 1 instead."
        )

    @property
    def name(self) -> str:
        """The name of the predicted column."""
        return self.predicted.name

    @property
    def columns(self) -> tuple[Column, Column]:
        """Both columns, the prediction first."""
        return self.predicted, self.truth

    @property
    def has_labels(self) -> bool:
        """Whether both columns hold labels rather than numbers."""
        if self.threshold is not None:
            return True
        return not self.predicted.is_number and not self.truth.is_number

    @property
    def are_probabilities(self) -> bool:
        """Whether the prediction is a number between 0 and 1, and the truth one of two values."""
        if not self.predicted.is_number or self.truth.is_number or len(self.truth.levels) > 2:
            return False
        if self.threshold is not None:
            return False
        low, high = find_range(self.predicted)
        return low >= 0 and high <= 1

    def name_columns(self, words: str) -> str:
        """Return words with the two columns in place of ``{predicted}`` and ``{truth}``."""
        return words.format(predicted=column_words(self.name), truth=column_words(self.truth.name))

    def labels(self, wanted: str) -> tuple[Level, ...]:
        """Return every label of either column, those of the truth first.

        Raises
        ------
        InputError
            If they are no labels, or not the same ones; ``wanted`` is what labels are needed for.
        """
        if self.threshold is not None:
            return self.truth.levels
        for column, role in zip(self.columns, ("output", unquoted("ground_truth")), strict=True):
            if column.is_number:
                raise InputError(
                    f"{wanted} needs labels, and the {role} {column.name!r} is numeric ({column.reason}). Declare "
                    f"{setting('categorical', [column.name])} if its numbers are labels, or choose an error of "
                    f"numbers: {setting('error', 'absolute')}."
                )
            check_few_levels(column, role)
        predicted, truth = ({_spell(v): v for v in column.levels} for column in self.columns)
        if not predicted.keys() & truth.keys():
            shown = [", ".join(repr(v) for v in c.levels[:5]) for c in self.columns]
            raise InputError(
                f"The output {self.name!r} ({shown[0]}) and the {unquoted('ground_truth')} {self.truth.name!r} "
                f"({shown[1]}) have no label in common. Both must use the same labels."
            )
        # where the columns spell a label differently, the truth's spelling stands
        return tuple((truth | {key: label for key, label in predicted.items() if key not in truth}).values())

    def negative_and_positive(self, wanted: str) -> tuple[Level, Level]:
        """Return the two labels, the positive one last."""
        labels = self.labels(wanted)
        if len(labels) != 2:
            shown = ", ".join(repr(v) for v in labels[:10])
            raise InputError(f"{wanted} needs two labels. There are {len(labels)}: {shown}.")
        positive = self.positive_label(labels)
        return next(v for v in labels if not same_label(v, positive)), positive

    def positive_label(self, labels: Sequence[Level]) -> Level:
        """Return the positive one of two labels: declared, else True, 1 or the higher level, else the rarer truth."""
        truth, favourable = self.truth, self.source.favourable
        declared = [favourable[c.name] for c in (truth, self.predicted) if c.name in favourable]
        if len(declared) == 2 and not same_label(*declared):
            raise InputError(
                f"{argument('favourable', 'favourable=')} names {declared[0]!r} for {truth.name!r} and {declared[1]!r} "
                f"for {self.name!r}. Prediction and truth have one positive label: name one."
            )
        if declared:
            return next(v for v in labels if same_label(v, declared[0]))
        # the place of each label among the truth's levels; one that is only ever predicted has none, and comes first
        place = {_spell(level): i for i, level in enumerate(truth.levels)}
        places = [place.get(_spell(label), -1) for label in labels]
        if truth.kind is Kind.ORDERED:
            return labels[int(np.argmax(places))]
        people = np.append(count_levels(truth), 0)  # the 0 is for the place −1
        return choose_event(labels, people[places].tolist())

    def judge(
        self, name: str, judgement: Callable[[Level, Level], Level | None], order: Sequence[Level] | None = None
    ) -> Variable:
        """Return what a judgement makes of each pair of prediction and truth; None puts people outside the question.

        Only the judgements that occur are levels; of two, the later one in ``order`` is the one effects are about.
        """
        part, said = self.said
        verdicts = [judgement(p, t) for p in said for t in self.truth.levels]
        parts = (part, Part(self.truth.name, self.truth.levels))
        every = tuple(range(len(verdicts)))
        people = Variable(name, Kind.CATEGORICAL, parts, every, lookup=every).counts(self.source.table)
        seen = {verdicts[i] for i in np.flatnonzero(people).tolist()}
        levels = tuple(v for v in (order or dict.fromkeys(verdicts)) if v in seen and v is not None)
        lookup = tuple(levels.index(v) if v in levels else -1 for v in verdicts)
        if len(levels) == 2:
            return Variable(name, Kind.BINARY, parts, levels, lookup=lookup, scores=(0.0, 1.0))
        return Variable(name, Kind.CATEGORICAL, parts, levels, lookup=lookup)

    def confusion(self) -> Variable | None:
        """Return the four cells of prediction and truth; None where there are not two labels."""
        spelled = [{_spell(label) for label in column.levels} for column in self.columns]
        if not self.has_labels or (self.threshold is None and len(spelled[0] | spelled[1]) != 2):
            return None
        _, positive = self.negative_and_positive("a table of rates")

        def cell(predicted: Level, truth: Level) -> str:
            return CELLS[2 * same_label(truth, positive) + same_label(predicted, positive)]

        made = self.judge("cell", cell, CELLS)
        # all four are levels, whether or not they occur
        lookup = tuple(CELLS.index(cell(p, t)) for p in self.said[1] for t in self.truth.levels)
        return replace(made, kind=Kind.CATEGORICAL, levels=CELLS, lookup=lookup, scores=())

    def judge_right(self, order: tuple[str, str]) -> Variable:
        """Return whether each prediction is the truth; effects are about the second of ``order``."""
        return self.judge(f"error of {self.name}", lambda p, t: CORRECT if same_label(p, t) else INCORRECT, order)


def same_label(predicted: Level, truth: Level) -> bool:
    """Whether two labels are the same one, however each column writes it.

    Examples
    --------
    >>> same_label(1, True), same_label("1", 1), same_label(1.0, 1), same_label("yes", "no")
    (True, True, True, False)
    """
    return _spell(predicted) == _spell(truth)


def _spell(label: Level) -> str:
    if isinstance(label, bool | float) and float(label).is_integer():
        return str(int(label))
    return str(label)
