"""The errors a prediction can make, as variables: of numbers, of probabilities, of labels, or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.data import measures
from fairtest.data.measures import Measure
from fairtest.data.streaming.blocks import find_range, number_blocks, range_of_blocks
from fairtest.data.variables import Part, Variable, measure_variable
from fairtest.exceptions import InputError, in_python, setting, unknown_name, unquoted
from fairtest.investigations.predictions import (
    CORRECT,
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    INCORRECT,
    JUDGEMENTS,
    Profile,
    same_label,
)
from fairtest.investigations.roles import MOST_LEVELS
from fairtest.model.names import OutcomeWords, column_words, level_words
from fairtest.types import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.table import Column, Table
    from fairtest.investigations.predictions import Among, Prediction
    from fairtest.types import Level

    StandIns: TypeAlias = tuple[Level, ...] | None
    MakeProfile: TypeAlias = Callable[[Prediction, str], Profile]

OwnError: TypeAlias = Callable[[Any, Any], Any]

OWN_MEANING = "computed from {predicted} and {truth} by a function of this project’s own"


def default_error(prediction: Prediction) -> str:
    """Return the error that fits the kinds of the two columns."""
    prediction.check_scale()
    if prediction.has_labels:
        return "class"
    return "brier" if prediction.are_probabilities else "absolute"


def profile_error(prediction: Prediction, error: str | OwnError | None) -> tuple[str, Profile]:
    """Return the name of an error and its profile; without a name, those of the error that fits the columns."""
    if callable(error):
        name = getattr(error, "__name__", "")
        name = name.replace("_", " ") if name.isidentifier() else "own error"
        return name, _own_error(prediction, name, error)
    chosen = plain_name(error) if error is not None else default_error(prediction)
    chosen = {"logloss": "log-loss", "mae": "absolute", "mse": "squared"}.get(chosen, chosen)
    if chosen not in ERRORS:
        raise unknown_name("error", error, ERRORS, hint=in_python("A function of (prediction, truth) is possible too."))
    return chosen, ERRORS[chosen](prediction, setting("error", chosen))


def _class(prediction: Prediction, wanted: str) -> Profile:
    name = f"error of {prediction.name}"
    if len(prediction.labels(wanted)) != 2:
        variable = check_varies(prediction.judge_right((CORRECT, INCORRECT)), name)
        return Profile(variable, name, prediction.name_columns("whether {predicted} is {truth}"), outcomes=JUDGEMENTS)
    negative, positive = prediction.negative_and_positive(wanted)

    def judgement(predicted: Level, truth: Level) -> str:
        if same_label(predicted, truth):
            return CORRECT
        return FALSE_POSITIVE if same_label(truth, negative) else FALSE_NEGATIVE

    variable = prediction.judge(name, judgement, (CORRECT, FALSE_POSITIVE, FALSE_NEGATIVE))
    meaning = explain_mistakes(prediction, positive)
    return Profile(check_varies(variable, name), name, meaning, positive=positive, outcomes=JUDGEMENTS)


def explain_mistakes(prediction: Prediction, positive: Level) -> str:
    """Return what a false positive and a false negative are."""
    predicted, truth = (column_words(c.name) for c in prediction.columns)
    wrong = f"{predicted} = {level_words(positive)}"
    if prediction.threshold is not None:
        wrong = f"{predicted} from {prediction.threshold:g} on, a prediction of {level_words(positive)},"
    return f"a false positive is {wrong} where {truth} is not, a false negative the reverse"


def _confusion(prediction: Prediction, wanted: str) -> Profile:
    name = f"{prediction.name} → {prediction.truth.name}"
    prediction.labels(wanted)  # raises where there are none
    variable = prediction.judge(name, _cell)
    if len(variable.levels) > MOST_LEVELS:
        raise InputError(
            f"{wanted} makes {len(variable.levels):,} pairs of prediction and truth; at most {MOST_LEVELS} can be "
            f"compared. Use {setting('error', 'class')}, or group the labels."
        )
    predicted, truth = (column_words(c.name) for c in prediction.columns)
    outcomes = {}
    for p in prediction.said[1]:
        for t in prediction.truth.levels:
            words = f"{predicted} = {level_words(p)} and {truth} = {level_words(t)}"
            outcomes[_cell(p, t)] = OutcomeWords(f"have {words}", f"the share with {words}")
    meaning = prediction.name_columns("the pair of {predicted} and {truth}")
    return Profile(check_varies(variable, name), name, meaning, outcomes=outcomes)


def _cell(predicted: Level, truth: Level) -> str:
    """Return the name of a cell of the confusion matrix."""
    return f"{predicted} → {truth}"


def check_varies(variable: Variable, subject: str, among: Among | None = None) -> Variable:
    """Return the variable; raise if it has only one level, so that there is nothing to compare."""
    if len(variable.levels) < 2:
        who = "everybody" if among is None else f"everybody with {among.column} = {among.value!r}"
        what = f"it is {variable.levels[0]!r} for {who}" if variable.levels else f"there is nobody it is about ({who})"
        raise InputError(f"The {subject} does not vary: {what}. There is nothing to profile.")
    return variable


def _number_error(
    title: str, function: OwnError, meaning: str, *, average: str | None = None, of_probabilities: bool = False
) -> MakeProfile:
    """Return a function that makes the profile of an error that is a number."""

    def profile(prediction: Prediction, wanted: str) -> Profile:
        stand_ins = (_probability_and_event if of_probabilities else _both_numbers)(prediction, wanted)
        made = number_profile(prediction, f"{title} of {prediction.name}", meaning, function, stand_ins)
        return replace(made, average=average)

    return profile


def _both_numbers(prediction: Prediction, wanted: str) -> tuple[StandIns, StandIns]:
    return _as_numbers(prediction.predicted, wanted), _as_numbers(prediction.truth, wanted)


def _probability_and_event(prediction: Prediction, wanted: str) -> tuple[StandIns, StandIns]:
    """Return the prediction as probabilities and the truth as 0 and 1."""
    predicted = _as_numbers(prediction.predicted, wanted)
    numbers = find_range(prediction.predicted) if predicted is None else predicted
    low, high = min(numbers), max(numbers)
    if low < 0 or high > 1:
        raise InputError(
            f"{wanted} needs probabilities, and {prediction.name!r} runs from {low:g} to {high:g}. They must "
            "be between 0 and 1."
        )
    return predicted, zero_or_one(prediction, wanted)


def _as_numbers(column: Column, wanted: str) -> tuple[float, ...] | None:
    """Return what stands for the levels of a column where numbers are needed; None for a numeric one."""
    if column.is_number:
        return None
    numbers = _level_numbers(column)
    if numbers is None:
        shown = ", ".join(repr(v) for v in column.levels[:5])
        raise InputError(
            f"{wanted} needs numbers, and {column.name!r} is {column.kind.value} ({column.reason}): {shown}. For "
            f"labels use {setting('error', 'class')} or {setting('error', 'confusion')}."
        )
    return numbers


def _level_numbers(column: Column) -> tuple[float, ...] | None:
    """Return the levels of a column as numbers, or None where one of them is no number."""
    numbers = [float(v) for v in column.levels if isinstance(v, bool | int | float)]
    return tuple(numbers) if len(numbers) == len(column.levels) else None


def zero_or_one(prediction: Prediction, wanted: str) -> StandIns:
    """Return the truth as 0 and 1, 1 for the positive value."""
    truth = prediction.truth
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
    positive = prediction.positive_label(truth.levels)
    return tuple(float(v == positive) for v in truth.levels)


def number_profile(
    prediction: Prediction, name: str, meaning: str, function: OwnError, stand_ins: tuple[StandIns, ...]
) -> Profile:
    """Return the profile of an error that is a number, computed from prediction and truth."""
    measure = Measure((prediction.name, prediction.truth.name), function, stand_ins)
    variable = measure_variable(name, measure, prediction.source.table)
    ends = range_of_blocks(variable.parts[0].blocks(prediction.source.table))
    if ends is None:
        raise InputError(
            f"Nobody has both {prediction.name!r} and {prediction.truth.name!r}: there is no error to profile."
        )
    if ends[0] == ends[1]:
        raise InputError(f"The {name} is {ends[0]:g} for everybody. There is nothing to profile.")
    return Profile(variable, name, prediction.name_columns(meaning))


def _own_error(prediction: Prediction, name: str, function: OwnError) -> Profile:
    """Return the profile of an error that a function of the user's own computes, after trying it out."""
    stand_ins = tuple(None if c.is_number else _level_numbers(c) or c.levels for c in prediction.columns)
    measure = Measure((prediction.name, prediction.truth.name), function, stand_ins)
    seen = [_judge_alone(measure, block) for _, block in prediction.source.table.blocks(measure.columns)]
    title = f"{name} of {prediction.name}"
    if any(found.dtype != bool for found in seen):
        return number_profile(prediction, title, OWN_MEANING, function, stand_ins)
    part = Part(title, (False, True), (0.5,), measure)
    levels = tuple(bool(v) for v in np.unique(np.concatenate(seen)))
    variable = Variable(title, Kind.BINARY, (part,), levels, lookup=(0, 1), scores=(0.0, 1.0))
    return Profile(check_varies(variable, title), title, prediction.name_columns(OWN_MEANING))


