"""The errors a prediction can make, as variables: of numbers, of probabilities, of labels, or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.data import measures
from fairtest.data.measures import Measure
from fairtest.data.streaming.blocks import find_range, number_blocks
from fairtest.data.variables import Part, Variable, computed
from fairtest.exceptions import InputError, in_python, setting, unknown_name, unquoted
from fairtest.investigations.predicted_labels import (
    CORRECT,
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    INCORRECT,
    JUDGEMENTS,
    judged,
    pair,
    pair_words,
    positive_of,
    same,
)
from fairtest.investigations.profiles import Profile
from fairtest.investigations.roles import MOST_LEVELS
from fairtest.model.names import column_words, level_words
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.table import Column, Table
    from fairtest.investigations.predicted_labels import Labels
    from fairtest.investigations.profiles import Among, Pair
    from fairtest.types import Level

    StandIns: TypeAlias = tuple[Level, ...] | None

OwnError: TypeAlias = Callable[[Any, Any], Any]

OWN_MEANING = "computed from {predicted} and {truth} by a function of this project’s own"


def default_error(both: Pair) -> str:
    """Return the error that fits the kinds of the two columns."""
    if not both.prediction.is_number and not both.truth.is_number:
        return "class"
    return "brier" if both.are_probabilities else "absolute"


def by_error(both: Pair, error: str | OwnError | None) -> tuple[str, Profile]:
    """Return the name of an error and what it measures; by default, that of the kinds of the columns."""
    if callable(error):
        name = getattr(error, "__name__", "")
        name = name.replace("_", " ") if name.isidentifier() else "own error"
        return name, _own(both, name, error)
    chosen = plain_name(error) if error is not None else default_error(both)
    chosen = {"logloss": "log-loss", "mae": "absolute", "mse": "squared"}.get(chosen, chosen)
    if chosen not in ERRORS:
        raise unknown_name("error", error, ERRORS, hint=in_python("A function of (prediction, truth) is possible too."))
    return chosen, ERRORS[chosen](both)


def _class(both: Pair) -> Profile:
    labels = both.labels(setting("error", "class"))
    name = f"error of {both.prediction.name}"
    if len(labels.known) != 2:
        variable = varying(right_or_wrong(both, labels, (CORRECT, INCORRECT)), name)
        return Profile(variable, name, both.name_columns("whether {predicted} is {truth}"), outcomes=JUDGEMENTS)
    negative, positive = labels.negative_and_positive(both.source, setting("error", "class"))

    def judgement(predicted: Level, truth: Level) -> str:
        if same(predicted, truth):
            return CORRECT
        return FALSE_POSITIVE if same(truth, negative) else FALSE_NEGATIVE

    order = (CORRECT, FALSE_POSITIVE, FALSE_NEGATIVE)
    variable = varying(judged(name, labels, judgement, both.source, order), name)
    return Profile(variable, name, mistakes_of(both, positive), positive=positive, outcomes=JUDGEMENTS)


def mistakes_of(both: Pair, positive: Level) -> str:
    """Return what the two mistakes are."""
    predicted = f"{column_words(both.prediction.name)} = {level_words(positive)}"
    return f"a false positive is {predicted} where {column_words(both.truth.name)} is not, a false negative the reverse"


def right_or_wrong(both: Pair, labels: Labels, order: tuple[str, str]) -> Variable:
    """Return whether each prediction is the truth; effects are about the second of ``order``."""

    def judgement(predicted: Level, truth: Level) -> str:
        return CORRECT if same(predicted, truth) else INCORRECT

    return judged(f"error of {both.prediction.name}", labels, judgement, both.source, order)


def _confusion(both: Pair) -> Profile:
    name = f"{both.prediction.name} → {both.truth.name}"
    variable = judged(name, both.labels(setting("error", "confusion")), pair, both.source)
    if len(variable.levels) > MOST_LEVELS:
        raise InputError(
            f"{setting('error', 'confusion')} makes {len(variable.levels):,} pairs of prediction and truth; at most "
            f"{MOST_LEVELS} can be compared. Use {setting('error', 'class')}, or group the labels."
        )
    columns = (both.prediction, both.truth)
    outcomes = {pair(p, t): pair_words(columns, (p, t)) for p in columns[0].levels for t in columns[1].levels}
    meaning = both.name_columns("the pair of {predicted} and {truth}")
    return Profile(varying(variable, name), name, meaning, outcomes=outcomes)


def varying(variable: Variable, subject: str, among: Among | None = None) -> Variable:
    """Return the variable, or say that there is nothing to compare."""
    if len(variable.levels) < 2:
        who = "everybody" if among is None else f"everybody with {among.column} = {among.value!r}"
        what = f"it is {variable.levels[0]!r} for {who}" if variable.levels else f"there is nobody it is about ({who})"
        raise InputError(f"The {subject} does not vary: {what}. There is nothing to profile.")
    return variable


def _number_error(
    words: str, function: OwnError, meaning: str, average: str | None = None
) -> Callable[[Pair], Profile]:
    def profile(both: Pair) -> Profile:
        stand_ins = tuple(_as_numbers(c, setting("error", words)) for c in (both.prediction, both.truth))
        name = f"{words} error of {both.prediction.name}"
        return replace(number_profile(both, name, meaning, function, stand_ins), average=average)

    return profile


def _as_numbers(column: Column, wanted: str) -> StandIns:
    """Return what stands for the levels of a column where numbers are needed; None for a numeric one."""
    if column.is_number:
        return None
    if not all(isinstance(v, (bool, int, float)) for v in column.levels):
        shown = ", ".join(repr(v) for v in column.levels[:5])
        raise InputError(
            f"{wanted} needs numbers, and {column.name!r} is {column.kind.value} ({column.reason}): {shown}. For "
            f"labels use {setting('error', 'class')} or {setting('error', 'confusion')}."
        )
    return tuple(float(v) for v in column.levels)  # type: ignore[arg-type]


def _probability_error(words: str, name: str, function: OwnError, meaning: str) -> Callable[[Pair], Profile]:
    def profile(both: Pair) -> Profile:
        wanted = setting("error", words)
        predicted = _as_numbers(both.prediction, wanted)
        numbers = find_range(both.prediction) if predicted is None else np.asarray(predicted, dtype=float)
        low, high = np.min(numbers), np.max(numbers)
        if low < 0 or high > 1:
            raise InputError(
                f"{wanted} needs probabilities, and {both.prediction.name!r} runs from {low:g} to {high:g}. They must "
                "be between 0 and 1."
            )
        stand_ins = (predicted, zero_or_one(both, wanted))
        return number_profile(both, f"{name} of {both.prediction.name}", meaning, function, stand_ins)

    return profile


def zero_or_one(both: Pair, wanted: str) -> StandIns:
    """Return the truth as 0 and 1, 1 for the positive value."""
    truth = both.truth
    if truth.is_number:
        if not all(np.isin(block[~np.isnan(block)], (0, 1)).all() for _, block in number_blocks(truth)):
            raise InputError(
                f"{wanted} needs a {unquoted('ground_truth')} of two values, and {truth.name!r} is numeric."
            )
        return None
    if len(truth.levels) == 1 and truth.levels[0] in (0, 1):
        return (float(truth.levels[0] == 1),)
    if len(truth.levels) != 2:
        shown = ", ".join(repr(v) for v in truth.levels[:5])
        raise InputError(f"{wanted} needs a {unquoted('ground_truth')} of two values. {truth.name!r} has {shown}.")
    positive = positive_of(both.source, both.prediction, truth, truth.levels)
    return tuple(float(v == positive) for v in truth.levels)


def number_profile(both: Pair, name: str, meaning: str, function: OwnError, stand_ins: tuple[StandIns, ...]) -> Profile:
    """Return an error that is a number, computed from prediction and truth."""
    measure = Measure((both.prediction.name, both.truth.name), function, stand_ins)
    variable = computed(name, measure, both.source.table)
    blocks = (numbers[~np.isnan(numbers)] for _, numbers in variable.parts[0].blocks(both.source.table))
    ends = {float(end) for numbers in blocks if numbers.size for end in (numbers.min(), numbers.max())}
    if not ends:
        raise InputError(
            f"Nobody has both {both.prediction.name!r} and {both.truth.name!r}: there is no error to profile."
        )
    if len(ends) == 1:
        raise InputError(f"The {name} is {ends.pop():g} for everybody. There is nothing to profile.")
    return Profile(variable, name, both.name_columns(meaning))


def _own(both: Pair, name: str, function: OwnError) -> Profile:
    """Return an error of the user's own, after trying it out."""
    columns = (both.prediction, both.truth)
    stand_ins = tuple(_as_numbers(c, "error") if _is_number(c) else c.levels for c in columns)
    measure = Measure((both.prediction.name, both.truth.name), function, stand_ins)
    seen = [_judged(measure, block) for _, block in both.source.table.blocks(measure.columns)]
    title = f"{name} of {both.prediction.name}"
    if any(found.dtype != bool for found in seen):
        return number_profile(both, title, OWN_MEANING, function, stand_ins)
    part = Part(title, (False, True), (0.5,), measure)
    levels = tuple(bool(v) for v in np.unique(np.concatenate(seen)))
    variable = Variable(title, Kind.BINARY, (part,), levels, tuple((v,) for v in levels), (0, 1), (0.0, 1.0))
    return Profile(varying(variable, title), title, both.name_columns(OWN_MEANING))


