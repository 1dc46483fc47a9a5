"""A workspace that FairTest 0.1.0 made, before stored classes had tags: it opens, shows its reports, and goes on.

``made_by_0_1`` has it beside its data, with what ``fairtest report workspace N`` printed then, and what
``fairtest explain workspace --run 1 --by shift`` would have printed next, by the rules of that version.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from audits import Run
from click.testing import CliRunner

import fairtest as ft
from fairtest.cli.main import cli

MADE = Path(__file__).parent / "made_by_0_1"
RUNS = (1, 2, 3, 4, 5)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return shutil.copytree(MADE, tmp_path / "old") / "workspace"


def fairtest(*arguments: object) -> Run:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="fairtest")
    return Run(result.exit_code, result.stdout, result.stderr)


def recorded(name: str) -> str:
    return (MADE / f"{name}.txt").read_text("utf-8")


def schema_of(workspace: Path) -> int:
    with sqlite3.connect(workspace / "workspace.sqlite") as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
    database.close()
    return int(version)


def test_is_of_the_version_it_is_kept_for() -> None:
    assert schema_of(MADE / "workspace") == 1


def test_status(old: Path) -> None:
    run = fairtest("status", old)
    assert (run.code, run.err) == (0, "")
    for words in (
        "made 2026-11-17",
        "people.csv: 900 people (fingerprint 0ab3d445777c757cb4de39b0e26ffdf2)",
        "8 test sets: 5 spent, 3 left",
        "  3  2026-11-17 18:44 UTC  fairtest test workspace -p race -p age -o pay",
        "     Testing of 'hired' by sex, race, explained by shift: 1 significant, 1 reported (everybody counts too)",
        "     ErrorProfiling of 'predicted' by sex: 0 significant, 0 reported (everybody counts too)",
        "     Discovery of 'tags' by sex: 0 significant, 0 reported (everybody counts too)",
    ):
        assert words in run.out


@pytest.mark.parametrize("number", RUNS)
def test_reports_are_what_they_were(old: Path, tmp_path: Path, number: int) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    run = fairtest("report", old, number, "--html", page, "--json", data, "--quiet")
    assert (run.code, run.err, run.out) == (0, "", recorded(f"run-{number}"))
    (kept,) = ft.Workspace(old).ledger.reports(number)
    assert page.read_text("utf-8") == kept.html
    assert data.read_text("utf-8") == kept.json


@pytest.mark.parametrize("number", RUNS)
def test_reports_are_what_they_were_in_python(old: Path, number: int) -> None:
    workspace = ft.Workspace(old)
    report = workspace.report(number)
    (kept,) = workspace.ledger.reports(number)
    assert has_numbers_of(json.loads(report.to_json()), json.loads(kept.json))
    assert report.settings.population_share == 0
    assert schema_of(old) == 1  # to read changes nothing


def has_numbers_of(now: Any, then: Any) -> bool:
    """Whether a report has every number that it had; there may be more, and other words."""
    if isinstance(then, dict):
        return all(has_numbers_of(now[name], value) for name, value in then.items())
    if isinstance(then, list):
        return len(now) == len(then) and all(map(has_numbers_of, now, then))
    return isinstance(then, str) or now == then


def check_explained_again(report: ft.Report) -> None:
    """The people, groups, level and numbers that FairTest 0.1.0 had; how p-values are corrected has changed since."""
    assert (report.settings.set, report.explains, report.tested) == (6, (1, 3), 9)
    assert report.settings.level == pytest.approx(0.006391, rel=1e-4)
    by_sex, by_race = report.attributes
    population = by_sex.population
    assert (population.size, population.table.counts) == (76, ((17, 24), (24, 11)))
    assert (population.effect, *population.interval_single) == pytest.approx((-0.269, -0.590, 0.049), abs=5e-4)
    assert (by_race.population.size, by_sex.named, by_race.named) == (79, False, False)


def test_a_run_can_be_explained_on_the_command_line(old: Path) -> None:
    run = fairtest("explain", old, "--run", 1, "--by", "shift")
    assert (run.code, run.err) == (0, "")
    check_explained_again(ft.Workspace(old).report())
    assert ft.Workspace(old).left == 2
    assert schema_of(old) == 3  # a FairTest that knows only version 1 says that it is too old
    assert fairtest("report", old, 6).out == run.out
    assert fairtest("report", old, 1).out == recorded("run-1")


def test_a_run_can_be_explained_in_python(old: Path) -> None:
    report = ft.Workspace(old).explain("shift", run=1)
    check_explained_again(report)
    assert (report.settings.set, ft.Workspace(old).left) == (6, 2)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_other_kinds_can_be_explained_too(old: Path, number: int) -> None:
    report = ft.Workspace(old).explain("shift", run=number)
    assert report.explains is not None
    assert (report.explains[0], report.settings.set) == (number, 6)


def test_new_questions_can_be_put(old: Path) -> None:
    run = fairtest("test", old, "-p", "sex", "-o", "hired", "-x", "city", "--search", "tree")
    assert (run.code, ft.Workspace(old).left) == (0, 2)
