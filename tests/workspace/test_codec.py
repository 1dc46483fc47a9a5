"""Reports come back from JSON as they were, to the last bit."""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from audits import people_frame
from hypothesis import given
from hypothesis import strategies as st

import fairtest as ft
from fairtest.model.context import Context, Op, Predicate
from fairtest.workspace.codec import pack, unpack

if TYPE_CHECKING:
    from fairtest.model.report import Report

LEVELS = st.one_of(st.text(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.dates(), st.none())


@given(
    st.recursive(
        LEVELS, lambda inner: st.one_of(st.lists(inner), st.tuples(inner), st.dictionaries(LEVELS, inner)), max_leaves=8
    )
)
def test_plain_values_come_back_with_their_types(value: object) -> None:
    again = unpack(pack(value))
    assert again == value
    assert repr(again) == repr(value)  # True is no 1, 1 no 1.0, a list no tuple, -0.0 no 0.0


@given(st.text(), LEVELS)
def test_contexts(column: str, value: object) -> None:
    context = Context((Predicate(column, Op.IS, value), Predicate(column, Op.IN, (value, "x"), order=("x", "y"))))  # type: ignore[arg-type]
    again = unpack(pack(context))
    assert again == context
    assert again.predicates[1].order == ("x", "y")
    assert isinstance(again.predicates[0].op, Op)


def test_what_is_not_a_number() -> None:
    low, high, none = unpack(pack((-math.inf, math.inf, math.nan)))
    assert (low, high) == (-math.inf, math.inf)
    assert math.isnan(none)


def test_numbers_of_numpy_become_plain() -> None:
    assert unpack(pack((np.float64(0.1), np.int64(3), np.bool_(True)))) == (0.1, 3, True)
    assert type(unpack(pack(np.float64(0.1)))) is float


def all_reports() -> dict[str, Report]:
    frame = people_frame().with_columns(
        day=pl.Series([dt.date(2020, 1, 1) + dt.timedelta(days=i % 300) for i in range(1_500)])
    )
    how = {"min_size": 100, "search": "tree"}
    few = {"contextual": ["region", "day"], **how}
    return {
        "rates": ft.audit(frame, ["sex", ("sex", "region")], "hired", **few, tolerance=0.05),
        "strata": ft.audit(frame, "sex", "hired", **few, explanatory="department"),
        "numbers": ft.audit(frame, ["sex", "pay"], "day", contextual=["region"], **how),
        "errors": ft.audit(frame, "sex", "said", ground_truth="hired", **few),
        "notion": ft.audit(frame, "sex", "said", ground_truth="hired", notion="equalized-odds", **few),
        "labels": ft.audit(frame, "sex", "tags", separator="|", **few),
        "reused": ft.audit(ft.DataSource(frame, budget=5, reuse=True), "sex", "hired", **few),
    }


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return all_reports()


@pytest.mark.parametrize("kind", ["rates", "strata", "numbers", "errors", "notion", "labels", "reused"])
def test_reports_of_every_kind_come_back(reports: dict[str, Report], kind: str) -> None:
    report = reports[kind]
    again = unpack(pack(report))
    assert again == report
    assert (again.to_json(), again.to_text(), again.to_html()) == (
        report.to_json(),
        report.to_text(),
        report.to_html(),
    )
    assert [f.sentence for f in again.populations] == [f.sentence for f in report.populations]


@pytest.mark.parametrize("name", ["os.system", "fairtest.workspace.codec.pack", "fairtest.model.report.Report"])
def test_nothing_else_is_made(name: str) -> None:
    with pytest.raises(ft.InputError, match="does not know"):
        unpack(json.dumps({"class": name, "value": {}}))


def test_a_field_of_a_newer_version_is_an_error() -> None:
    stored = json.loads(pack(Context()))
    stored["value"]["value"]["colour"] = "blue"
    with pytest.raises(ft.InputError, match=r"context\.colour"):
        unpack(json.dumps(stored))


def test_a_newer_schema_is_an_error() -> None:
    with pytest.raises(ft.InputError, match="newer FairTest stored"):
        unpack(json.dumps({"schema": 99, "value": 1}))


def test_other_things_cannot_be_stored() -> None:
    with pytest.raises(TypeError, match="set"):
        pack({1, 2})
