"""The report as JSON."""

import dataclasses
import datetime as dt
import json

import numpy as np
import pytest
import report_builders as build

from fairtest.exceptions import InputError
from fairtest.model.context import Op, Predicate
from fairtest.reporting.formats.files import save, write_atomically
from fairtest.reporting.formats.json import as_dict, render_json

REPORTS = build.all_reports()
FINDING = (
    "context", "label", "size", "effect", "interval", "interval_single", "p_value", "p_value_raw", "table", "strata",
    "sentence",
)  # fmt: skip
PROTECTED = (
    "name", "reference", "metric", "looked_at", "discovered", "validated", "reported", "left_out", "population",
    "findings",
)  # fmt: skip
SETTINGS = (
    "conf", "level", "budget", "set", "train_size", "seed", "preset", "max_depth", "min_size", "correction", "search",
)  # fmt: skip


def findings_of(document):
    for attribute in document["investigations"][0]["protected"]:
        yield attribute["population"]
        yield from attribute["findings"]


def in_order(document, names):
    return [key for key in document if key in names] == list(names)


@pytest.mark.parametrize("name", REPORTS)
def test_schema_one(name):
    document = as_dict(REPORTS[name])
    assert list(document) == ["schema", "fairtest", "data", "settings", "investigations"]
    assert document["schema"] == 1
    assert list(document["data"])[:5] == ["name", "rows", "train", "test", "fingerprint"]
    assert tuple(document["settings"])[: len(SETTINGS)] == SETTINGS
    [asked] = document["investigations"]
    assert list(asked)[:5] == ["kind", "output", "favourable", "explanatory", "protected"]
    for attribute in asked["protected"]:
        assert tuple(attribute)[: len(PROTECTED)] == PROTECTED
        assert all(isinstance(attribute[k], int) for k in ("looked_at", "discovered", "validated", "reported"))
    for finding in findings_of(document):
        assert in_order(finding, FINDING)
        assert isinstance(finding["size"], int)
        assert isinstance(finding["sentence"], str)
        assert finding["sentence"]


@pytest.mark.parametrize("name", REPORTS)
def test_it_is_json_and_comes_back_as_it_was(name):
    text = render_json(REPORTS[name])
    assert json.loads(text) == as_dict(REPORTS[name])
    assert text == render_json(build.all_reports()[name])
    assert "NaN" not in text
    assert "Infinity" not in text


def test_counts_are_the_papers():
    attribute = as_dict(build.income_report())["investigations"][0]["protected"][0]
    assert (attribute["discovered"], attribute["validated"], attribute["reported"]) == (59, 6, 3)
    assert attribute["untestable"] == 2


def test_tables():
    whole = next(findings_of(as_dict(build.income_report())))
    assert whole["table"]["rows"] == ["<=50K", ">50K"]
    assert whole["table"]["columns"] == ["Male", "Female"]
    assert whole["table"]["counts"] == [[11425, 7192], [4921, 883]]
    numbers = next(findings_of(as_dict(build.eta_report())))["table"]
    assert numbers["columns"] == ["n", "mean", "deviation", "min", "q1", "median", "q3", "max"]
    assert numbers["rows"] == ["North", "South", "East", "West"]
    assert numbers["values"][2] == [0, None, None, None, None, None, None, None]
    assert numbers["values"][0][:3] == [800, 18123.4, 900.0]
    assert (numbers["measured"], numbers["by"]) == ("price", "region")


def test_open_bounds_and_the_floor_of_p():
    whole, context = findings_of(as_dict(build.open_report()))
    assert whole["interval"] == [None, -0.5]
    assert whole["lower_open"] is True
    assert "upper_open" not in whole
    assert context["interval"] == [-0.85, None]
    assert context["upper_open"] is True
    assert context["p_value"] == 1e-300
    assert whole["p_value_raw"] == 1e-300
    assert context["ratio"] == 0.263


def test_open_bounds_of_the_other_intervals_have_their_own_flags():
    about = build.income_finding(interval_single=(-0.3, np.inf), ratio_interval=(0.1, np.inf))
    finding = list(findings_of(as_dict(build.report(build.attribute(build.income_population(), [about])))))[1]
    assert finding["interval_single_upper_open"] is True
    assert finding["ratio_interval_upper_open"] is True
    assert "upper_open" not in finding


def test_undefined_is_null():
    [whole] = findings_of(as_dict(build.undefined_report()))
    assert whole["effect"] is whole["interval"] is whole["interval_single"] is whole["p_value"] is None
    nan = build.income_population(effect=float("nan"), interval=(float("nan"), 1.0), p_value=float("nan"))
    [whole] = findings_of(as_dict(build.report(build.attribute(nan))))
    assert whole["effect"] is whole["interval"] is whole["p_value"] is None


def test_predicates_dates_and_numpy_numbers():
    where = [
        Predicate("since", Op.AT_MOST, dt.date(2020, 2, 29)),
        Predicate("job", Op.IN, ("a", "b")),
        Predicate("n", Op.ABOVE, np.float64(1.5)),
        Predicate("m", Op.IS, np.int64(3)),
        Predicate("z", Op.MISSING),
    ]
    about = dataclasses.replace(build.income_finding(), context=build.Context.of(where), effect=np.float64(-0.3))
    finding = list(findings_of(as_dict(build.report(build.attribute(build.income_population(), [about])))))[1]
    assert finding["context"] == [
        {"column": "job", "op": "in", "value": ["a", "b"]},
        {"column": "m", "op": "==", "value": 3},
        {"column": "n", "op": ">", "value": 1.5},
        {"column": "since", "op": "<=", "value": "2020-02-29"},
        {"column": "z", "op": "missing", "value": None},
    ]
    assert json.loads(json.dumps(finding))["effect"] == -0.3


def test_strata():
    [whole] = findings_of(as_dict(build.berkeley_report()))
    first, *_, last = whole["strata"]
    assert first["values"] == {"department": "A"}
    assert list(first)[:7] == ["values", "size", "effect", "interval", "interval_single", "p_value", "p_value_raw"]
    assert last["p_value"] is None


def test_files(tmp_path):
    paths = save(build.odd_report(), tmp_path / "new" / "folder", "über")
    assert [p.name for p in paths] == ["über.txt", "über.html", "über.json"]
    assert json.loads(paths[2].read_text("utf-8")) == build.odd_report().to_dict()
    assert sorted(p.name for p in paths[0].parent.iterdir()) == sorted(p.name for p in paths)


def test_writing_is_whole_or_not_at_all(tmp_path):
    target = tmp_path / "a.json"
    assert build.income_report().to_json(target) == target.read_text("utf-8")
    write_atomically(target, "second")
    assert target.read_text("utf-8") == "second"
    with pytest.raises(TypeError):
        write_atomically(target, 3)
    assert target.read_text("utf-8") == "second"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        write_atomically(tmp_path / "missing" / "a.txt", "x")
    with pytest.raises(InputError, match="it is a folder"):
        write_atomically(tmp_path, "x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="it is a file"):
        save(build.eta_report(), tmp_path / "file", "r")
