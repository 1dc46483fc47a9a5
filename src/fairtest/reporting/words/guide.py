"""What stands around the findings of every report: how sure, what was left out, how it was done, how to repeat it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fairtest.inference.multiplicity.corrections import corrections
from fairtest.metrics.choice import reported_metric
from fairtest.model.names import level_words, one_line
from fairtest.numbers import count
from fairtest.reporting.words.phrases import distinct_columns, joined
from fairtest.reporting.words.reused import how_done, promise, whose_numbers
from fairtest.reporting.words.wording import headline, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import AttributeReport, ColumnNote, Report

_FALSE_DISCOVERY = ("benjamini", "bh", "by", "fdr")


def title(report: Report) -> str:
    """Return a title for a window or a file."""
    attributes = joined([report.names.column(a.name) for a in report.attributes]) if report.attributes else "nothing"
    return f"FairTest report: {report.names.column(report.subject)} by {attributes}, {one_line(report.data.name)}"


def eyebrow(report: Report) -> str:
    """Return the line above the answer: kind, data, people, attributes and output."""
    written = report.names.written
    names = ", ".join(written(a.name) for a in report.attributes)
    given = f", given {', '.join(map(written, report.explanatory))}" if report.explanatory else ""
    people = report.names.number_of(report.data.rows)
    asked = f"{names} → {written(report.subject)}{given}"
    return " · ".join(("FairTest", report.kind, one_line(report.data.name), people, asked))


def metric_name(report: Report, metric: str) -> str:
    """Return a metric's name as the paper writes it, with ``COND-`` given an explanatory attribute."""
    return f"COND-{one_line(metric)}" if report.explanatory else one_line(metric)


def metric_label(report: Report, metric: str) -> str:
    """Return what a metric measures, in a word or two, and its name."""
    label = one_line(reported_metric(metric).title)
    return (
        f"{label}, within {' and '.join(map(report.names.column, report.explanatory))}" if report.explanatory else label
    )


def metric_notes(report: Report) -> list[tuple[str, str]]:
    """Return for each metric of the report, and for the errors it measures, the name and what it means."""
    used = dict.fromkeys(f.metric for a in report.attributes for f in (a.population, *a.findings))
    errors = []
    if report.errors is not None:
        asked = (report.errors.notion or "").replace("-", " ") or report.subject
        errors = [(one_line(asked), one_line(report.errors.meaning))]
    return errors + [(one_line(metric.title), one_line(metric.words.meaning)) for metric in map(reported_metric, used)]


def funnel(report: Report) -> list[tuple[int, str]]:
    """Return the four numbers of a report, from looked at to reported, with what each counts."""
    settings = report.settings
    shown_populations = sum(f.significant for f in report.populations)
    besides = f", {count(shown_populations)} of them the whole population" if shown_populations else ""
    them = "it" if report.reported == 1 else "them"
    return [
        _first_step(report),
        (report.tested, f"hypotheses {_tested(report)} the test set, populations included"),
        (
            report.significant,
            f"{_significant(report)} at level {_level(settings.level)} after correction ({settings.correction})",
        ),
        (
            report.reported,
            f"reported: no larger group around {them} shows as strong a link{besides}"
            if report.reported
            else "reported",
        ),
    ]


def _first_step(report: Report) -> tuple[int, str]:
    """Return what a report begins with: what was looked at, or the groups of the run that it explains."""
    if report.explains is not None:
        run, number = report.explains
        groups = "group" if number == 1 else "groups"
        only = report.labels is None and number == len(report.attributes)
        which = "everyone; no other was significant" if only else "everyone, and where the link was significant"
        return number, f"{groups} of run {run} asked about again: {which}"
    if undivided(report):
        return report.looked_at, "groups fixed beforehand"
    candidates = "candidate groups" if report.labels is None else "labels in candidate groups"
    return report.looked_at, f"{candidates} looked at on the training set"


def _tested(report: Report) -> str:
    return "tested on" if report.reuse is None else "put to"


def _significant(report: Report) -> str:
    return "significant" if report.reuse is None else "confirmed"


def _level(level: float) -> str:
    return f"{level:.4g}"