def _judge_alone(measure: Measure, table: Table) -> NDArray[Any]:
    """Return the different answers of the user's function, after checking that it judges each person alone."""
    known = measure.find_complete_rows(table)
    found = _try_function(measure.function, measure.arguments(table, known), int(known.sum()))
    half = known & (np.arange(table.n_rows) % 2 == 0)
    again = _try_function(measure.function, measure.arguments(table, half), int(half.sum()))
    if not np.array_equal(found[half[known]], again):
        raise InputError(
            "The error function must look at each person by themselves: asked about half of the people, it gives other "
            "numbers for them. Take out averages, ranks and random numbers."
        )
    return np.unique(found) if found.dtype == bool else found[:0]


def _try_function(function: OwnError, arguments: list[NDArray[Any]], people: int) -> NDArray[Any]:
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


ERRORS: dict[str, MakeProfile] = {
    "absolute": _number_error(
        "absolute error",
        measures.absolute,
        "how far {predicted} is from {truth}, in either direction",
        average="is off by",
    ),
    "squared": _number_error(
        "squared error", measures.squared, "the square of {predicted} minus {truth}, in which large errors weigh more"
    ),
    "signed": _number_error(
        "signed error", measures.signed, "{predicted} minus {truth}, above 0 where the prediction is too high"
    ),
    "log-loss": _number_error(
        "log-loss",
        measures.log_loss,
        "minus the logarithm of the probability that {predicted} gave to what happened",
        of_probabilities=True,
    ),
    "brier": _number_error(
        "Brier score",
        measures.squared,
        "the square of how far the probability {predicted} is from what happened (0 or 1)",
        of_probabilities=True,
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
