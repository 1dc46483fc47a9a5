"""The report as JSON, schema 1: every number behind the other formats, for programs to read."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairtest.model.finding import NEEDED_CHANCE, CountTable
from fairtest.reporting.formats.frame import floor_p_value
from fairtest.reporting.words.headline import answers
from fairtest.reporting.words.impact import impact_ratios
from fairtest.reporting.words.method import reuse_numbers, reuse_promise
from fairtest.reporting.words.sentences import sentence_of

if TYPE_CHECKING:
    from fairtest.model.comparison import Comparison, GroupGap
    from fairtest.model.context import Predicate
    from fairtest.model.error_rates import GroupErrors
    from fairtest.model.finding import Finding, Stratum, Table, Tested
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, ErrorNote, Report, Reuse

SCHEMA = 1
_GROUP_COLUMNS = ["n", "mean", "deviation", "min", "q1", "median", "q3", "max"]
_SETTINGS_FIRST = (
    "conf", "level", "budget", "set", "train_size", "seed", "preset", "max_depth", "min_size", "correction", "search",
)  # fmt: skip


def render_json(report: Report) -> str:
    """Return the report as JSON text; the same report gives the same bytes."""
    return json.dumps(as_dict(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_dict(report: Report) -> dict[str, Any]:
    """Return the report as dictionaries, lists, strings, numbers, booleans and None."""
    settings = asdict(report.settings)
    made = {
        "schema": SCHEMA,
        "fairtest": report.version,
        **({"warnings": report.warnings} if report.warnings else {}),
        "data": {key: value for key, value in asdict(report.data).items() if key != "design" or value is not None},
        "settings": {name: settings[name] for name in _SETTINGS_FIRST} | settings,
        **({} if report.reuse is None else {"reuse": _reuse(report, report.reuse)}),
        "investigations": [_investigation(report)],
    }
    return {key: _plain(value) for key, value in made.items()}


def _pick(source: Any, *names: str) -> dict[str, Any]:
    """Return some attributes of an object under their own names."""
    return {name: getattr(source, name) for name in names}


def _reuse(report: Report, reuse: Reuse) -> dict[str, Any]:
    """Return the state of a reusable test set, and what it means in words."""
    return asdict(reuse) | {"numbers": reuse_numbers(report), "promise": reuse_promise(report, reuse)}


def _investigation(report: Report) -> dict[str, Any]:
    return {
        **_pick(report, "kind", "output"),
        "favourable": _good_value(report),
        "explanatory": report.explanatory,
        **({} if report.explains is None else {"explains": dict(zip(("run", "groups"), report.explains, strict=True))}),
        "protected": [_attribute(report, attribute) for attribute in report.attributes],
        "favourable_is": None if report.favourable is None else report.favourable_is,
        "event": report.favourable,
        "answers": answers(report),
        "family": report.corrected_for,
        "notes": report.notes,
        "repeat": report.repeat or None,
        "versions": dict(report.versions),
        **({} if report.errors is None else _errors(report.errors)),
        **_names(report.names),
        **({} if report.labels is None else {"labels": asdict(report.labels)}),
    }


def _good_value(report: Report) -> Any:
    """Return the favourable value; of an adverse event, the other one."""
    table = report.populations[0].table if report.populations else None
    if report.good_row == 0 and isinstance(table, CountTable) and len(table.rows) == 2:
        return table.rows[0]
    return report.favourable


def _names(names: Names) -> dict[str, Any]:
    """Return the user's words; nothing where there are none."""
    groups = [
        {"column": column, "value": value, "words": words}
        for column, labels in names.labels.items()
        for value, words in labels.items()
    ]
    if not groups and not names.columns and names.outcome is None and names.people == "people":
        return {}
    return {"names": {**_pick(names, "people", "outcome"), "columns": dict(names.columns), "groups": groups}}


def _errors(note: ErrorNote) -> dict[str, Any]:
    """Return what an error profile is about."""
    among = None if note.among is None else {"column": note.truth, "op": "==", "value": note.among[0]}
    return {"ground_truth": note.truth, **_pick(note, "error", "notion", "measured", "positive"), "among": among}


def _attribute(report: Report, attribute: AttributeReport) -> dict[str, Any]:
    def as_finding(finding: Finding) -> dict[str, Any]:
        return _finding(report, attribute, finding)

    unconfirmed = [as_finding(f) for f in attribute.labels if not f.significant]
    return {
        **_pick(attribute, "name", "reference", "metric", "looked_at"),
        "discovered": attribute.tested,
        "validated": attribute.significant,
        **_pick(attribute, "reported", "left_out"),
        "population": as_finding(attribute.population),
        "findings": [as_finding(finding) for finding in attribute.findings],
        **_pick(attribute, "untestable", "groups", "outside", "detectable", "significant_strata"),
        "detectable_inside": _pair(attribute.detectable_inside, "people", "effect"),
        "population_on": "training and test set" if attribute.named else "test set",
        "everywhere": attribute.everywhere,
        "elsewhere": None if attribute.elsewhere is None else asdict(attribute.elsewhere),
        "error_rates": [_group_errors(errors) for errors in attribute.errors],
        "others": [_other(other) for other in attribute.others],
        "unlisted": attribute.unlisted,
        "tree": _tree(attribute),
        **({} if report.labels is None else {"rare": attribute.rare, "unconfirmed": unconfirmed}),
    }


def _group_errors(errors: GroupErrors) -> dict[str, Any]:
    """Return the usual rates of a prediction in one group, each with its Wilson interval at 95 %."""
    rates = errors.rates
    return {
        "group": errors.group,
        "cells": dict(zip(("tn", "fp", "fn", "tp"), errors.cells, strict=True)),
        **({} if errors.people is None else {"people": errors.people}),
        "rates": {name: None if known is None else known.share for name, known in rates.items()},
        "intervals": {name: None if known is None else known.interval for name, known in rates.items()},
    }