def _judged(measure: Measure, table: Table) -> Any:
    """Return the different answers of the user's function, after checking that it judges each person alone."""
    known = measure.known(table)
    found = _tried(measure.function, measure.arguments(table, known), int(known.sum()))
    half = known & (np.arange(table.n_rows) % 2 == 0)
    again = _tried(measure.function, measure.arguments(table, half), int(half.sum()))
    if not np.array_equal(found[half[known]], again):
        raise InputError(
            "The error function must look at each person by themselves: asked about half of the people, it gives other "
            "numbers for them. Take out averages, ranks and random numbers."
        )
    return np.unique(found) if found.dtype == bool else found[:0]


def _is_number(column: Column) -> bool:
    return column.is_number or all(isinstance(v, (bool, int, float)) for v in column.levels)


def _tried(function: OwnError, arguments: list[Any], people: int) -> Any:
    """Return what the user's function makes of some people: numbers, or True and False."""
    try:
        found = np.asarray(function(*arguments))
    except Exception as error:
        raise InputError(
            f"The error function failed: {type(error).__name__}: {error}. It gets two arrays, predictions and truths, "
            "without missing values, and returns a number, or True or False, for each person."
        ) from error
    if found.shape != (people,) or (found.dtype != bool and found.dtype.kind not in "iuf"):
        raise InputError(
            f"The error function must return a number, or True or False, for each of {people:,} people. Got an array "
            f"of {found.dtype} of shape {found.shape} instead."
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        bad = int((~np.isfinite(found)).sum())
        raise InputError(f"The error function must return finite numbers. {bad:,} of {people:,} are not.")
    return found


ERRORS: dict[str, Callable[[Pair], Profile]] = {
    "absolute": _number_error(
        "absolute",
        measures.absolute,
        "how far {predicted} is from {truth}, in either direction",
        average="is off by",
    ),
    "squared": _number_error(
        "squared",
        measures.squared,
        "the square of {predicted} minus {truth}, in which large errors weigh more",
    ),
    "signed": _number_error(
        "signed",
        measures.signed,
        "{predicted} minus {truth}, above 0 where the prediction is too high",
    ),
    "log-loss": _probability_error(
        "log-loss",
        "log-loss",
        measures.log_loss,
        "minus the logarithm of the probability that {predicted} gave to what happened",
    ),
    "brier": _probability_error(
        "brier",
        "Brier score",
        measures.brier,
        "the square of how far the probability {predicted} is from what happened (0 or 1)",
    ),
    "class": _class,
    "confusion": _confusion,
}


def plain_name(name: object) -> str:
    """Return a name as the tables here spell it.

    Examples
    --------
    >>> plain_name("Log_loss"), plain_name("equalized odds")
    ('log-loss', 'equalized-odds')
    """
    return str(name).strip().casefold().replace("_", "-").replace(" ", "-")
