"""The report as JSON, schema 1: every number behind the other forms, for programs to read."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fairtest.model.finding import NEEDED_CHANCE, CountTable
from fairtest.numbers import P_FLOOR
from fairtest.reporting.words.impact import impact_ratios
from fairtest.reporting.words.reused import promise, whose_numbers
from fairtest.reporting.words.sentences import sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.model.context import Predicate
    from fairtest.model.finding import Finding, Group, GroupTable, Stratum, Table, Tested
    from fairtest.model.report import AttributeReport, Report, Reuse
    from fairtest.types import Interval

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
    return {
        "schema": SCHEMA,
        "fairtest": report.version,
        "data": _data(report),
        "settings": _settings(report),
        **({} if report.reuse is None else {"reuse": _reuse(report, report.reuse)}),
        "investigations": [_investigation(report)],
    }


def _data(report: Report) -> dict[str, Any]:
    data = report.data
    return {
        "name": data.name,
        "rows": int(data.rows),
        "train": int(data.train),
        "test": int(data.test),
        "fingerprint": data.fingerprint,
        "library": data.library,
        "columns": [_plain(asdict(column)) for column in data.columns],
    }


def _settings(report: Report) -> dict[str, Any]:
    settings = _plain(asdict(report.settings))
    first = {name: settings[name] for name in _SETTINGS_FIRST}
    return {**first, **settings}


def _reuse(report: Report, reuse: Reuse) -> dict[str, Any]:
    """Return where a reusable test set stands, with what that means in words."""
    words = {"numbers": whose_numbers(report), "promise": promise(report, reuse)}
    return {**_plain(asdict(reuse)), **words}


def _investigation(report: Report) -> dict[str, Any]:
    return {
        "kind": report.kind,
        "output": report.output,
        "favourable": _plain(report.favourable),
        "explanatory": list(report.explanatory),
        **({} if report.explains is None else {"explains": dict(zip(("run", "groups"), report.explains, strict=True))}),
        "protected": [_attribute(report, attribute) for attribute in report.attributes],
        "favourable_is": None if report.favourable is None else report.favourable_is,
        "family": report.corrected_for,
        "notes": list(report.notes),
        "repeat": report.repeat or None,
        "versions": dict(report.versions),
        **_errors(report),
        **_names(report),
        **({} if report.labels is None else {"labels": _plain(asdict(report.labels))}),
    }


def _names(report: Report) -> dict[str, Any]:
    """Return the user's words; nothing where there are none."""
    names = report.names
    groups = [
        {"column": column, "value": _plain(value), "words": words}
        for column, labels in names.labels.items()
        for value, words in labels.items()
    ]
    if not groups and not names.columns and names.outcome is None and names.people == "people":
        return {}
    said = {"people": names.people, "outcome": names.outcome, "columns": dict(names.columns), "groups": groups}
    return {"names": said}


def _errors(report: Report) -> dict[str, Any]:
    """Return what an error profile is about; nothing for other kinds."""
    if report.errors is None:
        return {}
    note = report.errors
    about = None if note.among is None else {"column": note.truth, "op": "==", "value": _plain(note.among[0])}
    return {
        "ground_truth": note.truth,
        "error": note.error,
        "notion": note.notion,
        "measured": note.measured,
        "positive": _plain(note.positive),
        "among": about,
    }


def _attribute(report: Report, attribute: AttributeReport) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "reference": _plain(attribute.reference),
        "metric": attribute.metric,
        "looked_at": int(attribute.looked_at),
        "discovered": int(attribute.tested),
        "validated": int(attribute.significant),
        "reported": int(attribute.reported),
        "left_out": int(attribute.left_out),
        "population": _finding(report, attribute, attribute.population),
        "findings": [_finding(report, attribute, finding) for finding in attribute.findings],
        "untestable": int(attribute.untestable),
        "groups": _plain(attribute.groups),
        "outside": int(attribute.outside),
        "detectable": _plain(attribute.detectable),
        "significant_strata": int(attribute.significant_strata),
        "others": [_other(other) for other in attribute.others],
        "unlisted": int(attribute.unlisted),
        "tree": _tree(attribute),
        **({} if report.labels is None else _labels(report, attribute)),
    }


def _other(other: Tested) -> dict[str, Any]:
    """Return a context that was tested and is no finding."""
    return {
        "context": [_predicate(predicate) for predicate in other.context.predicates],
        "size": int(other.size),
        "effect": _plain(other.effect),
        **_interval("interval", other.interval),
        "p_value": _p_value(other.p_value),
        "significant": bool(other.significant),
        "guided": bool(other.guided),
    }