def per_cent(share: float) -> str:
    """Return a confidence or a level in per cent with the digits it has."""
    return f"{round(100 * share, 2):g} %"


def how_sure(report: Report) -> str:
    """Return what the level of the tests promises, and what it does not."""
    data, settings = report.data, report.settings
    called, number_of = report.names.column, report.names.number_of
    output = "a label" if report.kind == "discovery" else called(report.subject)
    by = joined([called(a.name) for a in report.attributes] or ["nothing"], "or")
    text = f"The groups were chosen on {number_of(data.train)} and tested on {count(data.test)} others. "
    if report.explains is not None:
        text = f"The groups are those of run {report.explains[0]}, tested again on {number_of(data.test)} new to it. "
    if undivided(report):
        text = f"All {number_of(data.rows)} were tested, in groups that were fixed beforehand. "
    if report.reuse is not None:
        text = f"{whose_numbers(report)} {promise(report, report.reuse)} "
    elif settings.correction.lower().startswith(_FALSE_DISCOVERY):
        text += f"Of the reported links at most {per_cent(settings.level)} are expected to be flukes. "
    else:
        text += f"The chance that even one reported link is a fluke is at most {per_cent(settings.level)}"
        text += (
            f", and {per_cent(1 - settings.conf)} over {'both' if settings.budget == 2 else f'all {settings.budget}'} "
            "test sets. "
            if settings.budget > 1
            else ". "
        )
    if any(a.inside for a in report.attributes):
        text += (
            "That a link is stronger than in the whole population is the best reading of the data, not a separate "
            "test: where intervals overlap it may not be. "
        )
    return (
        text + f"A finding shows that {output} goes with {by} in a group; it does not show why, "
        "nor that anyone acted wrongly."
    )


def left_out(report: Report) -> list[tuple[str, str]]:
    """Return what is not shown: how much of it, and why."""
    lines = []
    if weak := max(report.tested - report.significant, 0):
        people = report.names.people
        why = f"no link seen, or not enough {people} to see one"
        if report.explanatory:
            alike = distinct_columns(report.explanatory, report.names)
            why += f"; groups of {people} with {alike} count here too, and are shown below"
        lines.append((_many(weak, "hypothesis", "hypotheses"), f"not {_significant(report)}: {why}"))
    if covered := max(report.significant - report.reported, 0):
        copies = sum(f.folded for f in report.findings)
        them = "it" if covered == 1 else "them"
        why = f"{_significant(report)}, but no stronger than a larger group that contains {them}, or not visibly so"
        if copies:
            shared = f"with which they share {report.names.people} ({count(copies)})"
            why += f", or a link that is that of a group shown, {shared}"
        lines.append((_many(covered, "group"), why))
    if untestable := sum(a.untestable for a in report.attributes):
        lines.append(
            (
                _many(untestable, "group"),
                f"could not be measured on the {measured_set(report)}: a group of people absent, or a column that does "
                "not vary",
            )
        )
    lines += [_missing_people(report, a) for a in report.attributes if a.left_out]
    lines += list(_others(report))
    return lines + _rare_labels(report)


def left_out_line(report: Report) -> str:
    """Return in a line what of the tested is not reported: it adds up with the funnel."""
    weak, covered = max(report.tested - report.significant, 0), max(report.significant - report.reported, 0)
    parts = []
    if weak:
        parts.append(f"{_many(weak, 'hypothesis', 'hypotheses')} not {_significant(report)}")
    if covered:
        parts.append(f"{count(covered)} {_significant(report)} but no stronger than a group that contains them")
    people = max((a.left_out for a in report.attributes), default=0)
    if people:
        parts.append(f"{report.names.number_of(people)} with a value missing")
    return f"Left out: {', '.join(parts)}." if parts else "Nothing that was tested is left out."


def _rare_labels(report: Report) -> list[tuple[str, str]]:
    """Return how many labels were too rare to be looked at, for each attribute where that differs."""
    if report.labels is None:
        return []
    few = f"that fewer than about {report.names.number_of(report.labels.min_people)} have, or have not (min people)"
    rare = {a.rare: a for a in report.attributes if a.rare}
    named = len(report.attributes) > 1 and len({a.rare for a in report.attributes}) > 1
    return [
        (_many(number, "label"), few + (f", among those with {report.names.column(a.name)}" if named else ""))
        for number, a in rare.items()
    ]


