"""Calls as people of other libraries type them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtest as ft

RNG = np.random.default_rng(0)
N = 1_200
SEX = RNG.choice(["f", "m"], N)
AGE = RNG.integers(18, 80, N)
TRUE = RNG.integers(0, 2, N)
SAID = np.where(RNG.random(N) < np.where(SEX == "f", 0.35, 0.15), 1 - TRUE, TRUE)


@pytest.mark.parametrize(
    "groups",
    [SEX, SEX.tolist(), pd.Series(SEX, name="sex"), pl.Series("sex", SEX), pd.DataFrame({"sex": SEX}), {"sex": SEX}],
)
def test_groups_in_any_form(groups):
    report = ft.audit(y_true=TRUE, y_pred=SAID, sensitive_features=groups)
    assert report.kind == "error profiling"
    assert report.attributes[0].name in {"sex", "sensitive_feature"}
    assert report.looked_at <= 1


def test_features_make_contexts():
    features = pd.DataFrame({"age": AGE, "sex": SEX})
    report = ft.audit(features, y_true=TRUE, y_pred=SAID, sensitive_features=features["sex"], min_size=50)
    assert [note.role for note in report.data.columns if note.name == "age"] == ["contextual"]
    assert report.attributes[0].name == "sex"


def test_predictions_without_a_truth_are_compared():
    report = ft.audit(y_pred=SAID, sensitive_features=SEX)
    assert (report.kind, report.output) == ("testing", "y_pred")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y_true": TRUE, "y_pred": SAID}, "needs sensitive_features"),
        ({"y_true": TRUE, "sensitive_features": SEX}, "needs y_pred"),
        ({"y_pred": SAID[:-1], "sensitive_features": SEX}, "differ in length"),
        ({"y_pred": SAID, "sensitive_features": SEX, "protected": "sex"}, "not both"),
        ({"y_pred": "said", "sensitive_features": SEX}, "must be an array"),
        ({}, "audit\\(\\) needs data"),
    ],
)
def test_mistakes_are_explained(arguments, words):
    with pytest.raises(ft.InputError, match=words):
        ft.audit(**arguments)


def test_columns_with_several_levels_of_names():
    frame = pd.DataFrame({("a", "x"): SAID, ("a", "y"): SAID})
    with pytest.raises(ft.InputError, match="MultiIndex"):
        ft.audit(frame, y_pred=SAID, sensitive_features=SEX)
    with pytest.raises(ft.InputError, match="MultiIndex"):
        ft.DataSource(frame)


def test_integer_names_of_columns():
    frame = pd.DataFrame({0: SEX, 1: SAID})
    report = ft.audit(frame, protected=0, output=1)
    assert (report.attributes[0].name, report.output) == ("0", "1")


class TestModels:
    @pytest.fixture(autouse=True)
    def _needs_sklearn(self):
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")

    def features(self):
        return pd.DataFrame({"age": AGE, "x": TRUE + RNG.normal(0, 1, N), "is_f": (SEX == "f").astype(int)})

    def test_a_classifier_is_judged_by_people_it_has_not_seen(self):
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(random_state=0)  # fits anybody perfectly
        features = self.features()
        report = ft.audit_model(tree, features, TRUE, protected="is_f", min_size=50)
        right = [group.rates["accuracy"].share for group in report.attributes[0].errors]
        assert max(right) < 0.95
        assert not hasattr(tree, "tree_")
        fitted = ft.audit_model(tree.fit(features[:600], TRUE[:600]), features[600:], TRUE[600:], "is_f", cv="prefit")
        assert fitted.data.rows == 600

    def test_pipelines_probabilities_and_regressors(self):
        from sklearn.linear_model import LinearRegression, LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        features = self.features()
        model = make_pipeline(StandardScaler(), LogisticRegression())
        report = ft.audit_model(model, features, TRUE, protected=SEX, probabilities=True, contextual=[])
        assert report.errors.error == "brier"
        report = ft.audit_model(LinearRegression(), features, AGE + 0.5, protected=["is_f"], contextual=[])
        assert report.errors.error == "absolute"

    def test_what_is_no_model(self):
        with pytest.raises(ft.InputError, match=r"fit\(\) and predict\(\)"):
            ft.audit_model("model", self.features(), TRUE, "is_f")
        from sklearn.dummy import DummyClassifier

        with pytest.raises(ft.InputError, match="no column 'sexx'"):
            ft.audit_model(DummyClassifier(), self.features(), TRUE, "sexx")
