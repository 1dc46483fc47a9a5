"""What a run of each workload leaves behind: the numbers that pages are written from, as plain data.

A record has ``table`` (the workload's line of the one table), ``facts`` (what its page says), ``printed`` (what its
script prints), and ``figures`` (those of its reports). Pages and conclusions are made of what is stored.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from examples import (
    adult,
    berkeley,
    error_story,
    healthcare,
    image_tagger,
    microbenchmark,
    recommender,
    shoppers,
    staples,
)
from examples.command import Clock, Sources, shown
from fairtest.datasets import planted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    import fairtest as ft

__all__ = ["WORKLOADS", "Record", "Workload", "facts_of"]

Facts = dict[str, Any]
ATTRIBUTES = ("protected", "explanatory", "contextual")
"""The roles of columns that say something of a person."""


@dataclass(frozen=True)
class Record:
    """What one run of a workload found."""

    table: Facts
    facts: Facts
    printed: str
    figures: Mapping[str, str]

    def stored(self) -> Facts:
        """Return what is kept of it."""
        return {"table": self.table, "facts": self.facts}


@dataclass(frozen=True)
class Workload:
    """One of the seven: the module with its script, what is recorded, and which function shows the call."""

    name: str
    script: ModuleType
    record: Callable[[Any], tuple[Facts, Facts, Mapping[str, str]]]
    call: Callable[..., Any]
    why_not: Callable[[Sources], str] = lambda _: ""

    def run(self, sources: Sources) -> Record:
        """Run the script's workload, and record it."""
        story = self.script.run(sources)
        table, facts, figures = self.record(story)
        seconds = {stage: round(s, 3) for stage, s in story.clock.seconds.items()}
        printed = "\n".join(self.script.tell(story)) + "\n"
        return Record(table | {"seconds": seconds}, facts, printed, figures)


def facts_of(part: Any) -> Facts:
    """Return the numbers of a finding, of a stratum, or of a context that was tested."""
    facts: Facts = {"size": part.size, "effect": part.effect, "interval": part.interval, "p": part.p_value}
    for name in ("significant", "metric", "gap", "gap_interval", "label", "values", "sentence"):
        if hasattr(part, name):
            facts[name] = getattr(part, name)
    if hasattr(part, "context"):
        facts["context"] = str(part.context) if len(part.context) else "everyone"
    if hasattr(part, "table") and hasattr(part.table, "counts"):
        rates = part.table.shares(len(part.table.rows) - 1)
        facts["rates"] = {str(group): share for group, share in zip(part.table.columns, rates, strict=True)}
    if strata := getattr(part, "strata", ()):
        facts["strata"] = [facts_of(stratum) for stratum in strata]
    return facts


def _attributes(report: ft.Report) -> list[Facts]:
    """Return what was found for each protected attribute."""
    return [
        {
            "name": attribute.name,
            "everyone": facts_of(attribute.population),
            "findings": [facts_of(finding) for finding in attribute.findings],
        }
        for attribute in report.attributes
    ]


def _line(report: ft.Report, strata: int = 0) -> Facts:
    """Return the line of the table; strata, which the paper does not count, are taken off what was tested."""
    sizes = [finding.size for finding in shown(report)]
    return {
        "users": report.data.rows,
        "attributes": sum(column.role in ATTRIBUTES for column in report.data.columns),
        "metric": ", ".join(dict.fromkeys(attribute.metric for attribute in report.attributes)),
        "looked_at": report.looked_at,
        "discovered": report.discovered - strata,
        "validated": report.validated,
        "reported": report.reported,
        "smallest": min(sizes, default=None),
    }


def _record_microbenchmark(story: microbenchmark.Story) -> tuple[Facts, Facts, dict[str, str]]:
    def cells(what: str) -> list[list[float]]:
        sizes, deltas = microbenchmark.SIZES, microbenchmark.DELTAS
        return [[round(story.mean(what, size, delta), 2) for delta in deltas] for size in sizes]

    facts = {
        "people": story.people,
        "runs": len(story.trials),
        "trials": [list(astuple(trial)) for trial in story.trials],
        "sizes": list(microbenchmark.SIZES),
        "deltas": list(microbenchmark.DELTAS),
        "planted": microbenchmark.PLANTED,
        "detected": cells("detected"),
        "reported": cells("reported"),
        "total": {what: round(story.total(what), 2) for what in ("detected", "reported")},
        "findings": sum(trial.findings for trial in story.trials),
        "false_findings": sum(trial.false for trial in story.trials),
        "false_runs": sum(trial.false > 0 for trial in story.trials),
    }
    one, _ = microbenchmark.ask(planted.microbenchmark(100, 0.1, seed=0, people=20_000), 0, Clock())
    table = {"users": story.people} | {name: _line(one)[name] for name in ("attributes", "metric")}
    return table, facts, {}


