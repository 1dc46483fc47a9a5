"""The standard notions of fairness for predictions, each expressed as an output and what it is conditioned on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.data import measures
from fairtest.exceptions import InputError, setting, unknown_name
from fairtest.investigations.errors import mistakes_of, number_profile, plain_name, right_or_wrong, varying, zero_or_one
from fairtest.investigations.predicted_labels import (
    CORRECT,
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    INCORRECT,
    JUDGEMENTS,
    judged,
    same,
)
from fairtest.investigations.profiles import Among, Profile
from fairtest.investigations.roles import output_variable
from fairtest.model.names import level_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.data.variables import Variable
    from fairtest.investigations.predicted_labels import Labels
    from fairtest.investigations.profiles import Pair
    from fairtest.types import Level


def named_notion(notion: str) -> str:
    """Return the name of a notion from a spelling of it.

    Examples
    --------
    >>> named_notion("FPR"), named_notion("equal_opportunity"), named_notion("Equalized odds")
    ('false-positive-rate', 'false-negative-rate', 'equalized-odds')
    """
    plain = plain_name(notion).removeprefix("equal-")
    chosen = _SPELLINGS.get(plain, plain)
    if chosen not in NOTIONS:
        raise unknown_name("notion", notion, (*NOTIONS, "fpr", "fnr"))
    return chosen


def by_notion(both: Pair, notion: str) -> Profile:
    """Return what a notion of fairness compares."""
    return NOTIONS[notion](both)


def _rate_of(mistake: str) -> Callable[[Pair], Profile]:
    """Return the profile of one kind of mistake, among the people who can suffer it."""
    words = f"{mistake.lower().replace(' ', '-')} rate"

    def profile(both: Pair) -> Profile:
        wanted = setting("notion", words.replace(" ", "-"))
        labels = both.labels(wanted)
        negative, positive = labels.negative_and_positive(both.source, wanted)
        value, other = (negative, positive) if mistake == FALSE_POSITIVE else (positive, negative)

        def judgement(predicted: Level, truth: Level) -> str | None:
            if not same(truth, value):
                return None
            return CORRECT if same(predicted, truth) else mistake

        among = Among(both.truth.name, value, other)
        subject = f"{words} of {both.prediction.name}"
        variable = judged(f"error of {both.prediction.name}", labels, judgement, both.source, (CORRECT, mistake))
        everyone = right_or_wrong(both, labels, (CORRECT, INCORRECT))
        variable = varying(variable, subject, among)
        who = both.name_columns("the share of mistakes among people with {truth}")
        meaning = f"{who} = {level_words(value)}; {mistakes_of(both, positive)}"
        return Profile(
            variable, subject, meaning, among=among, everyone=everyone, positive=positive, outcomes=JUDGEMENTS
        )

    return profile


def _accuracy(both: Pair) -> Profile:
    subject = f"accuracy of {both.prediction.name}"
    variable = right_or_wrong(both, both.labels("notion='accuracy'"), (INCORRECT, CORRECT))
    meaning = both.name_columns("the share of people for whom {predicted} is {truth}")
    return Profile(varying(variable, subject), subject, meaning, outcomes=JUDGEMENTS)


def _selection(both: Pair) -> Profile:
    labels = both.labels("notion='selection-rate'")
    meaning = both.name_columns("{predicted} itself, whatever the {truth}")
    return Profile(_prediction(both, labels), f"selection rate of {both.prediction.name}", meaning)


def _prediction(both: Pair, labels: Labels | None) -> Variable:
    """Return the prediction itself; of two labels, the positive one is the one effects are about."""
    variable = output_variable(both.source, both.prediction.name)
    return variable if labels is None else _towards(both, variable, labels)


def _towards(both: Pair, variable: Variable, labels: Labels) -> Variable:
    if len(labels.known) != 2 or len(variable.levels) != 2:
        return variable
    _, positive = labels.negative_and_positive(both.source, "a notion")
    return variable if same(variable.levels[1], positive) else _turned(variable)


def _turned(variable: Variable) -> Variable:
    return replace(
        variable,
        levels=variable.levels[::-1],
        combinations=variable.combinations[::-1],
        lookup=tuple(1 - i for i in variable.lookup),
    )


def _labels_if_any(both: Pair) -> Labels | None:
    has = not both.prediction.is_number and not both.truth.is_number
    return both.labels("a notion") if has else None


def _equalized_odds(both: Pair) -> Profile:
    variable = _prediction(both, _labels_if_any(both))
    meaning = both.name_columns("{predicted}, compared among people with the same {truth}")
    return Profile(variable, variable.name, meaning, given=(both.truth.name,))


def _truth_given_prediction(both: Pair, labels: Labels | None, about: str = "") -> Profile:
    variable = output_variable(both.source, both.truth.name)
    if labels is not None:
        variable = _towards(both, variable, labels)
    meaning = both.name_columns(f"{{truth}}, compared among people with {about}the same {{predicted}}")
    return Profile(variable, variable.name, meaning, given=(both.prediction.name,))


def _predictive_parity(both: Pair) -> Profile:
    if both.prediction.is_number:
        raise InputError(
            f"{setting('notion', 'predictive-parity')} needs a prediction with labels, and {both.prediction.name!r} is "
            f"numeric ({both.prediction.reason}). For scores and probabilities use {setting('notion', 'calibration')}."
        )
    return _truth_given_prediction(both, _labels_if_any(both))


def _calibration(both: Pair) -> Profile:
    """Return what is left of the truth after the prediction, among people with about the same prediction.

    Within a bin of predictions one group may have higher ones, and then rightly a higher rate of what is predicted.
    The difference between prediction and truth is free of that, so it is compared wherever it has a meaning.
    """
    if not both.prediction.is_number or not (both.are_probabilities or both.truth.is_number):
        return _truth_given_prediction(both, _labels_if_any(both), "about ")
    truth = None if both.truth.is_number else zero_or_one(both, "notion='calibration'")
    name = f"signed error of {both.prediction.name}"
    meaning = "{predicted} minus {truth} (0 on average where it is right), among people with about the same {predicted}"
    profile = number_profile(both, name, meaning, measures.signed, (None, truth))
    return replace(profile, given=(both.prediction.name,))


NOTIONS: dict[str, Callable[[Pair], Profile]] = {
    "false-positive-rate": _rate_of(FALSE_POSITIVE),
    "false-negative-rate": _rate_of(FALSE_NEGATIVE),
    "equalized-odds": _equalized_odds,
    "predictive-parity": _predictive_parity,
    "calibration": _calibration,
    "accuracy": _accuracy,
    "selection-rate": _selection,
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
