"""The pages of ``docs/evaluation``, written from what is stored there and from the published numbers.

Every number of a page is filled in; templates have none of their own. Without a new run :func:`write_pages` gives the
same pages again, and a test checks that it does.
"""

from __future__ import annotations

import csv
import inspect
import json
import textwrap
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evaluation import drawing
from evaluation.conclusions import interval_words, judge
from evaluation.records import WORKLOADS, Record
from fairtest.numbers import count, digits, fixed, p_statement, p_value, rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
FOLDER = DOCS / "evaluation"
SEARCHES = DOCS / "searches.csv"
NONE = "–"
MEASURES = {"estimate_top_3": "in the paper's measure", "confirmed_top_3": "in ours"}


@cache
def published() -> dict[str, Any]:
    """Return the numbers of the paper and of its prototype."""
    return tomllib.loads((HERE / "published.toml").read_text("utf-8"))


def store(name: str, record: Record, folder: Path = FOLDER) -> None:
    """Keep what a run of a workload found: its numbers, what it printed, and the figures of its reports."""
    results = folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    stored = json.dumps(record.stored(), indent=1, ensure_ascii=False, default=str)
    (results / f"{name}.json").write_text(f"{stored}\n", "utf-8")
    (results / f"{name}.txt").write_text(record.printed, "utf-8")
    for figure, svg in record.figures.items():
        (folder / f"{name}-{figure}.svg").write_text(svg, "utf-8")


