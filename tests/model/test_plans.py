"""Plans check what they are made from, and describe themselves."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

import fairtest as ft
from fairtest.data.source_options import SourceOptions
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.model import plans
from fairtest.model.plans import TrainingPlan
from fairtest.pipeline.options import AuditOptions

PLANS = (plans.TrainingPlan, plans.TestingPlan)


def test_left_out_options_follow_the_preset() -> None:
    usual, paper = TrainingPlan.of({"search": None}), TrainingPlan.of({"preset": "paper", "search": None})
    assert (usual.search, usual.score, usual.aggregate) == ("auto", "bound", "max")
    assert (paper.search, paper.score, paper.aggregate) == ("tree", "point", "avg")
    assert TrainingPlan.of({"preset": "paper", "search": "forest"}).search == "forest"


def test_numbers_become_numbers_of_python() -> None:
    np = pytest.importorskip("numpy")
    plan = TrainingPlan(max_depth=np.int64(3))
    assert type(plan.max_depth) is int


@pytest.mark.parametrize(
    ("plan", "given", "message"),
    [
        (plans.TrainingPlan, {"max_depth": -1}, "'max_depth' of train must be a whole number of at least 0. Got -1"),
        (plans.TrainingPlan, {"min_size": 2.5}, "'min_size' of train must be a whole number of at least 1. Got 2.5"),
        (plans.TrainingPlan, {"min_size": True}, "'min_size' of train must be a whole number of at least 1. Got True"),
        (plans.TrainingPlan, {"search": "deep"}, "'search' must be one of 'auto', 'tree', 'forest', 'exhaustive'"),
        (plans.TrainingPlan, {"trees": 3}, "'trees' of train are those of a forest. Add search='forest'"),
        (plans.TrainingPlan, {"preset": "article"}, "'preset' must be None or 'paper'. Got 'article' instead"),
        (plans.TestingPlan, {"correction": "holmes"}, "no correction 'holmes'. Did you mean 'holm'"),
        (plans.TestingPlan, {"method": "magic"}, "'method' must be one of 'auto', 'resampling'"),
        (plans.TestingPlan, {"tolerance": -1.5}, "'tolerance' must be a number above 0"),
    ],
)
def test_mistakes(plan: type[plans.Plan], given: dict[str, object], message: str) -> None:
    with pytest.raises(ft.InputError, match=message):
        plan.of(given)


@pytest.mark.parametrize("call", [ft.train, ft.test, ft.audit])
def test_an_option_that_nobody_takes(call) -> None:  # type: ignore[no-untyped-def]
    source = ft.DataSource({"sex": ["f", "m"] * 200, "hired": [0, 1, 1, 1] * 100})
    asked = ft.Testing(source, "sex", "hired")
    given = {"data": source, "protected": "sex", "output": "hired"} if call is ft.audit else {"investigations": asked}
    with pytest.raises(TypeError, match=rf"no option of {call.__name__}\(\) 'presett'. Did you mean 'preset'"):
        call(**given, presett="paper")


def test_each_option_is_described() -> None:
    for plan in PLANS:
        for option in plan.options():
            assert option.help.endswith(".")
            assert option.details.endswith(".")
            assert option.default is None or type(option.default) is option.type


def test_calls_show_the_options_they_take() -> None:
    for plan, call in zip(PLANS, (ft.train, ft.test), strict=True):
        names = {option.name for option in plan.options()}
        assert names <= set(inspect.signature(call).parameters) & set(inspect.signature(ft.audit).parameters)
        assert call.__doc__ is not None
        assert all(f"\n{name}\n    " in call.__doc__ for name in names)


def test_type_checkers_know_the_same_options() -> None:
    taken = {"max_depth", "min_size", "preset"}
    keywords = {*get_type_hints(plans.TrainingOptions), *get_type_hints(plans.TestingOptions)}
    assert keywords | taken == {option.name for plan in PLANS for option in plan.options()}
    assert {*SourceOptions.__annotations__, "data", "preset", "progress"} == set(
        inspect.signature(ft.DataSource).parameters
    )
    own = {"data", "protected", "output", "preset", "out_dir", "progress", "y_true", "y_pred", "sensitive_features"}
    assert {*AuditOptions.__annotations__} | own == set(inspect.signature(ft.audit).parameters)


def test_the_corrections_are_those_there_are() -> None:
    assert tuple(corrections) == plans.CORRECTIONS