def _tree(attribute: AttributeReport) -> list[dict[str, Any]]:
    """Return the tree in its order: what each node is, by its place among findings or others, and its parent."""
    if attribute.labels:
        return []
    places = {id(f): {"finding": i} for i, f in enumerate(attribute.findings)}
    places |= {id(o): {"other": i} for i, o in enumerate(attribute.others)}
    return [
        {"parent": None if node.parent < 0 else node.parent, **places.get(id(node.part), {"population": True})}
        for node in attribute.tree
    ]


def _labels(report: Report, attribute: AttributeReport) -> dict[str, Any]:
    """Return what Discovery adds: the labels tested over everybody that are not findings, and how many were rare."""
    others = [f for f in attribute.labels if not f.significant]
    return {"rare": attribute.rare, "unconfirmed": [_finding(report, attribute, f) for f in others]}


def _finding(report: Report, attribute: AttributeReport, finding: Finding) -> dict[str, Any]:
    return {
        "context": [_predicate(predicate) for predicate in finding.predicates],
        "label": finding.label,
        **_numbers(finding),
        "table": _table(finding.table),
        "strata": [_stratum(stratum) for stratum in finding.strata],
        "sentence": sentence_of(report, attribute, finding),
        "output": finding.output,
        "metric": finding.metric,
        "significant": bool(finding.significant),
        "ratio": _plain(finding.ratio),
        **_interval("ratio_interval", finding.ratio_interval),
        "gap": _plain(finding.gap),
        **_interval("gap_interval", finding.gap_interval),
        "impact_ratios": _plain(impact_ratios(report, finding)),
        "folded": finding.folded,
        "verdict": None if finding.verdict is None else finding.verdict.outcome.value,
        "people_needed": None if finding.verdict is None else finding.verdict.needed,
        "people_needed_chance": NEEDED_CHANCE if finding.verdict is not None and finding.verdict.needed else None,
        "notes": list(finding.notes),
    }


def _stratum(stratum: Stratum) -> dict[str, Any]:
    return {
        "values": {name: _plain(value) for name, value in stratum.values.items()},
        **_numbers(stratum),
        "table": _table(stratum.table),
    }


def _numbers(part: Finding | Stratum) -> dict[str, Any]:
    return {
        "size": int(part.size),
        "effect": _plain(part.effect),
        **_interval("interval", part.interval),
        **_interval("interval_single", part.interval_single),
        "p_value": _p_value(part.p_value),
        "p_value_raw": _p_value(part.p_value_raw),
    }


def _interval(name: str, interval: Interval | None) -> dict[str, Any]:
    """Return the interval under its name, and which of its ends is open.

    The flags of ``interval`` are ``lower_open`` and ``upper_open``; those of the others have the interval's name
    before them.
    """
    if interval is None or any(math.isnan(bound) for bound in interval):
        return {name: None}
    prefix = "" if name == "interval" else f"{name}_"
    ends = zip(("lower_open", "upper_open"), interval, strict=True)
    return {name: _plain(interval), **{prefix + end: True for end, bound in ends if math.isinf(bound)}}


def _p_value(p: float | None) -> float | None:
    return None if p is None or math.isnan(p) else max(float(p), P_FLOOR)


def _predicate(predicate: Predicate) -> dict[str, Any]:
    return {"column": predicate.column, "op": str(predicate.op), "value": _plain(predicate.value)}


def _table(table: Table) -> dict[str, Any]:
    if isinstance(table, CountTable):
        return {
            "rows": _plain(table.rows),
            "columns": _plain(table.columns),
            "counts": [[int(cell) for cell in row] for row in table.counts],
            "output": table.output,
            "protected": table.protected,
            **_rates(table),
        }
    return _group_table(table)


def _rates(table: CountTable) -> dict[str, Any]:
    """Return the share of each group that has each output, with its Wilson interval at 95 %."""
    return {
        "rates": [[None if r is None else r.share for r in row] for row in table.rates],
        "rate_intervals": [[None if r is None else list(r.interval) for r in row] for row in table.rates],
    }


def _group_table(table: GroupTable) -> dict[str, Any]:
    return {
        "rows": [_plain(group.name) for group in table.rows],
        "columns": _GROUP_COLUMNS,
        "values": [_plain(_group_values(group)) for group in table.rows],
        "measured": table.measured,
        "by": table.by,
        "whiskers": [_plain(group.whiskers) for group in table.rows],
        "beyond": [group.beyond for group in table.rows],
        **_line(table),
    }


def _line(table: GroupTable) -> dict[str, Any]:
    """Return the fitted line and where each bin stands on it; nothing where the groups are no bins of a number."""
    if table.line is None:
        return {}
    return {
        "at": [_plain(group.at) for group in table.rows],
        "line": {"intercept": _plain(table.line.intercept), "slope": _plain(table.line.slope)},
    }


def _group_values(group: Group) -> Iterable[Any]:
    return (int(group.size), group.mean, group.deviation, *(group.quantiles or (None,) * 5))


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
