"""Everything that must be repeated to get the same report: the data and its columns, the settings, the versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fairtest.model.names import clean_line, level_words
from fairtest.numbers import count
from fairtest.reporting.words.titles import metric_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.described_data import ColumnNote
    from fairtest.model.report import AttributeReport, LabelSettings, Report, Settings


def settings_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the settings of a report: what each is called, and what it is."""
    data = report.data
    people = "" if data.people == data.rows else f" of {count(data.people)} people"
    sizes = f"{count(data.rows)} rows{people}; training {count(data.train)}, test {count(data.test)}"
    yield "Data", f"{clean_line(data.name)}, {sizes}"
    yield "Fingerprint", data.fingerprint
    yield "Settings", " · ".join(_name_settings(report.settings))
    for attribute in report.attributes:
        yield report.names.column(attribute.name), " · ".join(_name_roles(report, attribute))
    if report.labels is not None:
        _, *others = _name_settings(report.labels)
        yield "Labels", " · ".join([count(report.labels.number), *others])
    libraries = "".join(f", {name} {version}" for name, version in report.versions)
    yield "Version", f"FairTest {report.version}, report schema 1{libraries}"
    if report.repeat:
        yield "Repeat it", report.repeat


def _name_settings(settings: Settings | LabelSettings) -> Iterator[str]:
    for name, value in asdict(settings).items():
        if value is not None:
            yield f"{name.replace('_', ' ')} {f'{value:.6g}' if isinstance(value, float) else value}"


def _name_roles(report: Report, attribute: AttributeReport) -> Iterator[str]:
    yield f"metric {metric_name(report, attribute.metric)}"
    if attribute.reference is not None:
        yield f"reference group {level_words(attribute.reference)}"
    if report.favourable is not None:
        yield f"effects are about {clean_line(report.measured)} = {level_words(report.favourable)}"


# Columns ----------------------------------------------------------------------------------------------------------


def columns_left_out(report: Report) -> list[tuple[str, str]]:
    """Return the columns that were not used, and why."""
    return [(clean_line(c.name), clean_line(c.note or c.reason)) for c in report.data.columns if c.role == "left out"]


def columns_used(report: Report) -> list[tuple[str, str]]:
    """Return the columns that were used: in which role, taken for what and why, how many values are missing."""
    return [(clean_line(c.name), _column_words(c)) for c in report.data.columns if c.role != "left out"]


def _column_words(column: ColumnNote) -> str:
    missing = f"{count(column.missing)} missing" if column.missing else ""
    taken = f"{column.role}, {column.kind} ({column.reason})"
    return clean_line("; ".join(filter(None, (taken, column.note, missing))))
