"""What counts as asked before anything was shown, over processes: kept in the workspace, or in the registry."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from audits import QUICK, SHORT, Run, in_a_process, in_this_process, people_frame, spend_one, words

import fairtest as ft
from fairtest.data import registry
from fairtest.pipeline.prospects import prospects

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., list[str]]

MADE = Path(__file__).parent / "made_by_0_1"
ASK = ("-p", "sex", "-o", "hired", *QUICK)
OTHER = ("-p", "department", "-o", "hired", *QUICK)
OLD_QUESTIONS = "CREATE TABLE questions (fingerprint TEXT, question TEXT, PRIMARY KEY (fingerprint, question))"
TEST_SET = "test set"
EVERYBODY = "training and test set"


def trained(source: ft.DataSource, protected: str = "sex") -> ft.Testing:
    made = ft.Testing(source, protected, "hired", contextual=["region", "pay"])
    ft.train([made], **SHORT)  # type: ignore[arg-type]
    return made


def answer(made: ft.Testing) -> ft.Report:
    ft.test([made])
    return ft.report([made])[0]


def population_on(run: Run) -> list[str]:
    assert run.code == 0, run.err
    (investigation,) = json.loads(run.out)["investigations"]
    return [about["population_on"] for about in investigation["protected"]]


@pytest.fixture
def workspace(people: Path, tmp_path: Path) -> ft.Workspace:
    return ft.Workspace.create(tmp_path / "audit", people, budget=3)


class TestInAWorkspace:
    def test_the_first_question_is_named_and_later_ones_are_not(self, workspace: ft.Workspace) -> None:
        first, second = (answer(trained(ft.Workspace(workspace.path).source)) for _ in range(2))
        assert [r.attributes[0].named for r in (first, second)] == [True, False]
        assert first.settings.level == second.settings.level == pytest.approx(0.05 / 3)

    @pytest.mark.parametrize("command", [False, True])
    def test_what_training_proposes_is_remembered(self, workspace: ft.Workspace, tmp_path: Path, command: bool) -> None:
        if command:
            assert in_a_process("test", workspace.path, *ASK, "--train-only", cwd=tmp_path).code == 0
        else:
            prospects(trained(workspace.source))
        again = ft.Workspace(workspace.path)
        assert (again.source.budget.shown, again.left) == (True, 3)
        assert "shown    what training proposes" in str(again.status())
        assert not answer(trained(again.source)).attributes[0].named
        assert "what training proposes" not in str(again.status())

    def test_columns_that_were_looked_at_do_not_count(self, workspace: ft.Workspace, people: Path) -> None:
        assert in_a_process("inspect", people, cwd=people.parent).code == 0
        assert ft.Workspace(workspace.path).source.budget.shown is False

    def test_an_explanation_in_another_process(self, workspace: ft.Workspace) -> None:
        spend_one(workspace.source)
        why = ft.Workspace(workspace.path).explain("department")
        assert not why.attributes[0].named
        assert why.attributes[0].population.size == workspace.source.holdout.sizes[2]

    def test_a_question_that_was_there_first_and_is_asked_later_is_not_named(self, workspace: ft.Workspace) -> None:
        """That another process answered in between is in the ledger."""
        one, other = (trained(ft.Workspace(workspace.path).source, name) for name in ("sex", "department"))
        assert [answer(made).attributes[0].named for made in (one, other)] == [True, False]
        assert not trained(ft.Workspace(workspace.path).source, "department").named

    def test_processes_that_race(self, people: Path, tmp_path: Path) -> None:
        """However they end, an answer on everybody is by a process that began before another had answered."""
        command = words("test", people, *ASK, "--budget", 3, "--json", "-", "--quiet")
        racing = [subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
        outs = [process.communicate(timeout=600)[0] for process in racing]
        assert EVERYBODY in [population_on(Run(0, out, ""))[0] for out in outs]
        late = in_a_process("test", people, *ASK, "--json", "-", "--quiet", cwd=tmp_path)
        assert population_on(late) == [TEST_SET]

    def test_a_workspace_that_cannot_note_it_shows_nothing(
        self, workspace: ft.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = trained(workspace.source)

        def refuse(*_: object) -> None:
            raise ft.InputError("cannot be written to")

        monkeypatch.setattr(type(workspace.ledger), "mark_shown", refuse)
        with pytest.raises(ft.InputError, match="cannot be written"):
            prospects(made)


class TestAnOlderWorkspace:
    @pytest.fixture
    def old(self, tmp_path: Path) -> Path:
        return shutil.copytree(MADE, tmp_path / "old") / "workspace"

    def test_keeps_its_level_and_asks_test_sets_alone(self, old: Path) -> None:
        workspace = ft.Workspace(old)
        assert workspace.setup.levels == "product"
        made = ft.Testing(workspace.source, "sex", "hired", contextual=["city"])
        ft.train([made], search="tree")
        report = answer(made)
        assert report.settings.level == pytest.approx(1 - 0.95 ** (1 / 8), rel=1e-12)
        assert not report.attributes[0].named

    def test_without_a_run_too(self, old: Path) -> None:
        with sqlite3.connect(old / "workspace.sqlite") as database:
            for table in ("report", "run"):
                database.execute(f"DROP TRIGGER {table}_DELETE")
                database.execute(f"DELETE FROM {table}")
        database.close()
        workspace = ft.Workspace(old)
        assert (workspace.left, workspace.source.budget.shown) == (8, True)

    def test_says_so(self, old: Path, workspace: ft.Workspace) -> None:
        assert "1 − 0.95^(1/8)" in str(ft.Workspace(old).status())
        assert "rule" not in str(workspace.status())

    def test_loses_nothing_when_it_becomes_one_of_this_version(self, old: Path) -> None:
        def everything() -> dict[str, list[tuple[object, ...]]]:
            with sqlite3.connect(old / "workspace.sqlite") as database:
                found = {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in ("run", "report")}
            database.close()
            return found

        before, setup = everything(), ft.Workspace(old).setup
        ft.Workspace(old).explain("shift", run=1)
        after = everything()
        assert all(row in after[name] for name, rows in before.items() for row in rows)
        assert {name: len(rows) - len(before[name]) for name, rows in after.items()} == {"run": 1, "report": 1}
        assert ft.Workspace(old).setup == setup
        with sqlite3.connect(old / "workspace.sqlite") as database, pytest.raises(sqlite3.IntegrityError):
            database.execute("UPDATE workspace SET levels = 'sum'")
        database.close()


class TestWithoutAWorkspace:
    """A file on the command line: the registry knows."""

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("FAIRTEST_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("FAIRTEST_REGISTRY", raising=False)
        return tmp_path / "home"

    @pytest.fixture
    def ask(self, people: Path, tmp_path: Path) -> Ask:
        def put(*arguments: object, data: Path = people, by: Callable[..., Run] = in_this_process) -> list[str]:
            return population_on(by("test", data, *arguments, "--json", "-", "--quiet", cwd=tmp_path))

        return put

    def test_another_question_after_an_answer(self, ask: Ask) -> None:
        assert ask(*ASK, by=in_a_process) == [EVERYBODY]
        assert ask(*OTHER, by=in_a_process) == [TEST_SET]
        assert ask(*ASK) == [EVERYBODY]  # the very same again
        assert ask(*OTHER) == [TEST_SET]
        assert ask(*ASK, "--seed", 3) == [TEST_SET]

    def test_after_proposals_of_training(self, ask: Ask, people: Path, tmp_path: Path) -> None:
        run = in_this_process("test", people, *ASK, "--train-only", cwd=tmp_path)
        assert (run.code, run.err) == (0, "")
        assert ask(*ASK) == [TEST_SET]
        assert ask(*ASK) == [TEST_SET]  # it does not become one that came first

    def test_several_attributes_in_one_call(self, ask: Ask) -> None:
        assert ask(*ASK, "-p", "department") == [EVERYBODY, EVERYBODY]

    def test_a_workspace_made_afterwards_knows(self, people: Path, tmp_path: Path) -> None:
        assert in_this_process("test", people, *ASK, "--train-only", "--budget", 2, cwd=tmp_path).code == 0
        run = in_this_process("test", people, *ASK, "--budget", 2, "--json", "-", "--quiet", cwd=tmp_path)
        assert population_on(run) == [TEST_SET]

    @pytest.mark.parametrize("command", [False, True])
    def test_a_workspace_made_by_itself_knows_too(self, people: Path, tmp_path: Path, command: bool) -> None:
        assert in_this_process("test", people, *ASK, "--train-only", cwd=tmp_path).code == 0
        if command:
            assert in_this_process("init", tmp_path / "other", people, "--budget", 2, cwd=tmp_path).code == 0
        else:
            ft.Workspace.create(tmp_path / "other", people)
        assert ft.Workspace(tmp_path / "other").ledger.was_shown()

    def test_a_source_in_python_knows(self, people: Path, tmp_path: Path) -> None:
        assert not ft.DataSource(people).budget.shown
        assert in_this_process("test", people, *ASK, "--train-only", cwd=tmp_path).code == 0
        assert ft.DataSource(people_frame()).budget.shown

    def test_an_audit_outside_of_a_workspace_counts_there(self, workspace: ft.Workspace, ask: Ask) -> None:
        people_frame().write_parquet(workspace.path.parent / "copy.parquet")
        assert ask(*ASK, data=workspace.path.parent / "copy.parquet") == [EVERYBODY]
        assert ft.Workspace(workspace.path).source.budget.shown

    def test_a_registry_without_the_new_column_goes_on(self, home: Path) -> None:
        home.mkdir()
        with sqlite3.connect(home / "registry.sqlite") as database:
            database.execute(registry.SCHEMA)
            database.execute(OLD_QUESTIONS)
            database.execute("INSERT INTO questions VALUES ('ab', 'old')")
        database.close()
        registry.note("ab", 10, "2026", question="new", named=True)
        known = [(registry.was_asked("ab", q), registry.was_named("ab", q)) for q in ("old", "new", "none")]
        assert known == [(True, False), (True, True), (False, False)]
        registry.note("ab", 10, "2026", question="old", named=True)
        assert not registry.was_named("ab", "old")