def load(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """Return what is stored of each workload, by name; those that have never run are missing."""
    found = {}
    for workload in WORKLOADS:
        path = folder / "results" / f"{workload.name}.json"
        if path.exists():
            found[workload.name] = json.loads(path.read_text("utf-8"))
            found[workload.name]["printed"] = path.with_suffix(".txt").read_text("utf-8")
    return found


def write_pages(folder: Path = FOLDER) -> list[Path]:
    """Write every page and the figures that are not those of reports; return where they are."""
    texts = make_pages(folder)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def make_pages(folder: Path = FOLDER) -> dict[str, str]:
    """Return the text of each page and figure, by the name of its file."""
    results = load(folder)
    run = json.loads((folder / "results" / "run.json").read_text("utf-8"))
    facts = {name: result["facts"] for name, result in results.items()}
    facts |= {"searches": search_facts(), "timing": {"rows": time_rows(results)}}
    conclusions = judge(facts, published())
    made = {f"{name}.svg": svg for name, svg in draw_figures(facts).items()}
    environment = _environment()
    for workload in WORKLOADS:
        name = workload.name
        made[f"{name}.md"] = environment.get_template(f"{name}.md.jinja").render(
            facts=facts[name],
            table=results[name]["table"],
            printed=results[name]["printed"].rstrip("\n"),
            call=textwrap.dedent(inspect.getsource(workload.call)).rstrip(),
            published=published()[name],
            conclusions=[c for c in conclusions if c.workload == name],
            command=f"python -m examples.{name}",
            script=f"examples/{name}.py",
        )
    made["index.md"] = environment.get_template("index.md.jinja").render(
        lines=table_lines(results), conclusions=conclusions, published=published(), run=run, facts=facts
    )
    return made


def draw_figures(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures that are put together from several numbers of the evaluation."""
    named = {f["context"].removeprefix("state = ") for f in facts["staples"]["attributes"][0]["findings"]}
    with SEARCHES.open(encoding="utf-8") as file:
        means = drawing.search_means(csv.DictReader(file))
    return {
        "microbenchmark-heat": drawing.draw_heat_maps(
            facts["microbenchmark"], published()["microbenchmark"]["prototype"]
        ),
        "staples-map": drawing.draw_states(facts["staples"]["states"], named),
        "searches": drawing.draw_searches(means),
        "times": drawing.draw_times(facts["timing"]["rows"]),
    }


# The one table ------------------------------------------------------------------------------------------------------


def table_lines(results: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a line of the table for each workload; numbers of paper, prototype and here stand side by side."""
    lines = []
    for workload in WORKLOADS:
        known, here = published()[workload.name], results[workload.name]["table"]
        three = (known["paper"], known.get("prototype", {}), here)
        line = {"name": f"[{known['name']}]({workload.name}.md)", "page": workload.name}
        line["investigations"] = known["investigations"]
        for column in ("users", "attributes", "metric"):
            line[column] = f"{_known(known['paper'].get(column))} / {_known(here.get(column))}"
        for column in ("discovered", "validated", "reported", "smallest"):
            line[column] = " / ".join(_known(some.get(column)) for some in three)
        line["seconds"] = " / ".join((paper_seconds(known), *_own_seconds(known, here)))
        lines.append(line)
    return lines


def _known(value: Any) -> str:
    return NONE if value is None else count(value) if isinstance(value, int) else str(value)


def paper_seconds(known: Mapping[str, Any]) -> str:
    """Return the seconds that the paper's text gives for a workload."""
    seconds = known["paper"].get("seconds")
    if seconds is None:
        return NONE
    return f"{seconds[0]}" if seconds[0] == seconds[1] else f"{seconds[0]} to {seconds[1]}"


def _own_seconds(known: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str]:
    prototype = known.get("prototype", {}).get("seconds")
    return NONE if prototype is None else f"{prototype:g}", digits(sum(here["seconds"].values()))


def time_rows(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return training and testing time of each workload, and the seconds of the others in words."""
    rows = []
    for workload in WORKLOADS:
        known, here = published()[workload.name], results[workload.name]["table"]
        prototype, _ = _own_seconds(known, here)
        others = {"prototype": prototype, "paper": paper_seconds(known)}
        rows.append({"name": known["name"], **here["seconds"], **others})
    return rows


# Searches -----------------------------------------------------------------------------------------------------------


def search_facts() -> dict[str, Any]:
    """Return how the guided and the unguided searches of ``docs/searches.csv`` compare, in both measures.

    How many times fewer candidates the tree needs: the first unguided search that finds links as strong, over the tree.
    """
    with SEARCHES.open(encoding="utf-8") as file:
        means = drawing.search_means(csv.DictReader(file))
    facts: dict[str, Any] = {"saved": {}, "words": {}, "won": {}}
    for measure, words in MEASURES.items():
        for attributes in sorted({key[0] for key in means}):
            name = f"{words} with {attributes} attributes"
            unguided = {k[2]: m for k, m in means.items() if k[0] == attributes and k[1] == "unguided"}
            guided = {k[2]: m for k, m in means.items() if k[0] == attributes and k[1] in ("tree", "forest")}
            facts["saved"][name], facts["words"][name] = times_fewer(guided[1], unguided, measure)
            won = sum(guided[trees][measure] > m[measure] for trees, m in unguided.items())
            facts["won"][name] = (won, len(unguided))
    return facts


def times_fewer(
    tree: Mapping[str, float], unguided: Mapping[int, Mapping[str, float]], measure: str
) -> tuple[float, str]:
    """Return how many times fewer candidates the tree looks at than the first unguided search that finds as much."""
    searches = sorted(unguided.values(), key=lambda m: m["candidates"])
    for search in searches:
        if search[measure] >= tree[measure]:
            times = search["candidates"] / tree["candidates"]
            return times, f"{times:.1f}"
    times = searches[-1]["candidates"] / tree["candidates"]
    return times, f"more than {times:.1f}"


# Writing ------------------------------------------------------------------------------------------------------------


def _bounds(interval: Sequence[float] | None, decimals: int = 4) -> str:
    return NONE if interval is None else f"[{fixed(interval[0], decimals)}, {fixed(interval[1], decimals)}]"


def _points(share: float, decimals: int = 1) -> str:
    return fixed(100 * share, decimals, signed=True)


def _in_points(part: Mapping[str, Any]) -> str:
    low, high = part["interval"]
    return f"{_points(part['effect'])} [{_points(low)}, {_points(high)}]"


def _statement(p: float | None) -> str:
    return p_statement(p, "p")


def _prose(sentence: str) -> str:
    """Return a sentence of a report as Markdown, in which dollars would begin a formula."""
    return sentence.replace("$", "\\$")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # it is Markdown
    )
    made.filters |= {
        "count": count, "rate": rate, "fixed": fixed, "bounds": _bounds, "points": _points, "p": _statement,
        "p_value": p_value, "measured": interval_words, "prose": _prose, "in_points": _in_points,
    }  # fmt: skip
    return made