def _others(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the people whom an error profile is not about."""
    if report.errors is None or report.errors.among is None:
        return
    value, other = (level_words(v) for v in report.errors.among)
    truth, subject = one_line(report.errors.truth), one_line(report.subject)
    for attribute in (a for a in report.attributes if a.outside):
        by = f" (by {one_line(attribute.name)})" if len(report.attributes) > 1 else ""
        who = f"of the {measured_set(report)} have {truth} = {other}"
        why = f"{who}: the {subject} is about {report.names.people} with {truth} = {value}{by}"
        yield report.names.number_of(attribute.outside), why


def _many(number: int, one: str, several: str | None = None) -> str:
    return f"{count(number)} {one if number == 1 else several or one + 's'}"


def _missing_people(report: Report, attribute: AttributeReport) -> tuple[str, str]:
    truth = () if report.errors is None else (report.errors.truth,)
    names = dict.fromkeys((attribute.name, report.output, *truth, *report.explanatory))
    columns = joined([report.names.written(c) for c in names], "or")
    return report.names.number_of(attribute.left_out), f"of the {measured_set(report)} have no value for {columns}"


def left_out_columns(report: Report) -> list[tuple[str, str]]:
    """Return the columns that were not used, and why."""
    unused = [column for column in report.data.columns if column.role == "left out"]
    return [(one_line(c.name), one_line(c.note or c.reason)) for c in unused]


def columns_used(report: Report) -> list[tuple[str, str]]:
    """Return the columns that were used: in which role, taken for what and why, how many values are missing."""
    return [(one_line(c.name), _understood(c)) for c in report.data.columns if c.role != "left out"]


def _understood(column: ColumnNote) -> str:
    missing = f"{count(column.missing)} missing" if column.missing else ""
    return one_line("; ".join(filter(None, (f"{column.role}, {column.kind} ({column.reason})", column.note, missing))))


def method(report: Report) -> str:
    """Return how the report came about, in a paragraph."""
    data, settings = report.data, report.settings
    sets = (
        "one test set"
        if settings.budget == 1
        else f"{settings.budget} test sets, of which this is number {settings.set}"
    )
    number_of, people = report.names.number_of, report.names.people
    sizes = f"{number_of(data.train)} to look for groups, and {sets} ({number_of(data.test)})"
    alike = distinct_columns(report.explanatory, report.names) if report.explanatory else ""
    within = f", comparing only {people} with {alike}" if report.explanatory else ""
    if report.reuse is not None:
        return how_done(report, report.reuse, _corrected(report), within)
    ordered = "simultaneous" if settings.preset == "paper" else "single"
    chosen = (
        f"The {number_of(data.rows)} were divided at random: {sizes}. "
        f"On the first, {_searched(report)}{within}. "
        f"On the test set, untouched until then, each was tested once. "
    )
    if undivided(report):
        chosen = (
            f"All {number_of(data.rows)} were used for one question. The groups are all those that a few "
            f"conditions on the columns make, whatever the output; each was tested once{within}. "
        )
    return (
        f"{chosen}"
        f"{_corrected(report)} "
        f"The first interval of an effect holds simultaneously for everything tested; the single one holds for that "
        f"effect alone; both stand at {per_cent(1 - settings.level)}. {_sharper(report)}"
        f"Findings are ordered by the bound of their {ordered} interval nearest to no link, so that a small group does "
        f"not lead on luck. Nothing was added to any count."
    )


def _sharper(report: Report) -> str:
    """Return why a link is called clear though its interval has no link in it; empty where that does not happen."""
    found, level = (*report.populations, *report.findings), report.settings.level
    if not any(_reaches_none(f, level) or any(_reaches_none(s, level) for s in f.strata) for f in found):
        return ""
    return (
        "The tests are sharper than the simultaneous intervals: they go step by step, and those of groups with more "
        "evidence in the training set have a larger level. So a link can be clear though this interval reaches past "
        "none. "
    )


def _reaches_none(part: Finding | Stratum, level: float) -> bool:
    if part.interval is None or part.p_value is None or part.p_value > level:
        return False
    low, high = part.interval
    return low <= 0 <= high


def _searched(report: Report) -> str:
    """Return what was done with the training set."""
    if report.explains is not None:
        return (
            f"groups had been searched for; everyone, and those that were significant in run {report.explains[0]}, are "
            "asked about again"
        )
    if report.labels is None:
        return "groups were searched for in which the link between attribute and output is strong"
    return (
        "groups were searched for in which some labels stand out; in each, and over everybody, the attribute was "
        f"regressed on the labels that show a link of their own, and the {count(report.labels.top_k)} that add most to "
        "the others were kept"
    )


def measured_set(report: Report) -> str:
    """Return the set that sizes, tables and estimates are of."""
    return "test set" if report.reuse is None else "training set"


def share_of(report: Report, finding: Finding) -> float | None:
    """Return what part of the set that was measured a group is."""
    people = report.data.test if report.reuse is None else report.data.train
    return finding.size / people if people else None


def interval_level(report: Report) -> str:
    """Return the confidence of the simultaneous intervals; on a reusable test set, of those of all questions."""
    return per_cent(1 - report.settings.level if report.reuse is None else report.settings.conf)


def stratum_words(report: Report, stratum: Stratum) -> str:
    """Return in a few words what one stratum says."""
    return (
        verdict(stratum, report.settings.level, report.names)
        if report.reuse is None
        else "of the training set, not tested"
    )


def undivided(report: Report) -> bool:
    """Whether everybody was tested, without a training set."""
    return report.data.rows == report.data.train == report.data.test


def _corrected(report: Report) -> str:
    """Return how many p-values were corrected together, and how."""
    how = _correction(report.settings.correction)
    if report.corrected_for == 1:
        return f"There is one p-value, and nothing to correct for ({how})."
    others = ", those of the other questions put to the same set among them" if report.family > report.tested else ""
    return f"{_many(report.corrected_for, 'p-value').capitalize()} were corrected together{others}: {how}."


def _correction(name: str) -> str:
    """Return what a correction does, in words."""
    return corrections[name].title if name in corrections else name


def settings_lines(report: Report) -> list[tuple[str, str]]:
    """Return everything that must be repeated to get the same report."""
    data = report.data
    lines = [
        (
            "Data",
            f"{one_line(data.name)}, {count(data.rows)} rows; training {count(data.train)}, test {count(data.test)}",
        ),
        ("Fingerprint", data.fingerprint),
        ("Settings", " · ".join(_setting(k, v) for k, v in asdict(report.settings).items() if v is not None)),
        *[(report.names.column(a.name), _roles(report, a)) for a in report.attributes],
        *_label_settings(report),
    ]
    others = "".join(f", {name} {version}" for name, version in report.versions)
    lines.append(("Version", f"FairTest {report.version}, report schema 1{others}"))
    if report.repeat:
        lines.append(("Repeat it", report.repeat))
    return lines


def _label_settings(report: Report) -> list[tuple[str, str]]:
    if report.labels is None:
        return []
    given = {k: v for k, v in asdict(report.labels).items() if k != "number" and v is not None}
    return [("Labels", " · ".join([count(report.labels.number), *(_setting(k, v) for k, v in given.items())]))]


def _setting(name: str, value: object) -> str:
    return f"{name.replace('_', ' ')} {f'{value:.6g}' if isinstance(value, float) else value}"


def _roles(report: Report, attribute: AttributeReport) -> str:
    parts = [f"metric {metric_name(report, attribute.metric)}"]
    if attribute.reference is not None:
        parts.append(f"reference group {level_words(attribute.reference)}")
    if report.favourable is not None:
        parts.append(f"effects are about {one_line(report.measured)} = {level_words(report.favourable)}")
    return " · ".join(parts)


def answer(report: Report) -> str:
    """Return the headline as a sentence."""
    return headline(report) + "."
