"""How errors of predictions are put in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.predicted_labels import CORRECT, FALSE_NEGATIVE, FALSE_POSITIVE, INCORRECT, pair
from fairtest.investigations.testing import Testing
from fairtest.model.names import Names, OutcomeWords, level_words, spoken
from fairtest.model.report import ErrorNote
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.investigations.base import Investigation

_JUDGEMENTS = {
    CORRECT: OutcomeWords("get a correct prediction", "the share of correct predictions"),
    INCORRECT: OutcomeWords("get a wrong prediction", "the share of wrong predictions"),
    FALSE_POSITIVE: OutcomeWords("get a false positive", "the share of false positives"),
    FALSE_NEGATIVE: OutcomeWords("get a false negative", "the share of false negatives"),
}


def error_note(investigation: Investigation) -> ErrorNote | None:
    """Return what an error profile is about, for its report; None for other investigations."""
    if not isinstance(investigation, ErrorProfiling):
        return None
    profile = investigation.profile
    among = profile.among
    return ErrorNote(
        truth=investigation.ground_truth,
        error=investigation.error,
        notion=investigation.notion,
        measured=profile.variable.name,
        subject=profile.subject,
        meaning=_meaning(investigation),
        positive=profile.positive,
        among=None if among is None else (among.value, among.other),
    )


def _meaning(investigation: ErrorProfiling) -> str:
    """Return what is measured, in words that name the columns."""
    predicted, truth = spoken(investigation.output_name), spoken(investigation.ground_truth)
    asked = investigation.notion or investigation.error or ""
    profile = investigation.profile
    if profile.positive is not None:
        yes = level_words(profile.positive)
        mistakes = f"a false positive is {predicted} = {yes} where {truth} is not, a false negative the reverse"
        among = profile.among
        if among is None:
            return mistakes
        return f"the share of mistakes among people with {truth} = {level_words(among.value)}; {mistakes}"
    if asked == "calibration" and profile.variable.name != investigation.ground_truth:
        return (
            f"{predicted} minus {truth} (0 on average where it is right), among people with about the same {predicted}"
        )
    return {
        "absolute": f"how far {predicted} is from {truth}, in either direction",
        "squared": f"the square of {predicted} minus {truth}, in which large errors weigh more",
        "signed": f"{predicted} minus {truth}, above 0 where the prediction is too high",
        "brier": f"the square of how far the probability {predicted} is from what happened (0 or 1)",
        "log-loss": f"minus the logarithm of the probability that {predicted} gave to what happened",
        "class": f"whether {predicted} is {truth}",
        "confusion": f"the pair of {predicted} and {truth}",
        "equalized-odds": f"{predicted}, compared among people with the same {truth}",
        "predictive-parity": f"{truth}, compared among people with the same {predicted}",
        "calibration": f"{truth}, compared among people with about the same {predicted}",
        "accuracy": f"the share of people for whom {predicted} is {truth}",
        "selection-rate": f"{predicted} itself, whatever the {truth}",
    }.get(asked, f"computed from {predicted} and {truth} by a function of this project’s own")


def names_for(investigation: Investigation) -> Names:
    """Return how the people and the outputs of an investigation are spoken of, in the user's words first."""
    words = investigation.source.words
    names = Names(labels=words.groups, people=words.people, columns=words.columns)
    if not isinstance(investigation, ErrorProfiling):
        binary = isinstance(investigation, Testing) and investigation.output.kind is Kind.BINARY
        return replace(names, outcome=words.outcome_of(investigation.output_name) if binary else None)
    profile = investigation.profile
    among = profile.among
    some = None if among is None else f"{names.column(among.column)} = {level_words(among.value)}"
    if investigation.error == "absolute":
        return replace(names, average=f"{names.column(investigation.output_name)} is off by")
    if investigation.error == "confusion":
        return replace(names, outcomes=_pairs(investigation))
    judged = profile.variable.name == f"error of {investigation.output_name}"
    return replace(names, some=some, outcomes=_JUDGEMENTS if judged else {})


def _pairs(investigation: ErrorProfiling) -> dict[str, OutcomeWords]:
    predicted, truth = (investigation.source.table[c].levels for c in investigation.output.columns)
    names = [spoken(c) for c in investigation.output.columns]
    found = {}
    for p in predicted:
        for t in truth:
            both = f"{names[0]} = {level_words(p)} and {names[1]} = {level_words(t)}"
            found[pair(p, t)] = OutcomeWords(f"have {both}", f"the share with {both}")
    return found
