"""Error profiles: what is measured, of whom, and every mistake that can be made in asking."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fairtest as ft
from fairtest.data.summaries import Target
from fairtest.investigations.predictions import same_label
from fairtest.types import Kind, SummaryKind


def source(columns: dict, **options) -> ft.DataSource:
    return ft.DataSource({name: np.asarray(values) for name, values in columns.items()}, **options)


def judgements(profile: ft.ErrorProfiling) -> list[object]:
    """Return what an error profile makes of every person; None where it makes nothing."""
    codes = profile.output.codes(profile.source.table)
    return [profile.output.levels[c] if c >= 0 else None for c in codes.tolist()]


SEX = ["f", "m"] * 4
GUESSES = {"age": np.arange(20, 60), "guess": np.linspace(0, 10, 40), "true": np.linspace(3, 4.5, 40) ** 2}
YES_NO = {"sex": SEX, "said": ["y", "n", "y", "n"] * 2, "true": ["y", "n", "n", "y", "y", "n", "n", "n"]}


class TestLabels:
    def test_correct_and_the_two_mistakes(self):
        profile = ft.ErrorProfiling(source(YES_NO), "sex", "said", "true")
        expected = ["Correct", "Correct", "False positive", "False negative", "Correct", "Correct", "False positive"]
        assert judgements(profile) == [*expected, "Correct"]
        assert profile.error == "class"
        assert profile.output.kind is Kind.CATEGORICAL

    def test_the_positive_label_is_the_rarer_truth(self):
        columns = {**YES_NO, "said": ["y", "n", "n", "n"] * 2, "true": ["y", "y", "y", "n", "n", "y", "y", "y"]}
        profile = ft.ErrorProfiling(source(columns), "sex", "said", "true")
        assert judgements(profile)[1] == "False positive"  # "n" is rarer in the truth, though not in the prediction

    @pytest.mark.parametrize("column", ["said", "true"])
    def test_or_the_declared_one_of_either_column(self, column):
        profile = ft.ErrorProfiling(source(YES_NO, favourable={column: "n"}), "sex", "said", "true")
        assert judgements(profile)[2:4] == ["False negative", "False positive"]

    def test_two_declarations_must_agree(self):
        people = source(YES_NO, favourable={"said": "n", "true": "y"})
        with pytest.raises(ft.InputError, match="one positive label"):
            ft.ErrorProfiling(people, "sex", "said", "true")

    def test_or_one_even_where_it_is_frequent(self):
        columns = {"sex": SEX, "said": [1, 1, 0, 1] * 2, "true": [1, 1, 1, 0, 1, 1, 1, 1]}
        assert judgements(ft.ErrorProfiling(source(columns), "sex", "said", "true"))[2:4] == [
            "False negative",
            "False positive",
        ]

    def test_or_the_higher_of_two_ordered_ones(self):
        levels = {"said": ["no", "yes"], "true": ["no", "yes"]}
        columns = {"sex": SEX, "said": ["yes", "no"] * 4, "true": ["yes"] * 6 + ["no"] * 2}
        profile = ft.ErrorProfiling(source(columns, ordered=levels), "sex", "said", "true")
        assert judgements(profile)[1] == "False negative"
        assert judgements(profile)[6] == "False positive"

    @pytest.mark.parametrize(
        ("said", "true"),
        [
            (["1", "0", "1", "0"] * 2, [1, 0, 0, 1] * 2),
            ([True, False, True, False] * 2, [1, 0, 0, 1] * 2),
            ([1.0, 0.0, 1.0, 0.0] * 2, [True, False, False, True] * 2),
        ],
    )
    def test_one_encoding_however_each_column_writes_it(self, said, true):
        people = ft.DataSource({"sex": SEX, "said": said, "true": true}, categorical=["said", "true"])
        expected = ["Correct", "Correct", "False positive", "False negative"]
        assert judgements(ft.ErrorProfiling(people, "sex", "said", "true")) == expected * 2

    def test_a_label_of_one_half_only_is_no_problem(self):
        columns = {"sex": SEX, "said": ["cat", "dog"] * 4, "true": ["cat", "dog", "owl", "cat"] * 2}
        profile = ft.ErrorProfiling(source(columns), "sex", "said", "true")
        assert judgements(profile) == ["Correct", "Correct", "Incorrect", "Incorrect"] * 2
        assert profile.output.kind is Kind.BINARY
        pairs = judgements(ft.ErrorProfiling(source(columns), "sex", "said", "true", error="confusion"))
        assert pairs == ["cat → cat", "dog → dog", "cat → owl", "dog → cat"] * 2

    def test_a_constant_prediction_has_errors_too(self):
        profile = ft.ErrorProfiling(source({**YES_NO, "said": ["n"] * 8}), "sex", "said", "true")
        assert profile.output.levels == ("Correct", "False negative")

    def test_a_missing_half_is_no_judgement(self):
        columns = {"sex": SEX, "said": ["y", None] * 4, "true": ["y", "n", None, "n", "n", "y", "y", "y"]}
        profile = ft.ErrorProfiling(ft.DataSource(columns), "sex", "said", "true")
        assert judgements(profile) == ["Correct", None, None, None, "False negative", None, "Correct", None]

    def test_dates_and_floats_are_the_same_only_if_they_are(self):
        assert same_label(2.5, 2.5)
        assert not same_label(2.5, 2)


class TestNumbers:
    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            ("absolute", lambda p, t: np.abs(p - t)),
            ("squared", lambda p, t: (p - t) ** 2),
            ("signed", lambda p, t: p - t),
        ],
    )
    def test_are_those_of_numpy(self, error, expected):
        profile = ft.ErrorProfiling(source(GUESSES), "age", "guess", "true", error=error)
        found = profile.output.numbers(profile.source.table)
        np.testing.assert_array_equal(found, expected(GUESSES["guess"], GUESSES["true"]))

    def test_absolute_is_what_numbers_get(self):
        assert ft.ErrorProfiling(source(GUESSES), "age", "guess", "true").error == "absolute"

    def test_few_whole_numbers_are_numbers_beside_numbers(self):
        columns = {**GUESSES, "true": np.arange(40) % 4}
        profile = ft.ErrorProfiling(source(columns), "age", "guess", "true")
        expected = np.abs(columns["guess"] - columns["true"])
        np.testing.assert_array_equal(profile.output.numbers(profile.source.table), expected)

    def test_missing_values_stay_missing(self):
        columns = {**GUESSES, "guess": np.where(np.arange(40) % 3 == 0, np.nan, GUESSES["guess"])}
        profile = ft.ErrorProfiling(source(columns), "age", "guess", "true")
        missing = np.isnan(profile.output.numbers(profile.source.table))
        np.testing.assert_array_equal(missing, np.arange(40) % 3 == 0)

    def test_probabilities(self):
        p, y = np.linspace(0, 1, 40), np.arange(40) % 2
        columns = {"age": np.arange(40), "p": p, "late": np.where(y, "yes", "no")}
        people = source(columns, favourable={"late": "yes"})
        table = people.table
        default = ft.ErrorProfiling(people, "age", "p", "late")
        np.testing.assert_allclose(default.output.numbers(table), (p - y) ** 2, rtol=1e-15)
        loss = ft.ErrorProfiling(people, "age", "p", "late", error="log-loss").output.numbers(table)
        inside = slice(1, -1)
        expected = -(y * np.log(np.clip(p, 1e-300, 1)) + (1 - y) * np.log(np.clip(1 - p, 1e-300, 1)))
        np.testing.assert_allclose(loss[inside], expected[inside], rtol=1e-13)
        assert np.isfinite(loss).all()

    def test_can_be_sent_elsewhere(self):
        profile = ft.ErrorProfiling(source(GUESSES), "age", "guess", "true")
        sent = pickle.loads(pickle.dumps(profile.output))
        assert sent == profile.output
        assert hash(sent) == hash(profile.output)

    def test_their_sums_are_taken_of_at_most_one(self):
        profile = ft.ErrorProfiling(source(GUESSES), "age", "guess", "true", error="squared")
        assert np.abs(profile.output.values(profile.source.table)).max() == pytest.approx(1.0)

    def test_ranks_of_errors(self):
        rng = np.random.default_rng(0)
        age = rng.integers(20, 90, 4_000)
        columns = {"age": age, "guess": rng.normal(0, age / 30.0), "true": np.zeros(4_000) + rng.normal(0, 0.1, 4_000)}
        report = ft.audit(columns, "age", "guess", ground_truth="true", metrics="RANK", contextual=[], split=False)
        from scipy.stats import spearmanr

        expected = spearmanr(age, np.abs(columns["guess"] - columns["true"])).statistic
        assert report.populations[0].effect == pytest.approx(expected, abs=1e-3)


class TestOwnFunction:
    def test_numbers(self):
        def relative_error(p, t):
            return np.abs(p - t) / t

        profile = ft.ErrorProfiling(source(GUESSES), "age", "guess", "true", error=relative_error)
        assert profile.output.name == "relative error of guess"
        expected = relative_error(GUESSES["guess"], GUESSES["true"])
        np.testing.assert_array_equal(profile.output.numbers(profile.source.table), expected)

    def test_true_and_false(self):
        profile = ft.ErrorProfiling(source(GUESSES), "age", "guess", "true", error=lambda p, t: np.abs(p - t) > 9.5)
        assert (profile.output.kind, profile.output.levels) == (Kind.BINARY, (False, True))
        expected = (np.abs(GUESSES["guess"] - GUESSES["true"]) > 9.5).tolist()
        assert judgements(profile) == expected

    def test_of_labels(self):
        cost = {("y", "n"): 5.0, ("n", "y"): 1.0}
        profile = ft.ErrorProfiling(
            source(YES_NO),
            "sex",
            "said",
            "true",
            error=lambda p, t: np.array([cost.get(pair, 0.0) for pair in zip(p, t, strict=True)]),
        )
        assert profile.output.numbers(profile.source.table).tolist() == [0, 0, 5, 1, 0, 0, 5, 0]

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda p, t: p - t.mean(), "each person by themselves"),
            (lambda p, t: (p - t)[:-1], r"for each of 40 people.*shape \(39,\)"),
            (lambda p, t: np.full(p.shape, "wrong"), "must return a number"),
            (lambda p, t: (p - t) / 0.0, "40 of 40 are not"),
            (lambda p, t: p.no_such_thing, "AttributeError"),
            (lambda p, t: p * 0.0, "nothing to profile"),
            (lambda p, t: p < 0, "does not vary"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
    def test_what_is_wrong_with_it(self, function, message):
        with pytest.raises(ft.InputError, match=message):
            ft.ErrorProfiling(source(GUESSES), "age", "guess", "true", error=function)


class TestNotions:
    @pytest.mark.parametrize(
        ("notion", "levels", "given", "metric"),
        [
            ("fpr", ("Correct", "False positive"), (), "DIFF"),
            ("false_negative_rate", ("Correct", "False negative"), (), "DIFF"),
            ("equal opportunity", ("Correct", "False negative"), (), "DIFF"),
            ("Equalized odds", ("n", "y"), ("true",), "NMI"),
            ("predictive-parity", ("n", "y"), ("said",), "NMI"),
            ("calibration", ("n", "y"), ("said",), "NMI"),
            ("accuracy", ("Incorrect", "Correct"), (), "DIFF"),
            ("selection-rate", ("n", "y"), (), "DIFF"),
        ],
    )
    def test_what_each_compares(self, notion, levels, given, metric):
        profile = ft.ErrorProfiling(source(YES_NO), "sex", "said", "true", notion=notion)
        assert (profile.output.levels, profile.explanatory, profile.questions[0].metric.name) == (levels, given, metric)

    def test_rates_are_of_those_who_can_suffer_the_mistake(self):
        profile = ft.ErrorProfiling(source(YES_NO), "sex", "said", "true", notion="fpr")
        truth = YES_NO["true"]
        assert [j is not None for j in judgements(profile)] == [t == "n" for t in truth]

    def test_prediction_and_truth_have_one_positive_label(self):
        columns = {**YES_NO, "said": ["y", "y", "y", "n"] * 2}  # "n" is the rarer prediction, "y" the rarer truth
        for notion in ("selection-rate", "equalized-odds"):
            assert ft.ErrorProfiling(source(columns), "sex", "said", "true", notion=notion).output.levels == ("n", "y")

    def test_the_metric_can_be_chosen(self):
        profile = ft.ErrorProfiling(source(YES_NO), "sex", "said", "true", notion="odds", metrics="DIFF")
        assert profile.questions[0].metric.name == "DIFF"

    def test_calibration_of_probabilities_is_of_what_is_left(self):
        columns = {"sex": SEX * 5, "p": np.linspace(0.1, 0.9, 40), "late": np.arange(40) % 2}
        profile = ft.ErrorProfiling(source(columns), "sex", "p", "late", notion="calibration")
        np.testing.assert_allclose(
            profile.output.numbers(profile.source.table), columns["p"] - columns["late"], rtol=1e-15
        )
        assert (profile.explanatory, profile.questions[0].metric.name) == (("p",), "MEAN")

    def test_calibration_of_other_scores_is_of_the_truth(self):
        columns = {"sex": SEX * 5, "score": np.linspace(300, 850, 40), "late": np.arange(40) % 2}
        profile = ft.ErrorProfiling(source(columns), "sex", "score", "late", notion="calibration")
        assert (profile.output.name, profile.explanatory) == ("late", ("score",))

    def test_calibrated_scores_raise_no_alarm_where_their_spread_differs_by_group(self):
        """Within a fifth of the scores one group has higher ones, and rates differ there: bins must be finer."""
        rng = np.random.default_rng(2)
        n = 200_000
        group = rng.choice(["a", "b"], n)
        p = rng.beta(np.where(group == "a", 2, 4), 4)
        columns = {"group": group, "p": p, "late": (rng.random(n) < p).astype(int)}
        rates = ft.audit(columns, "group", "late", explanatory="p", contextual=[])
        assert rates.significant == 0
        left = ft.audit(columns, "group", "p", ground_truth="late", notion="calibration", contextual=[])
        assert left.significant == 0

    def test_opposite_gaps_do_not_cancel(self):
        """One group gets more false positives and more false negatives: no gap in the prediction on average."""
        rng = np.random.default_rng(3)
        n = 8_000
        group, truth = rng.choice(["a", "b"], n), rng.random(n) < 0.5
        wrong = rng.random(n) < np.where(group == "a", 0.3, 0.1)
        columns = {"group": group, "true": truth, "said": truth ^ wrong}
        odds = ft.audit(columns, "group", "said", ground_truth="true", notion="equalized-odds", contextual=[])
        assert odds.populations[0].significant
        assert [s.p_value < 0.001 for s in odds.populations[0].strata] == [True, True]
        gaps = ft.audit(
            columns, "group", "said", ground_truth="true", notion="equalized-odds", contextual=[], metrics="DIFF"
        )
        assert not gaps.populations[0].significant

    def test_the_truth_may_be_a_number(self):
        rng = np.random.default_rng(4)
        columns = {"sex": rng.choice(["f", "m"], 400), "guess": rng.normal(size=400), "true": rng.normal(size=400)}
        profile = ft.ErrorProfiling(source(columns), "sex", "guess", "true", notion="equalized-odds")
        assert profile.strata is not None
        assert len(profile.strata.levels) == 5


class TestMistakes:
    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"error": "absolut"}, "no error 'absolut'. Did you mean 'absolute'"),
            ({"notion": "equalised-odds"}, "no notion 'equalised-odds'. Did you mean 'equalized-odds'"),
            ({"error": "class", "notion": "fpr"}, "not both"),
            ({"ground_truth": "said"}, "both 'said'"),
            ({"ground_truth": "tru"}, "Did you mean 'true'"),
            ({"ground_truth": 3}, "'ground_truth' must be the name of a column. Got 3"),
            ({"error": "absolute"}, "error='absolute' needs numbers, and 'said' is binary"),
            ({"error": "brier"}, "error='brier' needs numbers"),
            ({"explanatory": "true"}, "named in two roles, 'truth' and 'explanatory'"),
            ({"contextual": ["true"]}, "named in two roles, 'truth' and 'contextual'"),
            ({"exclude": "said"}, "named in two roles, 'output' and 'exclude'"),
            ({"protected": "true"}, "named in two roles, 'protected' and 'truth'"),
            ({"metrics": "CORR", "protected": "three"}, "does not fit"),
        ],
    )
    def test_says_what_to_do(self, asked, message):
        people = source({**YES_NO, "three": ["a", "b", "c", "a"] * 2})
        with pytest.raises(ft.InputError, match=message):
            ft.ErrorProfiling(people, **{"protected": "sex", "output": "said", "ground_truth": "true", **asked})

    @pytest.mark.parametrize(
        ("said", "true", "asked", "message"),
        [
            (["y", "n"] * 4, ["a", "b"] * 4, {}, "no label in common"),
            (["y", "n"] * 4, ["y", "n"] * 4, {}, "it is 'Correct' for everybody"),
            (["y", "n"] * 4, ["y", "n"] * 4, {"notion": "fpr"}, "'Correct' for everybody with true = 'y'"),
            (["a", "b"] * 4, ["a", "b", "c", "a"] * 2, {"notion": "fnr"}, "needs two labels. There are 3"),
            (np.arange(8) / 3, ["y", "n"] * 4, {}, "a score from 0 to 2.33333, and 'true' has the two values"),
            (np.arange(8) / 3, np.arange(8) / 2, {"error": "class"}, "needs labels, and the output 'said' is numeric"),
            (np.arange(8) / 3, ["y", "n"] * 4, {"error": "brier"}, "runs from 0 to 2.33333"),
            (np.arange(8) / 8, ["a", "b", "c", "a"] * 2, {"error": "log-loss"}, "needs a ground_truth of two values"),
            (np.arange(8) / 3, ["y", "n"] * 4, {"notion": "predictive-parity"}, "use notion='calibration'"),
            ([None] * 8, ["y", "n"] * 4, {}, "no value in any row"),
            ([1.5, np.nan] * 4, [np.nan, 1.25] * 4, {"error": "absolute"}, "Nobody has both"),
        ],
    )
    def test_columns_that_do_not_go_together(self, said, true, asked, message):
        people = ft.DataSource({"sex": SEX, "said": list(said), "true": list(true)})
        with pytest.raises(ft.InputError, match=message):
            ft.ErrorProfiling(people, "sex", "said", "true", **asked)

    def test_too_many_pairs(self):
        labels = [f"l{i}" for i in range(30)]
        columns = {"sex": ["f", "m"] * 450, "said": labels * 30, "true": np.repeat(labels, 30)}
        with pytest.raises(ft.InputError, match=r"900 pairs.*at most 100"):
            ft.ErrorProfiling(source(columns), "sex", "said", "true", error="confusion")


def test_the_engine_sees_errors_like_columns():
    """A computed number has the sums that a column of the same numbers has."""
    rng = np.random.default_rng(5)
    columns = {"sex": rng.choice(["f", "m"], 500), "p": rng.normal(size=500), "t": rng.normal(size=500)}
    columns["error"] = np.abs(columns["p"] - columns["t"])
    people = source(columns)
    from fairtest.pipeline.search import engine_of

    profile = ft.ErrorProfiling(people, "sex", "p", "t")
    testing = ft.Testing(people, "sex", "error", exclude=["p", "t"])
    sums = []
    for asked in (profile, testing):
        target = Target(asked.questions[0].protected, asked.output, None, SummaryKind.GROUP_MOMENTS, 4)
        sums.append(engine_of(people).total(1, target))
    np.testing.assert_array_equal(*sums)
