"""Predictions and truths that are labels: one encoding for both, and the ways a prediction can be right or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.streaming.blocks import count_levels
from fairtest.data.variables import Part, Variable
from fairtest.exceptions import InputError, argument, setting, unquoted
from fairtest.investigations.roles import few_levels, value_effects_are_about
from fairtest.model.names import OutcomeWords, column_words, level_words
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.types import Level

    Judgement = Callable[[Level, Level], Level | None]

CORRECT, INCORRECT = "Correct", "Incorrect"
FALSE_POSITIVE, FALSE_NEGATIVE = "False positive", "False negative"

JUDGEMENTS = {
    CORRECT: OutcomeWords("get a correct prediction", "the share of correct predictions"),
    INCORRECT: OutcomeWords("get a wrong prediction", "the share of wrong predictions"),
    FALSE_POSITIVE: OutcomeWords("get a false positive", "the share of false positives"),
    FALSE_NEGATIVE: OutcomeWords("get a false negative", "the share of false negatives"),
}


def same(predicted: Level, truth: Level) -> bool:
    """Whether two labels are the same one, however each column writes it.

    Examples
    --------
    >>> same(1, True), same("1", 1), same(1.0, 1), same("yes", "no")
    (True, True, True, False)
    """
    return _key(predicted) == _key(truth)


def _key(label: Level) -> str:
    whole = isinstance(label, (bool, float)) and float(label).is_integer()
    return str(int(label)) if whole else str(label)  # type: ignore[arg-type]


def pair(predicted: Level, truth: Level) -> str:
    """Return the name of a cell of the confusion matrix."""
    return f"{predicted} → {truth}"


def pair_words(columns: Sequence[Column], labels: Sequence[Level]) -> OutcomeWords:
    """Return what a sentence says of the people in a cell of the confusion matrix."""
    both = " and ".join(f"{column_words(c.name)} = {level_words(v)}" for c, v in zip(columns, labels, strict=True))
    return OutcomeWords(f"have {both}", f"the share with {both}")


@dataclass(frozen=True, eq=False)
class Labels:
    """A prediction and a truth that share their labels.

    Attributes
    ----------
    known
        Every label of either, those of the truth first.
    """

    prediction: Column
    truth: Column
    known: tuple[Level, ...]

    @classmethod
    def of(cls, prediction: Column, truth: Column, wanted: str) -> Labels:
        """Return the two columns as labels, or say why they are none; ``wanted`` is what labels are needed for."""
        for column, role in ((prediction, "output"), (truth, unquoted("ground_truth"))):
            if column.is_number:
                raise InputError(
                    f"{wanted} needs labels, and the {role} {column.name!r} is numeric ({column.reason}). Declare "
                    f"{setting('categorical', [column.name])} if its numbers are labels, or choose an error of "
                    f"numbers: {setting('error', 'absolute')}."
                )
            few_levels(column, role)
        known = {_key(v): v for v in reversed((*truth.levels, *prediction.levels))}
        if not {_key(v) for v in prediction.levels} & {_key(v) for v in truth.levels}:
            shown = [", ".join(repr(v) for v in c.levels[:5]) for c in (prediction, truth)]
            raise InputError(
                f"The output {prediction.name!r} ({shown[0]}) and the {unquoted('ground_truth')} {truth.name!r} "
                f"({shown[1]}) have no label in common. Both must use the same labels."
            )
        return cls(prediction, truth, tuple(reversed(known.values())))

    def negative_and_positive(self, source: DataSource, wanted: str) -> tuple[Level, Level]:
        """Return the two labels, the one that predictions are about last."""
        if len(self.known) != 2:
            shown = ", ".join(repr(v) for v in self.known[:10])
            raise InputError(f"{wanted} needs two labels. There are {len(self.known)}: {shown}.")
        positive = positive_of(source, self.prediction, self.truth, self.known)
        return next(v for v in self.known if not same(v, positive)), positive


def positive_of(source: DataSource, prediction: Column, truth: Column, labels: Sequence[Level]) -> Level:
    """Return the positive one of two labels: declared, else True, 1 or the higher level, else the rarer truth."""
    declared = [source.favourable[c.name] for c in (truth, prediction) if c.name in source.favourable]
    if len(declared) == 2 and not same(*declared):
        raise InputError(
            f"{argument('favourable', 'favourable=')} names {declared[0]!r} for {truth.name!r} and {declared[1]!r} for "
            f"{prediction.name!r}. Prediction and truth have one positive label: name one."
        )
    if declared:
        return next(v for v in labels if same(v, declared[0]))
    if truth.kind is Kind.ORDERED:
        return max(labels, key=lambda label: _place(label, truth))
    people = [sum(int(n) for t, n in zip(truth.levels, count_levels(truth), strict=True) if same(v, t)) for v in labels]
    return value_effects_are_about(labels, people)


def _place(label: Level, column: Column) -> int:
    """Return where a label stands among the levels of a column, −1 if it is none of them."""
    return next((i for i, level in enumerate(column.levels) if same(label, level)), -1)


def judged(
    name: str, labels: Labels, judgement: Judgement, source: DataSource, order: Sequence[Level] | None = None
) -> Variable:
    """Return what a judgement makes of each prediction and truth; None puts people outside the question.

    Only the judgements that occur are levels; of two, the later one in ``order`` is the one effects are about.
    """
    pairs = [(p, t) for p in labels.prediction.levels for t in labels.truth.levels]
    verdicts = [judgement(p, t) for p, t in pairs]
    parts = tuple(Part(c.name, c.levels) for c in (labels.prediction, labels.truth))
    every = tuple(range(len(pairs)))
    people = Variable(name, Kind.CATEGORICAL, parts, every, lookup=every).counts(source.table)
    seen = {verdicts[i] for i in np.flatnonzero(people).tolist()}
    levels = tuple(v for v in (order or dict.fromkeys(verdicts)) if v in seen and v is not None)
    return Variable(
        name=name,
        kind=Kind.BINARY if len(levels) == 2 else Kind.CATEGORICAL,
        parts=parts,
        levels=levels,
        combinations=tuple((v,) for v in levels),
        lookup=tuple(levels.index(v) if v in levels else -1 for v in verdicts),
        scores=(0.0, 1.0) if len(levels) == 2 else (),
    )
