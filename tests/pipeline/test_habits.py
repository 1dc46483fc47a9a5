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


class TestOtherLibraries:
    """What people of pandas, scikit-learn and fairlearn type blind."""

    @pytest.fixture
    def people(self):
        rng = np.random.default_rng(0)
        n = 1_500
        frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "dept": rng.choice(list("xyz"), n)})
        frame["y"] = (rng.random(n) < 0.4).astype(int)
        frame["p"] = (rng.random(n) < np.where(frame.sex == "F", 0.25, 0.55)).astype(int)
        return frame

    def test_control_features_and_sample_weight(self, people):
        arrays = {"y_true": people.y, "y_pred": people.p, "sensitive_features": people.sex}
        assert ft.audit(**arrays, control_features=people.dept).explanatory == ("dept",)
        rng = np.random.default_rng(1)
        weighted = ft.audit(**arrays, sample_weight=rng.uniform(0.5, 2, len(people)))
        assert weighted.data.design is not None

    def test_columns_given_instead_of_their_names(self, people):
        assert ft.audit(people, people.sex, people.p).to_json() == ft.audit(people, "sex", "p").to_json()

    @pytest.mark.parametrize(
        ("theirs", "ours"), [({"random_state": 3}, {"seed": 3}), ({"favorable": 1}, {"favourable": 1})]
    )
    def test_options_under_other_names(self, people, theirs, ours):
        assert ft.audit(people, "sex", "p", **theirs).to_json() == ft.audit(people, "sex", "p", **ours).to_json()

    @pytest.mark.parametrize("name", ["privileged_groups", "features", "pos_label"])
    def test_options_that_are_something_else_here(self, people, name):
        with pytest.raises(TypeError, match=f"{name}.*names the"):
            ft.audit(people, "sex", "p", **{name: ["age"]})
        with pytest.raises(TypeError, match="are the same option"):
            ft.audit(people, "sex", "p", random_state=0, seed=1)

    def test_metrics_of_fairlearn(self, people):
        arrays = {"y_true": people.y, "y_pred": people.p, "sensitive_features": people.sex}
        with pytest.raises(ft.InputError, match="accuracy, FPR, FNR and PPV by group are in every report"):
            ft.audit(**arrays, metrics={"accuracy": max})

    def test_sensitive_features_of_a_model(self, people):
        from sklearn.linear_model import LogisticRegression

        features = people[["y"]].to_numpy()
        report = ft.audit_model(LogisticRegression(), features, people.p.to_numpy(), sensitive_features=people.sex)
        assert report.populations[0].protected == "sex"
        with pytest.raises(ft.InputError, match="needs the groups"):
            ft.audit_model(LogisticRegression(), features, people.p)
