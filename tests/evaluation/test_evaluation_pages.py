"""The pages of the evaluation say what was measured, and what the scripts print; no number is typed by hand."""

from __future__ import annotations

import copy
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from evaluation import __main__ as evaluate
from evaluation import pages
from evaluation.conclusions import HOLDS, IN_PART, NOT, judge
from evaluation.records import WORKLOADS
from examples import microbenchmark
from examples.command import Clock, Sources, default_sources
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.records import Workload

SHAPE = [
    "What is asked",
    "The data",
    "The call",
    "What is found",
    "What it means, and what one would do next",
    "Beside the paper",
    "What differs, and why",
]
BEFORE = "```{code-block} text\n:class: printed\n\n"
NAMES = [workload.name for workload in WORKLOADS]
RUN_AGAIN = [workload for workload in WORKLOADS if workload.name != "microbenchmark"]  # that takes minutes


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages.make_pages()


@pytest.fixture(scope="module")
def facts() -> dict[str, dict]:
    results = pages.load()
    known = {name: result["facts"] for name, result in results.items()}
    return known | {"searches": pages.search_facts(), "timing": {"rows": pages.time_rows(results)}}


def test_pages_are_what_the_stored_numbers_give(made: dict[str, str]) -> None:
    """Otherwise: ``python -m evaluation --pages``."""
    for name, text in made.items():
        assert (pages.FOLDER / name).read_text("utf-8") == text, name


@pytest.mark.parametrize("name", NAMES)
def test_every_page_has_the_same_shape(made: dict[str, str], name: str) -> None:
    assert re.findall(r"^## (.*)$", made[f"{name}.md"], re.MULTILINE) == SHAPE
    for figure in re.findall(r"\{figure\} (\S+)", made[f"{name}.md"]):
        assert (pages.FOLDER / figure).exists(), figure


