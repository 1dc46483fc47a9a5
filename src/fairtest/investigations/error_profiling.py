"""ErrorProfiling: who gets the errors of a prediction?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from fairtest.exceptions import InputError, argument, setting, the
from fairtest.investigations.base import Investigation
from fairtest.investigations.errors import profile_error
from fairtest.investigations.notions import find_notion, profile_notion
from fairtest.investigations.predictions import Prediction
from fairtest.metrics.choice import default_metric, unsigned_metric
from fairtest.model.names import level_words
from fairtest.model.report import ErrorNote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.data.source import DataSource
    from fairtest.data.variables import Variable
    from fairtest.investigations.base import Metrics
    from fairtest.investigations.predictions import Profile
    from fairtest.metrics.registry import Metric
    from fairtest.model.names import Names


class ErrorProfiling(Investigation):
    """Asks whether the errors of a prediction fall on some people more than on others (section 3.3 of the paper).

    Prediction and truth are two columns. Where both are labels they share one encoding, and a label that only one of
    them has is no problem; of two labels the positive one is that of ``DataSource(favourable=...)``, else True or 1,
    else the one that is rarer in the truth.

    Parameters
    ----------
    source
        The people.
    protected
        One protected attribute or several; a tuple of names crosses them into one.
    output
        The column with what was predicted.
    ground_truth
        The column with what turned out to be true. Neither is ever a context.
    error
        For numbers ``"absolute"``, ``"squared"`` or ``"signed"`` (prediction minus truth); for probabilities of a truth
        of two values ``"brier"`` or ``"log-loss"``; for labels ``"class"`` (Correct, False positive, False negative; of
        more than two labels Correct, Incorrect) or ``"confusion"`` (the pair of prediction and truth); or a function
        that gets two arrays, predictions and truths, and returns a number, or True or False, for each person. It must
        look at each person by themselves. Default: by the kinds of the columns, ``"class"``, ``"brier"`` or
        ``"absolute"``.
    notion
        In place of an error, a notion of fairness by name:

        ===========================  ==============================================================================
        ``"false-positive-rate"``    mistakes among people whose truth is negative (``"fpr"``)
        ``"false-negative-rate"``    mistakes among people whose truth is positive (``"fnr"``, equal opportunity)
        ``"equalized-odds"``         the prediction, among people with the same truth; the strata are the two rates
        ``"predictive-parity"``      the truth, among people with the same prediction
        ``"calibration"``            prediction minus truth, among people with about the same prediction (in bins);
                                     for a score that is no probability, the truth
        ``"accuracy"``               right or wrong
        ``"selection-rate"``         the prediction itself, whatever the truth
        ===========================  ==============================================================================
    threshold
        For a score on a scale of its own and a truth of two values: the prediction is positive from this score on.
    contextual, explanatory, metrics, exclude
        As for :class:`fairtest.Testing`. A notion that conditions on truth or prediction adds that to ``explanatory``,
        and uses NMI or ETA, so that gaps in opposite directions do not cancel: one group may get more false positives
        and more false negatives. ``metrics="DIFF"`` shows the gaps in points.

    Examples
    --------
    >>> from fairtest.data.source import DataSource
    >>> people = {"sex": ["f", "m"] * 60, "late": [0, 1, 1] * 40, "predicted": [0, 1, 0, 1, 1, 1] * 20}
    >>> profile = ErrorProfiling(DataSource(people), "sex", output="predicted", ground_truth="late")
    >>> profile.output.levels, profile.questions[0].metric.name
    (('Correct', 'False positive', 'False negative'), 'NMI')
    >>> rate = ErrorProfiling(DataSource(people), "sex", "predicted", "late", notion="fnr")
    >>> rate.output.levels, rate.questions[0].metric.name
    (('Correct', 'False negative'), 'DIFF')
    """

    kind: ClassVar[str] = "error profiling"
    profile: Profile

    def __init__(
        self,
        source: DataSource,
        protected: str | Sequence[str | tuple[str, ...]],
        output: str,
        ground_truth: str,
        error: str | Callable[[Any, Any], Any] | None = None,
        notion: str | None = None,
        contextual: Sequence[str] | None = None,
        explanatory: str | Sequence[str] | None = None,
        metrics: Metrics = None,
        exclude: str | Sequence[str] | None = None,
        threshold: float | None = None,
    ) -> None:
        if not isinstance(ground_truth, str):
            raise InputError(f"{the('ground_truth')} must be the name of a column. Got {ground_truth!r} instead.")
        if ground_truth == output:
            raise InputError(
                f"{argument('output')} and {argument('ground_truth')} are both {output!r}. Name the prediction and the "
                "truth."
            )
        if error is not None and notion is not None:
            raise InputError(
                f"Give an error or a notion, not both. Got {setting('error', error)} and {setting('notion', notion)}."
            )
        if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
            raise InputError(f"{the('threshold')} must be a number. Got {threshold!r} instead.")
        self.ground_truth = ground_truth
        self.threshold = threshold
        self.error: str | None = None
        self.asked_error = error
        self.notion = None if notion is None else find_notion(notion)
        super().__init__(source, protected, output, contextual, explanatory, metrics, exclude)

    def _output(self) -> Variable:
        prediction = Prediction.of(self.source, self.output_name, self.ground_truth, self.threshold)
        if self.notion is not None:
            self.profile = profile_notion(prediction, self.notion)
        else:
            self.error, self.profile = profile_error(prediction, self.asked_error)
        self.confusion = prediction.confusion()
        self.implied = self.profile.given
        self.everyone = self.profile.everyone
        return self.profile.variable

    @property
    def outputs(self) -> frozenset[str]:
        """The prediction and the truth: never contexts."""
        return frozenset((self.output_name, self.ground_truth))

    def _usual_metric(self, protected: Variable) -> Metric | None:
        """Return, for a notion that conditions, a metric without direction: opposite gaps must not cancel.

        Whether two groups' scores are equally right is told in the units of the score, and by its strata.
        """
        kinds = protected.kind, self.output.kind
        if not self.profile.given or (self.notion == "calibration" and default_metric(*kinds).compares_means):
            return None
        return unsigned_metric(*kinds)

    @property
    def names(self) -> Names:
        """How the people and their errors are spoken of."""
        names, profile = super().names, self.profile
        among = profile.among
        some = None if among is None else f"{names.column(among.column)} = {level_words(among.value)}"
        average = None if profile.average is None else f"{names.column(self.output_name)} {profile.average}"
        return replace(names, some=some, outcomes=profile.outcomes, average=average)

    @property
    def error_note(self) -> ErrorNote:
        """What the errors are, in words that name the columns."""
        profile, among = self.profile, self.profile.among
        return ErrorNote(
            truth=self.ground_truth,
            error=self.error,
            notion=self.notion,
            measured=profile.variable.name,
            subject=profile.subject,
            meaning=profile.meaning,
            positive=profile.positive,
            among=None if among is None else (among.value, among.other),
        )

    def arguments(self) -> dict[str, object]:
        """Return the arguments that make the investigation again; a function is no data, and only named."""
        given = {"error": self.asked_error, "notion": self.notion}
        if callable(self.asked_error):
            given = {"function": getattr(self.asked_error, "__name__", "a function")}
        cut = {} if self.threshold is None else {"threshold": self.threshold}
        return {**super().arguments(), "ground_truth": self.ground_truth, **given, **cut}

    def output_role(self, name: str) -> str:
        """Return which of the two a column is."""
        return "truth" if name == self.ground_truth else "output"
