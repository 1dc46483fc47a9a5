"""The JSON Schema in the documentation is that of real reports."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import report_builders as build
from schema import problems

import fairtest as ft
from fairtest.datasets.berkeley import berkeley
from fairtest.datasets.healthcare import healthcare
from fairtest.datasets.pricing import pricing

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json").read_text("utf-8"))


def wrong(report: dict, *, closed: bool = True) -> list[str]:
    return problems(report, SCHEMA, SCHEMA, closed=closed)


def _testing() -> ft.Report:
    return ft.audit(pricing(8_000), ["income", "race"], "discount", tolerance=0.05)


def _ratio() -> ft.Report:
    return ft.audit(pricing(4_000), "income", "discount", metrics="RATIO", contextual=["region"])


def _explained() -> ft.Report:
    return ft.audit(berkeley(), "gender", "admitted", explanatory="department")


def _errors() -> ft.Report:
    return ft.audit(healthcare(4_000), "age", "predicted", ground_truth="visits", contextual=["sex"])


def _rates() -> ft.Report:
    late = pl.when(pl.col("visits") > 3).then(pl.lit("yes")).otherwise(pl.lit("no"))
    frame = healthcare(4_000).with_columns(late=late)
    return ft.audit(frame, "sex", "answered", ground_truth="late", notion="fpr", contextual=["smoker"])


def _labels() -> ft.Report:
    people = {"sex": ["f", "m"] * 500, "tags": ["a|b", "b", "c|a", "|"] * 250}
    return ft.audit(people, "sex", "tags", separator="|", top_k=3)


def _reused() -> ft.Report:
    source = ft.DataSource(pricing(4_000), budget=5, reuse=True)
    return ft.audit(source, "income", "discount", contextual=["region"])


MAKERS = [_testing, _ratio, _explained, _errors, _rates, _labels, _reused]


@pytest.mark.parametrize("make", MAKERS)
def test_real_reports_are_as_described(make) -> None:
    assert wrong(json.loads(make().to_json())) == []


@pytest.mark.parametrize("name", build.all_reports())
def test_reports_of_every_shape_are_as_described(name: str) -> None:
    assert wrong(json.loads(build.all_reports()[name].to_json())) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(schema=2), "$.schema"),
        (lambda r: r["data"].pop("fingerprint"), "$.data"),
        (lambda r: r["settings"].update(level="0.05"), "$.settings.level"),
        (lambda r: r["investigations"][0].update(kind="test"), ".kind"),
        (lambda r: _first(r).update(p_value=0.0), ".p_value"),
        (lambda r: _first(r).update(interval=[0.1]), ".interval"),
        (lambda r: _first(r)["context"][0].update(op="<"), ".context[0].op"),
        (lambda r: _first(r)["table"]["counts"][0].append(0.5), ".table"),
        (lambda r: _first(r).update(surprise=1), ".surprise is not described"),
    ],
)
def test_what_is_not_as_described_is_seen(change, said: str) -> None:
    report = build.income_report().to_dict()
    change(report)
    assert any(said in problem for problem in wrong(report))


def _first(report: dict) -> dict:
    return report["investigations"][0]["protected"][0]["findings"][0]


def test_fields_may_be_added() -> None:
    report = build.income_report().to_dict() | {"later": 1}
    assert wrong(report, closed=False) == []


def test_every_field_is_described() -> None:
    def walk(schema: dict, at: str) -> list[str]:
        inner = schema.get("properties", {})
        missing = [f"{at}.{k}" for k, v in inner.items() if "description" not in v and "$ref" not in v]
        return missing + [m for k, v in inner.items() for m in walk(v, f"{at}.{k}")]

    for name, part in {"report": SCHEMA, **SCHEMA["$defs"]}.items():
        assert walk(part, name) == []