@pytest.mark.parametrize("template", sorted((pages.HERE / "templates").glob("*.jinja")), ids=lambda path: path.name)
def test_no_number_is_typed_by_hand(template: Path) -> None:
    """What is left of a template without what is filled in has no digit; code spans may have one."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|`[^`\n]*`", "", template.read_text("utf-8"), flags=re.DOTALL)
    assert re.findall(r".*\d.*", text) == []


@pytest.mark.parametrize("workload", RUN_AGAIN, ids=lambda workload: workload.name)
def test_a_script_prints_what_its_page_says(workload: Workload, made: dict[str, str]) -> None:
    sources = default_sources()
    why = workload.why_not(sources)
    if workload.name == "adult" and not sources.has("adult.csv.gz"):
        why = "adult.csv.gz is not beside the repository, and tests do not fetch it"
    if why:
        pytest.skip(why)
    if workload.name == "recommender":
        pytest.importorskip("implicit", reason="implicit is not installed: see the dependency group 'examples'")
    try:
        story = workload.script.run(sources)
    except InputError as error:  # the census is fetched, where the rest of the data is at hand
        pytest.skip(str(error))
    printed = "\n".join(workload.script.tell(story))
    assert f"{BEFORE}{printed.rstrip()}\n```" in made[f"{workload.name}.md"]


class TestTheMicrobenchmark:
    def test_its_page_says_what_its_runs_give(self, facts: dict[str, dict], made: dict[str, str]) -> None:
        trials = [microbenchmark.Trial(*row) for row in facts["microbenchmark"]["trials"]]
        printed = "\n".join(microbenchmark.tell(microbenchmark.Story(trials, Clock())))
        assert f"{BEFORE}{printed}\n```" in made["microbenchmark.md"]
        assert len(trials) == microbenchmark.TRIALS * len(list(microbenchmark.cells()))

    def test_a_run_is_what_is_stored_of_it(self, facts: dict[str, dict]) -> None:
        row = next(r for r in facts["microbenchmark"]["trials"] if r[:2] == [1_000, 0.15])
        stored = microbenchmark.Trial(*row)
        assert microbenchmark.try_once(stored.size, stored.delta, stored.seed, Clock()) == stored


class TestTheTable:
    def test_has_a_line_for_each_workload_with_three_numbers(self, made: dict[str, str]) -> None:
        for workload in WORKLOADS:
            known = pages.published()[workload.name]
            (line,) = re.findall(rf"^\| \[{known['name']}\]\({workload.name}\.md\).*$", made["index.md"], re.MULTILINE)
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 10
            assert all(cell.count(" / ") == 2 for cell in cells[5:]), line

    def test_numbers_of_the_paper_have_a_source(self) -> None:
        for name in (*NAMES, "searches", "timing"):
            assert len(pages.published()[name]["source"]) > 10


class TestConclusions:
    def test_each_has_a_mark_and_a_reason_on_the_front_page(self, made: dict[str, str], facts: dict[str, dict]) -> None:
        for conclusion in judge(facts, pages.published()):
            assert conclusion.mark in {HOLDS, IN_PART, NOT}
            assert f"| {conclusion.claim} | **{conclusion.mark}** | {conclusion.why} |" in made["index.md"]

    @pytest.mark.parametrize(
        ("workload", "change", "claim", "mark"),
        [
            ("microbenchmark", lambda f: f.update(false_runs=0), "no false", HOLDS),
            ("microbenchmark", lambda f: f.update(false_runs=f["runs"] // 4), "no false", NOT),
            ("berkeley", lambda f: f["everyone"].update(gap_interval=[0.1, 0.2]), "admitted less often", NOT),
            ("berkeley", lambda f: f["everyone"].update(significant=True), "same department", NOT),
            ("staples", lambda f: f["attributes"][0].update(findings=[]), "much stronger", NOT),
            ("image_tagger", lambda f: f.update(labels=[]), "cattle", NOT),
            ("recommender", lambda f: [g.update(effect=0.5, significant=True) for g in f["given"]], "watch", NOT),
            ("adult", lambda f: [a["everyone"].update(significant=False) for a in f["paper"]], "black", NOT),
        ],
    )
    def test_marks_follow_the_numbers(
        self, facts: dict[str, dict], workload: str, change, claim: str, mark: str
    ) -> None:
        other = copy.deepcopy(facts)
        change(other[workload])
        (judged,) = [c for c in judge(other, pages.published()) if c.workload == workload and claim in c.claim]
        assert judged.mark == mark

    def test_the_tree_needs_fewer_candidates_only_where_it_does(self) -> None:
        tree = {"candidates": 100.0, "estimate_top_3": 0.5}
        slow = {1: {"candidates": 100.0, "estimate_top_3": 0.4}, 2: {"candidates": 600.0, "estimate_top_3": 0.5}}
        assert pages.times_fewer(tree, slow, "estimate_top_3") == (6.0, "6.0")
        never = {1: {"candidates": 300.0, "estimate_top_3": 0.4}}
        assert pages.times_fewer(tree, never, "estimate_top_3") == (3.0, "more than 3.0")


def test_what_has_no_data_is_skipped_and_said(tmp_path: Path, monkeypatch, capsys) -> None:
    """The stored numbers stay."""
    shutil.copytree(pages.FOLDER / "results", tmp_path / "results")
    monkeypatch.setattr(evaluate, "FOLDER", tmp_path)
    wanted = ["staples", "healthcare", "image_tagger", "recommender"]
    evaluate.run_workloads(Sources(), wanted)
    said = capsys.readouterr().out
    for name in wanted:
        assert f"{name}: SKIPPED, " in said
    assert "DATA=folder" in said
    assert "MOVIES=folder" in said
    for path in (pages.FOLDER / "results").iterdir():
        assert (tmp_path / "results" / path.name).read_bytes() == path.read_bytes()


def test_a_run_is_stored_and_read_back(tmp_path: Path) -> None:
    workload = next(w for w in WORKLOADS if w.name == "berkeley")
    record = workload.run(Sources())
    pages.store("berkeley", record, tmp_path)
    stored = pages.load(tmp_path)["berkeley"]
    assert stored["printed"] == record.printed
    assert stored["facts"] == json.loads(json.dumps(record.facts))
    assert stored["table"]["discovered"] == 1
    assert (tmp_path / "berkeley-departments.svg").read_text().startswith("<svg")