def _record_staples(story: staples.Story) -> tuple[Facts, Facts, dict[str, str]]:
    before, after = story.reports["by state"], story.reports["remedy"]
    facts = {
        "attributes": _attributes(story.found),
        "pay_high": _share_of(story.found, "high"),
        "states": story.states.to_dicts(),
        "groups": story.groups.to_dicts(),
        "budgets": [
            {
                "budget": budget,
                "discovered": report.discovered,
                "reported": report.reported,
                "strongest": [staples.strongest(report, i) for i in range(len(report.attributes))],
            }
            for budget, report in ((b, story.reports[f"budget {b}"]) for b in staples.BUDGETS)
        ],
        "remedy": {
            "states": list(story.switched_off),
            "before": facts_of(before.populations[0]),
            "after": facts_of(after.populations[0]),
            "left": staples.affected_states(after),
        },
        "model": {
            "miles": shoppers.NEAR,
            "year": shoppers.YEAR,
            "spread": shoppers.SPREAD,
            "medians": shoppers.MEDIANS,
            "inside": shoppers.INSIDE,
            "outside": shoppers.OUTSIDE,
            "nation": shoppers.NATION,
            "metropolitan": shoppers.METROPOLITAN,
            "neighbourhood": shoppers.NEIGHBOURHOOD,
            "threshold": shoppers.THRESHOLD,
        },
    }
    return _line(story.found), facts, {"income": story.found.figures()["income-forest"]}


def _share_of(report: ft.Report, output: str) -> float:
    table = report.populations[0].table
    return float(sum(table.counts[table.rows.index(output)]) / sum(table.sizes))


def _steps(story: error_story.Story) -> Facts:
    return {
        "people": story.detected.data.rows,
        "everyone": facts_of(story.detected.populations[0]),
        "findings": [facts_of(finding) for finding in story.detected.findings],
        "given": facts_of(story.explained.populations[0]),
        "remedied": facts_of(story.remedied.populations[0]),
        "tested": story.remedied.data.test,
        "answered": facts_of(story.answered.populations[0]),
    }


def _record_healthcare(story: healthcare.Story) -> tuple[Facts, Facts, dict[str, str]]:
    facts = {"made_up": _steps(story.made_up), "real": None if story.real is None else _steps(story.real)}
    figures = {"made-up": story.made_up.detected.figures()["age-0"]}
    if story.real is not None:
        figures["real"] = story.real.detected.figures()["age-0"]
    table = _line((story.real or story.made_up).detected)
    return table, facts, figures


def _record_image_tagger(story: image_tagger.Story) -> tuple[Facts, Facts, dict[str, str]]:
    tested = [facts_of(finding) for finding in image_tagger.tested_labels(story.report)]
    facts = {"made_up": story.made_up, "top_k": image_tagger.TOP_K, "labels": tested}
    facts["number"] = story.report.labels.number if story.report.labels else 0
    line = _line(story.report) | {"metric": "REG, DIFF"}
    return line, facts, {"labels": story.report.figures()["Race-forest"]}


def _record_recommender(story: recommender.Story) -> tuple[Facts, Facts, dict[str, str]]:
    found, explained = story.reports["found"], story.reports["explained"]
    facts = {
        "films": recommender.FILMS,
        "found": _attributes(found),
        "given": [facts_of(population) for population in explained.populations],
    }
    return _line(found), facts, {"age": found.figures()["age-0"]}


def _record_adult(story: adult.Story) -> tuple[Facts, Facts, dict[str, str]]:
    default, paper = story.reports["default"], story.reports["paper"]
    facts = {"default": _attributes(default), "paper": _attributes(paper), "paper_line": _line(paper)}
    figures = {name: default.figures()[f"{name}-forest"] for name in ("sex", "race")}
    return _line(default), facts, figures


def _record_berkeley(story: berkeley.Story) -> tuple[Facts, Facts, dict[str, str]]:
    everyone = story.report.populations[0]
    line = _line(story.report, strata=len(everyone.strata))
    return line, {"everyone": facts_of(everyone)}, {"departments": story.report.figures()["gender-0-strata"]}


def _lacks(*names: str) -> Callable[[Sources], str]:
    def why_not(sources: Sources) -> str:
        missing = [name for name in names if not sources.has(name)]
        return f"there is no {' and no '.join(missing)} (make evaluate DATA=folder)" if missing else ""

    return why_not


def _lacks_movies(sources: Sources) -> str:
    return "" if sources.movies else "no folder with MovieLens was named (make evaluate MOVIES=folder)"


WORKLOADS = (
    Workload("microbenchmark", microbenchmark, _record_microbenchmark, microbenchmark.ask),
    Workload("staples", staples, _record_staples, staples.ask, _lacks(staples.ZIPS, staples.STORES)),
    Workload("healthcare", healthcare, _record_healthcare, error_story.ask, _lacks(healthcare.FILE)),
    Workload("image_tagger", image_tagger, _record_image_tagger, image_tagger.ask, _lacks(image_tagger.FILE)),
    Workload("recommender", recommender, _record_recommender, recommender.ask, _lacks_movies),
    Workload("adult", adult, _record_adult, adult.ask),
    Workload("berkeley", berkeley, _record_berkeley, berkeley.ask),
)
