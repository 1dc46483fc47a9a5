"""Bad input: one clear error that says which column or argument, what is allowed and what came; no set is spent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtest as ft

PEOPLE = 600


def people() -> dict[str, list]:
    rng = np.random.default_rng(3)
    return {
        "gender": rng.choice(["f", "m"], PEOPLE).tolist(),
        "race": rng.choice(list("abc"), PEOPLE).tolist(),
        "age": rng.integers(18, 80, PEOPLE).tolist(),
        "income": rng.normal(50, 10, PEOPLE).tolist(),
        "department": rng.choice(list("XYZ"), PEOPLE).tolist(),
        "hired": rng.integers(0, 2, PEOPLE).tolist(),
        "planet": ["Earth"] * PEOPLE,
        "zero": [0.0] * PEOPLE,
        "nothing": [None] * PEOPLE,
        "person": [f"person {i}" for i in range(PEOPLE)],
    }


@pytest.fixture
def source() -> ft.DataSource:
    return ft.DataSource(pl.DataFrame(people()))


def refused(call, *parts: str) -> str:
    """Check that a call is refused as bad input, in words that name every part."""
    with pytest.raises(ft.FairTestError) as raised:
        call()
    assert isinstance(raised.value, ValueError)
    message = str(raised.value)
    for part in parts:
        assert part in message
    assert "\n" not in message.strip()
    return message


UNKNOWN = {
    "protected": ({"protected": "gendre", "output": "hired"}, "gendre", "gender"),
    "one of several": ({"protected": ["race", "gendre"], "output": "hired"}, "gendre", "gender"),
    "output": ({"protected": "gender", "output": "hierd"}, "hierd", "hired"),
    "explanatory": ({"protected": "gender", "output": "hired", "explanatory": "dep"}, "dep", "department"),
    "contextual": ({"protected": "gender", "output": "hired", "contextual": ["agee"]}, "agee", "age"),
    "exclude": ({"protected": "gender", "output": "hired", "exclude": ["incom"]}, "incom", "income"),
    "case": ({"protected": "GENDER", "output": "hired"}, "GENDER", "gender"),
}


@pytest.mark.parametrize(("roles", "wrong", "near"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_missing_column_names_the_nearest_ones(source, roles, wrong, near):
    """A prefix of a name is not the name: ``dep`` must not match ``department``."""
    refused(lambda: ft.audit(source, **roles, min_size=50), repr(wrong), repr(near))
    assert source.budget.left == 1


def test_the_nearest_name_comes_as_a_suggestion(source):
    message = refused(lambda: ft.audit(source, "gendre", "hired"))
    assert "Did you mean 'gender'?" in message


TWICE = {
    "protected and output": {"protected": "hired", "output": "hired"},
    "protected and explanatory": {"protected": "gender", "output": "hired", "explanatory": "gender"},
    "output and explanatory": {"protected": "gender", "output": "hired", "explanatory": ["race", "hired"]},
    "output and contextual": {"protected": "gender", "output": "hired", "contextual": ["age", "hired"]},
    "explanatory and contextual": {
        "protected": "gender",
        "output": "hired",
        "explanatory": "race",
        "contextual": ["race"],
    },
    "crossed and output": {"protected": [("gender", "hired")], "output": "hired"},
    "explanatory and exclude": {"protected": "gender", "output": "hired", "explanatory": "race", "exclude": "race"},
}


@pytest.mark.parametrize("roles", TWICE.values(), ids=TWICE)
def test_a_column_has_one_role(source, roles):
    twice = {"gender", "hired", "race"}
    message = refused(lambda: ft.audit(source, **roles, min_size=50), "two roles")
    assert any(repr(name) in message for name in twice)
    assert source.budget.left == 1


def test_a_protected_attribute_may_be_context_for_another(source):
    """That is no second role: each protected attribute may be a context for the others."""
    both = ft.Testing(source, ["gender", "race"], "hired", contextual=["gender", "race", "age"])
    assert [q.contextual for q in both.questions] == [("race", "age"), ("gender", "age")]


@pytest.mark.parametrize(("column", "value"), [("planet", "Earth"), ("zero", "0")])
@pytest.mark.parametrize("role", ["protected", "output"])
def test_a_constant_column_cannot_be_associated(source, column, value, role):
    roles = {"protected": "gender", "output": "hired", role: column}
    refused(lambda: ft.audit(source, **roles, min_size=50), repr(column), value, "constant", "two values")
    assert source.budget.left == 1


@pytest.mark.parametrize("role", ["protected", "output", "explanatory"])
def test_a_column_without_values_cannot_be_used(source, role):
    roles = {"protected": "gender", "output": "hired", role: "nothing"}
    refused(lambda: ft.audit(source, **roles, min_size=50), "'nothing'", "no value")
    assert source.budget.left == 1


@pytest.mark.parametrize("role", ["protected", "output", "explanatory"])
def test_an_identifier_has_no_groups(source, role):
    roles = {"protected": "gender", "output": "hired", role: "person"}
    refused(lambda: ft.audit(source, **roles, min_size=50), "'person'", "identifier", "categorical=['person']")
    assert source.budget.left == 1


@pytest.mark.parametrize(("preset", "most"), [(None, 300), ("paper", 150)])
def test_fewer_people_than_two_contexts_need(preset, most):
    source = ft.DataSource(pl.DataFrame(people()), train_size=0.5)
    call = {"protected": "gender", "output": "hired", "preset": preset}
    refused(lambda: ft.audit(source, **call, min_size=most + 1), "min_size", str(most + 1), f"at most {most}")
    assert source.budget.left == 1
    ft.audit(source, **call, min_size=most)
    assert source.budget.left == 0


def test_duplicate_column_names_in_a_frame():
    frame = pd.DataFrame([["f", 1, 0], ["m", 0, 1]] * 50, columns=["sex", "hired", "hired"])
    refused(lambda: ft.DataSource(frame), "'hired'")


FILES = {
    "empty": ("", ["people.csv"]),
    "header only": ("sex,hired\n", ["people.csv"]),
    "ragged": ("sex,hired\n" + "f,1\nm,0\n" * 5 + "f,1,7\n" + "m,0\n", ["people.csv", "12"]),
    "too short a line": ("sex,hired,age\n" + "f,1,20\nm,0,30\n" * 5 + "f,1\n", ["people.csv", "12"]),
}


@pytest.mark.parametrize(("text", "parts"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_proper_table(tmp_path, text, parts):
    """A line with too many or too few fields is named by its number."""
    path = tmp_path / "people.csv"
    path.write_text(text)
    refused(lambda: ft.audit(path, "sex", "hired"), *parts)


def test_a_file_of_bytes(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(bytes(range(256)) * 40)
    refused(lambda: ft.DataSource(path), "people.csv")


def test_a_parquet_file_that_is_none(tmp_path):
    path = tmp_path / "people.parquet"
    path.write_text("sex,hired\nf,1\n")
    refused(lambda: ft.DataSource(path), "people.parquet")


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("sex,hired\nf,1\n")
    refused(lambda: ft.DataSource(tmp_path / "poeple.csv"), "poeple.csv")


@pytest.mark.parametrize(
    "data", [None, 7, [1, 2, 3], b"sex,hired", object()], ids=["None", "int", "list", "bytes", "object"]
)
def test_data_that_is_no_table(data):
    with pytest.raises(ft.FairTestError) as raised:
        ft.DataSource(data)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_infinite_numbers_in_a_frame(make, infinite):
    columns = people()
    columns["income"][41] = infinite
    columns["nothing"] = columns["person"]
    refused(lambda: ft.DataSource(make(columns)), "'income'", "inf", "row 42", "finite")


def test_infinite_numbers_in_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,hired,income\n" + "f,1,2.5\nm,0,3.5\n" * 50 + "f,1,inf\n")
    refused(lambda: ft.DataSource(path), "'income'", "inf")


MISFITS = {
    "DIFF needs two groups": ("DIFF", "race", "hired", "categorical"),
    "RATIO needs two outputs": ("RATIO", "gender", "department", "categorical"),
    "NMI needs levels": ("NMI", "gender", "income", "numeric"),
    "CORR needs numbers": ("CORR", "race", "income", "categorical"),
    "RANK needs an order": ("RANK", "gender", "race", "categorical"),
    "ETA needs a number": ("ETA", "race", "department", "categorical"),
}


@pytest.mark.parametrize(("metric", "protected", "output", "kind"), MISFITS.values(), ids=MISFITS)
def test_a_metric_that_does_not_fit_the_kinds(source, metric, protected, output, kind):
    message = refused(
        lambda: ft.audit(source, protected, output, metrics=metric, min_size=50),
        metric,
        repr(protected),
        repr(output),
        kind,
    )
    allowed = message.split("use one of", 1)[1].split(", or declare")[0]
    for name in allowed.strip().split(", "):
        ft.Testing(source, protected, output, metrics=name)
    assert source.budget.left == 1


def test_a_metric_that_does_not_exist(source):
    refused(lambda: ft.audit(source, "gender", "hired", metrics="DIF"), "'DIF'", "'DIFF'", "'NMI'")
    assert source.budget.left == 1


def test_a_metric_for_an_attribute_that_is_not_protected(source):
    call = {"protected": "gender", "output": "hired", "metrics": {"race": "NMI"}}
    refused(lambda: ft.audit(source, **call), "metrics", "'race'", "'gender'")
    assert source.budget.left == 1


@pytest.mark.parametrize("budget", [0, -1, 1.5, "2", True, None])
def test_the_budget_is_a_whole_number_from_one(budget):
    refused(lambda: ft.audit(people(), "gender", "hired", budget=budget), "'budget'", "at least 1", repr(budget))


@pytest.mark.parametrize("conf", [0, 1, 0.0, 1.0, -0.5, 95, "0.95", float("nan"), True, None])
def test_the_confidence_lies_between_zero_and_one(conf):
    refused(lambda: ft.audit(people(), "gender", "hired", conf=conf), "'conf'", "between 0 and 1", repr(conf))


@pytest.mark.parametrize("size", [0, 1, 1.5, -0.1, "half"])
def test_the_share_of_the_training_set_lies_between_zero_and_one(size):
    refused(lambda: ft.DataSource(people(), train_size=size), "'train_size'", "between 0 and 1", repr(size))


@pytest.mark.parametrize("seed", [-1, 0.5, "0", None])
def test_the_seed_is_a_whole_number(seed):
    refused(lambda: ft.DataSource(people(), seed=seed), "'seed'", repr(seed))


CHOICES = {
    "max_depth": ({"max_depth": -1}, "at least 0", "-1"),
    "min_size": ({"min_size": 0.5}, "at least 1", "0.5"),
    "search": ({"search": "forrest"}, "'tree'", "'forrest'"),
    "score": ({"score": "mean"}, "'bound'", "'mean'"),
    "aggregate": ({"aggregate": "sum"}, "'weighted'", "'sum'"),
    "correction": ({"correction": "homl"}, "'holm'", "'homl'"),
    "method": ({"method": "bootstrap"}, "'resampling'", "'bootstrap'"),
    "preset": ({"preset": "papers"}, "'paper'", "'papers'"),
}


@pytest.mark.parametrize(("argument", "allowed", "came"), CHOICES.values(), ids=CHOICES)
def test_choices_are_checked_and_spend_nothing(source, argument, allowed, came):
    call = {"min_size": 50, **argument}
    refused(lambda: ft.audit(source, "gender", "hired", **call), next(iter(argument)), allowed, came)
    assert source.budget.left == 1


DECLARED = {
    "favourable": ({"favourable": {"hired": 7}}, ["favourable", "'hired'", "7", "0, 1"]),
    "reference": ({"reference": {"gender": "w"}}, ["reference", "'gender'", "'w'", "'f', 'm'"]),
    "favourable column": ({"favourable": {"hird": 1}}, ["'hird'", "'hired'"]),
    "reference column": ({"reference": {"gendr": "f"}}, ["'gendr'", "'gender'"]),
    "categorical": ({"categorical": ["agee"]}, ["'agee'", "'age'", "categorical"]),
    "numeric": ({"numeric": ["race"]}, ["'race'", "numeric"]),
    "ordered": ({"ordered": {"race": ["a", "b"]}}, ["'race'", "'c'", "ordered"]),
    "two kinds": ({"categorical": ["age"], "numeric": ["age"]}, ["'age'", "categorical and numeric"]),
    "engine": ({"engine": "abacus"}, ["engine", "'memory'", "'abacus'"]),
}


@pytest.mark.parametrize(("options", "parts"), DECLARED.values(), ids=DECLARED)
def test_declarations_that_do_not_fit_the_data(options, parts):
    refused(lambda: ft.audit(people(), "gender", "hired", min_size=50, **options), *parts)


def test_options_of_a_source_come_too_late_once_it_is_made(source):
    refused(lambda: ft.audit(source, "gender", "hired", seed=3), "seed", "DataSource")
    assert source.budget.left == 1


def test_crossing_a_number_is_refused(source):
    refused(lambda: ft.audit(source, [("gender", "age")], "hired"), "'age'", "numeric")
    assert source.budget.left == 1


def test_an_investigation_needs_a_source_a_name_and_a_protected_attribute(source):
    refused(lambda: ft.Testing(people(), "gender", "hired"), "DataSource", "dict")
    refused(lambda: ft.Testing(source, "gender", ["hired"]), "'output'", "['hired']")
    refused(lambda: ft.Testing(source, [], "hired"), "'protected'")
    refused(lambda: ft.Testing(source, [("gender", 3.5)], "hired"), "'protected'", "3.5")


def test_a_batch_must_hold_investigations(source):
    refused(lambda: ft.train([]), "no investigation")
    refused(lambda: ft.train(["gender"]), "str")
    refused(lambda: ft.test([source]), "DataSource")


def test_explaining_by_a_column_that_does_not_fit(source):
    source = ft.DataSource(pl.DataFrame(people()), budget=2)
    investigation = ft.Testing(source, "gender", "hired")
    ft.train([investigation], min_size=50)
    ft.test([investigation])
    results = investigation.results
    refused(lambda: ft.explain(investigation, by="dep"), "'dep'", "'department'")
    refused(lambda: ft.explain(investigation, by="hired"), "'hired'", "'output'", "'explanatory'")
    refused(lambda: ft.explain(investigation, by=["race", "gender"]), "'gender'", "'protected'", "'explanatory'")
    refused(lambda: ft.explain(investigation, by="person"), "'person'", "identifier")
    refused(lambda: ft.explain(investigation, by="nothing"), "'nothing'", "no value")
    assert source.budget.left == 1
    assert investigation.results is results


def test_a_metric_of_ones_own_that_returns_the_wrong_shape(source):
    @ft.metric("one number for all", protected="binary", output="binary")
    def wrong(counts):
        return counts.sum()

    refused(lambda: ft.audit(source, "gender", "hired", metrics=wrong, min_size=50), "one number for each table", "()")
    assert source.budget.left == 1


def test_a_metric_of_ones_own_for_a_kind_that_does_not_exist():
    refused(lambda: ft.metric("odd", protected="binary", output="text"), "'output'", "'text'", "'numeric'")
