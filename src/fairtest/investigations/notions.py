"""The standard notions of fairness for predictions, each expressed as an output and what it is conditioned on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.data import measures
from fairtest.exceptions import InputError, setting, unknown_name, unquoted
from fairtest.investigations.errors import check_varies, explain_mistakes, number_profile, plain_name, zero_or_one
from fairtest.investigations.predictions import (
    CORRECT,
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    INCORRECT,
    JUDGEMENTS,
    Among,
    Profile,
    same_label,
)
from fairtest.investigations.roles import output_variable
from fairtest.model.names import level_words

if TYPE_CHECKING:
    from fairtest.data.table import Column
    from fairtest.data.variables import Variable
    from fairtest.investigations.errors import MakeProfile
    from fairtest.investigations.predictions import Prediction
    from fairtest.types import Level


def find_notion(notion: str) -> str:
    """Return the name of a notion from a spelling of it.

    Examples
    --------
    >>> find_notion("FPR"), find_notion("equal_opportunity"), find_notion("Equalized odds")
    ('false-positive-rate', 'false-negative-rate', 'equalized-odds')
    """
    plain = plain_name(notion).removeprefix("equal-")
    chosen = _SPELLINGS.get(plain, plain)
    if chosen not in NOTIONS:
        raise unknown_name("notion", notion, (*NOTIONS, "fpr", "fnr"))
    return chosen


def profile_notion(prediction: Prediction, notion: str) -> Profile:
    """Return the profile of a notion of fairness."""
    return NOTIONS[notion](prediction, setting("notion", notion))


def _rate_of(mistake: str) -> MakeProfile:
    """Return a function that makes the profile of one kind of mistake, among the people who can suffer it."""
    rate = f"{mistake.lower().replace(' ', '-')} rate"

    def profile(prediction: Prediction, wanted: str) -> Profile:
        negative, positive = prediction.negative_and_positive(wanted)
        value, other = (negative, positive) if mistake == FALSE_POSITIVE else (positive, negative)

        def judgement(predicted: Level, truth: Level) -> str | None:
            if not same_label(truth, value):
                return None
            return CORRECT if same_label(predicted, truth) else mistake

        among = Among(prediction.truth.name, value, other)
        subject = f"{rate} of {prediction.name}"
        variable = prediction.judge(f"error of {prediction.name}", judgement, (CORRECT, mistake))
        share = prediction.name_columns("the share of mistakes among people with {truth}")
        return Profile(
            check_varies(variable, subject, among),
            subject,
            f"{share} = {level_words(value)}; {explain_mistakes(prediction, positive)}",
            among=among,
            everyone=prediction.judge_right((CORRECT, INCORRECT)),
            positive=positive,
            outcomes=JUDGEMENTS,
        )

    return profile


def _accuracy(prediction: Prediction, wanted: str) -> Profile:
    prediction.labels(wanted)  # raises where there are none
    subject = f"accuracy of {prediction.name}"
    variable = check_varies(prediction.judge_right((INCORRECT, CORRECT)), subject)
    meaning = prediction.name_columns("the share of people for whom {predicted} is {truth}")
    return Profile(variable, subject, meaning, outcomes=JUDGEMENTS)


def _selection_rate(prediction: Prediction, wanted: str) -> Profile:
    prediction.labels(wanted)  # raises where there are none
    meaning = prediction.name_columns("{predicted} itself, whatever the {truth}")
    return Profile(
        _as_output(prediction, prediction.predicted, wanted), f"selection rate of {prediction.name}", meaning
    )


def _as_output(prediction: Prediction, column: Column, wanted: str) -> Variable:
    """Return the prediction or the truth as the output; of two labels, effects are about the positive one."""
    if prediction.threshold is not None and column is prediction.predicted:
        return prediction.judge(f"{column.name} as predicted", lambda p, _: p, prediction.negative_and_positive(wanted))
    two_labels = prediction.has_labels and len(prediction.labels(wanted)) == 2
    variable = output_variable(prediction.source, column.name)
    if not two_labels or len(variable.levels) != 2:
        return variable
    _, positive = prediction.negative_and_positive(wanted)
    if same_label(variable.levels[1], positive):
        return variable
    return replace(variable, levels=variable.levels[::-1], lookup=tuple(1 - i for i in variable.lookup))


def _equalized_odds(prediction: Prediction, wanted: str) -> Profile:
    variable = _as_output(prediction, prediction.predicted, wanted)
    meaning = prediction.name_columns("{predicted}, compared among people with the same {truth}")
    return Profile(variable, variable.name, meaning, given=(prediction.truth.name,))


def _truth_given_prediction(prediction: Prediction, wanted: str, about: str = "") -> Profile:
    if prediction.threshold is not None:
        raise InputError(
            f"{wanted} compares people with the same prediction, which a {unquoted('threshold')} makes from "
            f"{prediction.name!r}: put that into a column of its own, or take the {unquoted('threshold')} out."
        )
    variable = _as_output(prediction, prediction.truth, wanted)
    meaning = prediction.name_columns(f"{{truth}}, compared among people with {about}the same {{predicted}}")
    return Profile(variable, variable.name, meaning, given=(prediction.name,))


def _predictive_parity(prediction: Prediction, wanted: str) -> Profile:
    if prediction.predicted.is_number and prediction.threshold is None:
        raise InputError(
            f"{wanted} needs a prediction with labels, and {prediction.name!r} is "
            f"numeric ({prediction.predicted.reason}). For scores and probabilities use "
            f"{setting('notion', 'calibration')}."
        )
    return _truth_given_prediction(prediction, wanted)


def _calibration(prediction: Prediction, wanted: str) -> Profile:
    """Return what is left of the truth after the prediction, among people with about the same prediction.

    Within a bin of predictions one group may have higher ones, and then rightly a higher rate of what is predicted.
    The difference between prediction and truth is free of that, so it is compared wherever it has a meaning.
    """
    if (
        prediction.threshold is not None
        or not prediction.predicted.is_number
        or not (prediction.are_probabilities or prediction.truth.is_number)
    ):
        return _truth_given_prediction(prediction, wanted, "about ")
    truth = None if prediction.truth.is_number else zero_or_one(prediction, wanted)
    name = f"signed error of {prediction.name}"
    meaning = "{predicted} minus {truth} (0 on average where it is right), among people with about the same {predicted}"
    profile = number_profile(prediction, name, meaning, measures.signed, (None, truth))
    return replace(profile, given=(prediction.name,))


NOTIONS: dict[str, MakeProfile] = {
    "false-positive-rate": _rate_of(FALSE_POSITIVE),
    "false-negative-rate": _rate_of(FALSE_NEGATIVE),
    "equalized-odds": _equalized_odds,
    "predictive-parity": _predictive_parity,
    "calibration": _calibration,
    "accuracy": _accuracy,
    "selection-rate": _selection_rate,
}
_SPELLINGS = {
    "fpr": "false-positive-rate",
    "false-positive": "false-positive-rate",
    "false-positives": "false-positive-rate",
    "fnr": "false-negative-rate",
    "false-negative": "false-negative-rate",
    "false-negatives": "false-negative-rate",
    "opportunity": "false-negative-rate",
    "odds": "equalized-odds",
    "separation": "equalized-odds",
    "sufficiency": "predictive-parity",
    "calibrated": "calibration",
    "demographic-parity": "selection-rate",
    "statistical-parity": "selection-rate",
    "selection": "selection-rate",
}