def _pair(values: tuple[Any, Any] | None, *names: str) -> dict[str, Any] | None:
    return None if values is None else dict(zip(names, values, strict=True))


def _other(other: Tested) -> dict[str, Any]:
    """Return a context that was tested and is no finding."""
    return {
        "context": [_predicate(predicate) for predicate in other.context.predicates],
        **_pick(other, "size", "effect"),
        **_interval(other, "interval"),
        "p_value": floor_p_value(other.p_value),
        **_pick(other, "significant", "guided"),
        "part_of": None if other.part_of is None else [_predicate(predicate) for predicate in other.part_of.predicates],
    }


def _tree(attribute: AttributeReport) -> list[dict[str, Any]]:
    """Return the tree in its order: what each node is, by its index among findings or others, and its parent."""
    if attribute.labels:
        return []
    indices = {id(f): {"finding": i} for i, f in enumerate(attribute.findings)}
    indices |= {id(o): {"other": i} for i, o in enumerate(attribute.others)}
    return [
        {"parent": None if node.parent < 0 else node.parent, **indices.get(id(node.part), {"population": True})}
        for node in attribute.tree
    ]


def _finding(report: Report, attribute: AttributeReport, finding: Finding) -> dict[str, Any]:
    return {
        "context": [_predicate(predicate) for predicate in finding.predicates],
        "label": finding.label,
        **_numbers(finding),
        "table": _table(finding.table),
        "strata": [{"values": dict(s.values), **_numbers(s), "table": _table(s.table)} for s in finding.strata],
        "sentence": sentence_of(report, attribute, finding),
        "comparisons": [_comparison(comparison) for comparison in finding.comparisons],
        **_pick(finding, "output", "metric", "significant", "ratio"),
        **_interval(finding, "ratio_interval"),
        "gap": finding.gap,
        **_interval(finding, "gap_interval"),
        "impact_ratios": impact_ratios(report, finding),
        "folded": finding.folded,
        "inside": None
        if finding.inside is None
        else [_predicate(predicate) for predicate in finding.inside.predicates],
        "confirmed": list(finding.confirmed) or None,
        "verdict": None if finding.verdict is None else finding.verdict.outcome.value,
        "people_needed": None if finding.verdict is None else finding.verdict.needed,
        "people_needed_chance": NEEDED_CHANCE if finding.verdict is not None and finding.verdict.needed else None,
        "notes": finding.notes,
        **{name: value for name, value in _pick(finding, "rows", "weight").items() if value is not None},
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    """Return several groups beside the reference."""
    return {
        **_pick(comparison, "reference", "output", "size", "value"),
        "gaps": [
            {
                **_pick(gap, "group", "size", "value", "gap", "before"),
                **_interval(gap, "interval"),
                **_interval(gap, "interval_single"),
                "p_value": floor_p_value(gap.p_value),
                "p_value_raw": floor_p_value(gap.p_value_raw),
                "significant": gap.significant,
                "ratio": gap.ratio,
                **_interval(gap, "ratio_interval"),
                "median_gap": gap.median_gap,
                **_interval(gap, "median_gap_interval"),
            }
            for gap in comparison.gaps
        ],
        "small": [{"group": group, "size": size} for group, size in comparison.small],
    }


def _numbers(part: Finding | Stratum) -> dict[str, Any]:
    return {
        **_pick(part, "size", "effect"),
        **_interval(part, "interval"),
        **_interval(part, "interval_single"),
        "p_value": floor_p_value(part.p_value),
        "p_value_raw": floor_p_value(part.p_value_raw),
    }


def _interval(part: Finding | Stratum | Tested | GroupGap, name: str) -> dict[str, Any]:
    """Return an interval under its name, and which of its ends is open.

    The flags of ``interval`` are ``lower_open`` and ``upper_open``; those of the others have the interval's name
    before them.
    """
    interval = getattr(part, name)
    if interval is None or any(math.isnan(bound) for bound in interval):
        return {name: None}
    prefix = "" if name == "interval" else f"{name}_"
    ends = zip(("lower_open", "upper_open"), interval, strict=True)
    return {name: interval, **{prefix + end: True for end, bound in ends if math.isinf(bound)}}


def _predicate(predicate: Predicate) -> dict[str, Any]:
    return {"column": predicate.column, "op": str(predicate.op), "value": predicate.value}


def _table(table: Table) -> dict[str, Any]:
    """Return counts with the share of each group that has each output and its Wilson interval at 95 %, or numbers."""
    if isinstance(table, CountTable):
        return {
            **_pick(table, "rows", "columns", "counts", "output", "protected"),
            "rates": [[None if r is None else r.share for r in row] for row in table.rates],
            "rate_intervals": [[None if r is None else r.interval for r in row] for row in table.rates],
            **({} if table.worth == 1.0 else {"worth": table.worth}),
        }
    groups = table.rows
    line = {"at": [group.at for group in groups], "line": asdict(table.line)} if table.line is not None else {}
    return {
        "rows": [group.name for group in groups],
        "columns": _GROUP_COLUMNS,
        "values": [(g.size, g.mean, g.deviation, *(g.quantiles or (None,) * 5)) for g in groups],
        **_pick(table, "measured", "by"),
        "whiskers": [group.whiskers for group in groups],
        "beyond": [group.beyond for group in groups],
        "median_intervals": [group.median_interval for group in groups],
        **line,
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: dates in ISO form, what is not a finite number as None."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if isinstance(number, (str, bool, int)) else str(number)
