"""A workspace that FairTest 0.1.0 made, before stored classes had tags: it opens, shows its reports, and goes on.

``made_by_0_1`` has it beside its data, with what ``fairtest report workspace N`` printed then, and what
``fairtest explain workspace --run 1 --by shift`` would have printed next.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

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


def without_versions(text: str) -> list[str]:
    """The lines, without those that say which numerical libraries there are, and what was typed."""
    return [line for line in text.splitlines() if not line.startswith(("  - Version: ", "  - Repeat it: "))]


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
        "     Testing of 'hired' by sex, race, explained by shift: 1 significant, 1 reported",
        "     ErrorProfiling of 'predicted' by sex: 0 significant, 0 reported",
        "     Discovery of 'tags' by sex: 0 significant, 0 reported",
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
    assert (report.to_text(), report.to_html(), report.to_json()) == (kept.text, kept.html, kept.json)
    assert schema_of(old) == 1  # to read changes nothing


def test_a_run_can_be_explained_on_the_command_line(old: Path) -> None:
    run = fairtest("explain", old, "--run", 1, "--by", "shift")
    assert (run.code, run.err) == (0, "")
    assert without_versions(run.out) == without_versions(recorded("explained-again"))
    assert ft.Workspace(old).left == 2
    assert schema_of(old) == 2  # a FairTest that knows only version 1 says that it is too old
    assert fairtest("report", old, 6).out == run.out
    assert fairtest("report", old, 1).out == recorded("run-1")


def test_a_run_can_be_explained_in_python(old: Path) -> None:
    report = ft.Workspace(old).explain("shift", run=1)
    assert without_versions(report.to_text()) == without_versions(recorded("explained-again"))
    assert (report.settings.set, ft.Workspace(old).left) == (6, 2)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_other_kinds_can_be_explained_too(old: Path, number: int) -> None:
    report = ft.Workspace(old).explain("shift", run=number)
    assert report.explains is not None
    assert (report.explains[0], report.settings.set) == (number, 6)


def test_new_questions_can_be_put(old: Path) -> None:
    run = fairtest("test", old, "-p", "sex", "-o", "hired", "-x", "city", "--search", "tree")
    assert (run.code, ft.Workspace(old).left) == (0, 2)
