"""The commands on a workspace, as a user meets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from audits import QUICK, Run, in_a_process, people_frame
from click.testing import CliRunner

import fairtest as ft
from fairtest.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

ASK = ("-p", "sex", "-o", "hired", *QUICK)


def fairtest(*arguments: object) -> Run:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="fairtest")
    return Run(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def audit(tmp_path: Path, people: Path) -> Path:
    """A workspace with a budget of 2."""
    folder = tmp_path / "audit"
    assert fairtest("init", folder, people, "--budget", 2, "--favourable", "hired=yes").code == 0
    return folder


def refused(run: Run, *mentions: str, code: int = 2) -> None:
    assert run.code == code, run.err
    assert run.out == ""
    *before, last = run.err.splitlines()
    assert all(line.startswith("Using the workspace") for line in before if code != 130 or line)
    assert last.startswith("fairtest: ")
    for mention in mentions:
        assert mention in last


class TestInit:
    def test_shows_what_was_made(self, tmp_path: Path, people: Path) -> None:
        run = fairtest("init", tmp_path / "audit", people, "--budget", 3, "--seed", 7, "--conf", 0.9)
        assert (run.code, run.err) == (0, "")
        for words in (
            "people.csv: 1,500 people",
            "seed 7, confidence 0.9",
            "3 test sets: 0 spent, 3 left",
            "No run yet",
        ):
            assert words in run.out

    def test_every_option_reaches_the_source(self, tmp_path: Path, people: Path) -> None:
        run = fairtest(
            "init", tmp_path / "audit", people, "--budget", 2, "--train-size", 0.4, "--ordered", "department=B<A<C",
            "--reference", "sex=m", "--favourable", "hired=yes", "--numeric", "pay", "--categorical", "region",
            "--missing", "?", "--delimiter", ",", "--encoding", "utf-8", "--preset", "paper",
        )  # fmt: skip
        assert run.code == 0, run.err
        setup = ft.Workspace(tmp_path / "audit").setup
        assert (setup.train_size, setup.preset) == (0.4, "paper")
        assert setup.reading == {"missing": ["?"], "delimiter": ",", "encoding": "utf-8"}
        assert setup.declared == {
            "categorical": ["region"],
            "numeric": ["pay"],
            "ordered": {"department": ["B", "A", "C"]},
            "favourable": {"hired": "yes"},
            "reference": {"sex": "m"},
        }

    def test_twice(self, audit: Path, people: Path) -> None:
        refused(fairtest("init", audit, people), "is a workspace already")

    def test_no_data(self, tmp_path: Path) -> None:
        refused(fairtest("init", tmp_path / "audit", tmp_path / "gone.csv"), "gone.csv")
        assert not (tmp_path / "audit").exists()


class TestAWorkspaceAsData:
    def test_spends_its_sets_and_says_when_they_are_gone(self, audit: Path) -> None:
        shown = [fairtest("test", audit, *ASK, "--json", "-") for _ in range(2)]
        assert [json.loads(run.out)["settings"]["set"] for run in shown] == [1, 2]
        assert [run.err for run in shown] == ["", ""]
        assert json.loads(shown[0].out)["investigations"][0]["favourable"] == "yes"
        refused(fairtest("test", audit, *ASK), "exhausted", "both test sets", code=3)
        refused(fairtest("explain", audit, "--by", "department"), "exhausted", code=3)

    def test_the_report_is_the_library_s(self, audit: Path, people: Path) -> None:
        run = fairtest("test", audit, *ASK, "--json", "-")
        how = {"contextual": ["region", "pay"], "search": "tree", "min_size": 150}
        report = ft.audit(people, "sex", "hired", budget=2, favourable={"hired": "yes"}, **how)
        ours, theirs = json.loads(run.out), report.to_dict()
        command = ours["investigations"][0].pop("repeat")
        assert (
            command
            == f"fairtest test audit {' '.join(('-p', 'sex', '-o', 'hired', '-x', 'region', '-x', 'pay'))} "
            + ("--min-size 150 --search tree")
        )
        theirs["investigations"][0].pop("repeat")
        assert ours == theirs

    def test_the_others_too(self, audit: Path) -> None:
        labels = fairtest("discover", audit, "-p", "sex", "-o", "tags", "--separator", "|", "-x", "region")
        errors = fairtest("errors", audit, "-p", "sex", "-o", "said", "--truth", "hired", "-x", "region")
        assert (labels.code, errors.code) == (0, 0), labels.err + errors.err
        assert ft.Workspace(audit).left == 0

    def test_training_spends_nothing(self, audit: Path) -> None:
        run = fairtest("test", audit, *ASK, "--train-only")
        assert (run.code, ft.Workspace(audit).left) == (0, 2)

    DIFFERENT = (
        ("--seed", "1"), ("--budget", "3"), ("--budget", "1"), ("--conf", "0.9"), ("--train-size", "0.5"),
        ("--preset", "paper"), ("--missing", "?"), ("--delimiter", ";"), ("--encoding", "latin-1"),
    )  # fmt: skip

    @pytest.mark.parametrize(("option", "value"), DIFFERENT)
    def test_what_is_settled_cannot_differ(self, audit: Path, option: str, value: str) -> None:
        refused(fairtest("test", audit, *ASK, option, value), option, "in the workspace")
        assert ft.Workspace(audit).left == 2

    def test_the_same_may_be_said_again(self, audit: Path) -> None:
        same = ("--seed", 0, "--budget", 2, "--conf", 0.95, "--train-size", 0.3)
        assert fairtest("test", audit, *ASK, *same).code == 0

    def test_a_mistake_spends_nothing(self, audit: Path) -> None:
        refused(fairtest("test", audit, "-p", "sexx", "-o", "hired"), "Did you mean 'sex'")
        assert ft.Workspace(audit).left == 2

    def test_two_workspaces(self, audit: Path, tmp_path: Path) -> None:
        refused(fairtest("test", audit, *ASK, "--workspace", tmp_path / "other"), "is a workspace itself")


class TestAFile:
    def test_a_budget_makes_a_workspace_beside_it(self, people: Path) -> None:
        first = fairtest("test", people, *ASK, "--budget", 2, "--json", "-")
        beside = people.with_name("people.fairtest")
        assert first.err == f"Made the workspace {beside}, with a budget of 2.\n"
        again = fairtest("test", people, *ASK, "--json", "-")
        assert again.err == f"Using the workspace {beside} beside the data: 1 of 2 left.\n"
        assert [json.loads(run.out)["settings"]["set"] for run in (first, again)] == [1, 2]
        refused(fairtest("test", people, *ASK, "--budget", 2), "exhausted", code=3)
        refused(fairtest("test", people, *ASK, "--budget", 3), "--budget is 3, and 2")
        refused(fairtest("test", people, *ASK, "--seed", 3), "--seed is 3, and 0")

    def test_quiet(self, people: Path) -> None:
        for _ in range(2):
            assert fairtest("test", people, *ASK, "--budget", 2, "--quiet").err == ""

    @pytest.mark.parametrize("option", [("--train-only",), ("-p", "sexx")])
    def test_nothing_is_made_before_it_is_needed(self, people: Path, option: tuple[str, ...]) -> None:
        fairtest("test", people, *ASK, "--budget", 2, *option)
        assert not people.with_name("people.fairtest").exists()

    def test_a_workspace_by_name(self, people: Path, tmp_path: Path) -> None:
        named = ("--workspace", tmp_path / "mine")
        assert fairtest("test", people, *ASK, *named, "--budget", 2).code == 0
        assert fairtest("test", people, *ASK, *named).code == 0
        assert ft.Workspace(tmp_path / "mine").left == 0

    def test_another_file_is_not_the_workspace_s(self, audit: Path, people: Path) -> None:
        other = people.with_name("other.csv")
        people_frame(1_400).write_csv(other)
        refused(fairtest("test", other, *ASK, "--workspace", audit), "other.csv is not the data")
        people_frame().reverse().write_csv(people)
        refused(fairtest("test", audit, *ASK), "in another order")

    def test_the_same_people_in_another_format_are(self, audit: Path, people: Path) -> None:
        moved = people.with_name("moved.parquet")
        people_frame().write_parquet(moved)
        people.unlink()
        refused(fairtest("test", audit, *ASK), "is gone", "--workspace")
        assert fairtest("test", moved, *ASK, "--workspace", audit).code == 0

    def test_a_second_question_may_say_more_about_columns(self, people: Path) -> None:
        fairtest("test", people, *ASK, "--budget", 2, "--favourable", "hired=yes")
        more = ("-p", "sex", "-o", "said", "-x", "region", "--favourable", "said=no", "--json", "-")
        run = fairtest("test", people, *more)
        assert json.loads(run.out)["investigations"][0]["favourable"] == "no"


class TestStatus:
    def test_says_what_was_asked(self, audit: Path) -> None:
        fairtest("test", audit, *ASK)
        run = fairtest("status", audit)
        assert (run.code, run.err) == (0, "")
        for words in ("1 spent, 1 left", "fairtest test audit -p sex -o hired", "Testing of 'hired' by sex: "):
            assert words in run.out

    def test_of_what_is_none(self, tmp_path: Path, people: Path) -> None:
        refused(fairtest("status", tmp_path), "is not a workspace")
        refused(fairtest("status", tmp_path / "nothing"), "There is no workspace")
        refused(fairtest("status", people), "is not a workspace")

    def test_of_a_damaged_one(self, audit: Path) -> None:
        (audit / "workspace.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5_000)
        refused(fairtest("status", audit), "is damaged")


class TestReport:
    def test_shows_what_was_shown(self, audit: Path, tmp_path: Path) -> None:
        names = ("r.json", "r.html", "r.txt")
        written = [
            o for option, name in zip(("--json", "--html", "--text"), names, strict=True) for o in (option, name)
        ]
        (tmp_path / "then").mkdir(), (tmp_path / "now").mkdir()
        first = in_a_process("test", audit, *ASK, *written, cwd=tmp_path / "then")
        fairtest("test", audit, "-p", "region", "-o", "hired", "-x", "pay")
        again = in_a_process("report", audit, 1, *written, cwd=tmp_path / "now")
        assert again.out == first.out
        assert first.out.startswith("FairTest")
        for name in names:
            assert (tmp_path / "now" / name).read_bytes() == (tmp_path / "then" / name).read_bytes()

    def test_the_last_is_meant(self, audit: Path) -> None:
        for protected in ("sex", "region"):
            last = fairtest("test", audit, "-p", protected, "-o", "hired", "-x", "pay")
        assert fairtest("report", audit).out == last.out

    def test_a_run_that_is_not_there(self, audit: Path) -> None:
        refused(fairtest("report", audit), "no report yet")
        fairtest("test", audit, *ASK)
        refused(fairtest("report", audit, 2), "no run 2")

    def test_of_a_batch(self, audit: Path, tmp_path: Path) -> None:
        source = ft.Workspace(audit).source
        batch = [ft.Testing(source, "sex", o, contextual=["region"]) for o in ("hired", "said")]
        ft.train(batch)
        ft.test(batch)
        run = fairtest("report", audit, "--out", tmp_path / "both", "--full")
        assert run.out == "".join(report.to_text() for report in ft.report(batch))
        assert len(list((tmp_path / "both").iterdir())) == 6
        refused(fairtest("report", audit, "--json", tmp_path / "r.json"), "2 reports", "--out")


class TestInterrupted:
    """Between storing and showing: the set is spent, and the user is told where its report is."""

    @pytest.fixture
    def stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def write(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("fairtest.cli.outputs.Outputs.write", write)

    @pytest.mark.usefixtures("stopped")
    def test_a_run_that_is_stored(self, audit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        refused(fairtest("test", audit, *ASK), f"is stored. To see it: fairtest report {audit} 1", code=130)
        refused(fairtest("explain", audit, "--by", "department"), f"fairtest report {audit} 2", code=130)
        monkeypatch.undo()
        assert fairtest("report", audit, 1).code == 0

    @pytest.mark.usefixtures("stopped")
    def test_without_a_workspace(self, people: Path) -> None:
        refused(fairtest("test", people, *ASK), "no report was written", code=130)

    def test_before_it_is_stored(self, audit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def spend(*_: object) -> None:
            raise KeyboardInterrupt

        assert fairtest("test", audit, *ASK).code == 0  # another run of the workspace is not this one
        monkeypatch.setattr("fairtest.workspace.sqlite.SQLiteLedger.spend", spend)
        refused(fairtest("test", audit, *ASK), "no report was written", code=130)


class TestExplain:
    def test_in_another_process_is_the_same_as_in_one(self, audit: Path, people: Path, tmp_path: Path) -> None:
        in_a_process("test", audit, *ASK, cwd=tmp_path)
        run = in_a_process("explain", audit, "--by", "department", "--json", "-", cwd=tmp_path)
        assert (run.code, run.err) == (0, "")
        source = ft.DataSource(people, budget=2, favourable={"hired": "yes"})
        made = ft.Testing(source, "sex", "hired", contextual=["region", "pay"])
        ft.train(made, search="tree", min_size=150)
        ft.test(made)
        expected = ft.explain(made, by="department").to_json()
        command = '"repeat": "fairtest explain audit --by department"'
        assert run.out.encode() == expected.replace('"repeat": null', command).encode()
        assert fairtest("report", audit, "--json", "-").out == run.out

    def test_needs_something_to_explain(self, audit: Path) -> None:
        refused(fairtest("explain", audit, "--by", "department"), "no report yet")

    def test_a_wrong_column(self, audit: Path) -> None:
        fairtest("test", audit, *ASK)
        refused(fairtest("explain", audit, "--by", "departmen"), "Did you mean 'department'")
        assert ft.Workspace(audit).left == 1

    def test_fails_on_findings(self, audit: Path) -> None:
        fairtest("test", audit, *ASK)
        assert fairtest("explain", audit, "--by", "department", "--fail-on-findings").code == 1


@pytest.mark.parametrize("name", ["init", "status", "explain", "report"])
def test_help(name: str) -> None:
    run = fairtest(name, "--help")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: fairtest {name}")


def test_a_folder_of_parquet_is_no_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, part in enumerate(people_frame().iter_slices(500)):
        pl.DataFrame(part).write_parquet(folder / f"{i}.parquet")
    assert fairtest("test", folder, *ASK, "--budget", 2).code == 0
    assert ft.Workspace(tmp_path / "parts.fairtest").left == 1


class TestAskedAlready:
    """The same question again is free."""

    def test_the_stored_run_is_shown(self, tmp_path: Path) -> None:
        data = tmp_path / "people.csv"
        people_frame().write_csv(data)
        question = ("-p", "sex", "-o", "hired", "-x", "region", "--budget", "2")
        first = fairtest("test", data, *question)
        again = fairtest("test", data, *question, "--html", tmp_path / "r.html")
        assert "Asked already: this is run 1" in again.err
        assert (tmp_path / "r.html").exists()
        assert again.out.splitlines()[:5] == first.out.splitlines()[:5]
        workspace = ft.Workspace(tmp_path / "people.fairtest")
        assert workspace.left == 1
        spent = fairtest("test", data, *question, "--again")
        assert (spent.code, workspace.left) == (0, 0)
        assert fairtest("test", data, *question).code == 0, "also when nothing is left"

    def test_what_the_workspace_settled_need_not_be_repeated(self, tmp_path: Path) -> None:
        data = tmp_path / "people.csv"
        people_frame().write_csv(data)
        question = ("-p", "sex", "-o", "hired", "-x", "region")
        fairtest("test", data, *question, "--budget", "3", "--seed", "0")
        workspace = ft.Workspace(tmp_path / "people.fairtest")
        assert "Asked already: this is run 1" in fairtest("test", data, *question).err
        assert (
            "Asked already: this is run 1"
            in fairtest("test", data, *question, "--workspace", tmp_path / "people.fairtest").err
        )
        assert workspace.left == 2
        refused = fairtest("test", data, *question, "--budget", "4")
        assert (refused.code, workspace.left) == (2, 2), "another budget than that of the workspace"
        assert "Asked already" not in fairtest("test", data, *question[:-1], "department").err
        assert workspace.left == 1

    def test_a_file_leads_to_the_workspace_beside_it_and_runs_are_compared(self, tmp_path: Path) -> None:
        data = tmp_path / "people.csv"
        people_frame().write_csv(data)
        fairtest("test", data, "-p", "sex", "-o", "hired", "-x", "region", "--budget", "2")
        assert fairtest("explain", data, "--by", "department").code == 0
        assert "2 spent, 0 left" in fairtest("status", data).out
        changes = fairtest("compare", data, 1, 2).out
        assert "run 1 │" in changes
        assert "sex: everyone" in changes
        assert "run 2, given department" in changes
        said = " ".join(changes.split())
        assert "Two kinds of numbers: run 1 compares all people together, run 2 compares people with the same" in said
        assert "as before" not in changes
        assert "(everybody counts too)" in fairtest("status", data).out

    def test_an_explanation_is_shown_again_until_there_is_another_question(self, tmp_path: Path) -> None:
        data = tmp_path / "people.csv"
        people_frame().write_csv(data)
        fairtest("test", data, "-p", "sex", "-o", "hired", "-x", "region", "--budget", "5")
        workspace = ft.Workspace(tmp_path / "people.fairtest")
        fairtest("explain", data, "--by", "department")
        assert "Asked already: this is run 2" in fairtest("explain", data, "--by", "department").err
        assert workspace.left == 3
        fairtest("explain", data, "--by", "department", "--again")
        assert workspace.left == 2
        fairtest("test", data, "-p", "sex", "-o", "hired", "-x", "region", "--again")
        assert "Asked already" not in fairtest("explain", data, "--by", "department").err
        assert workspace.left == 0

    def test_status_says_where_data_is_that_was_moved_with_its_workspace(self, tmp_path: Path) -> None:
        data, moved = tmp_path / "people.csv", tmp_path / "moved"
        people_frame().write_csv(data)
        fairtest("init", tmp_path / "people.fairtest", data)
        moved.mkdir()
        (tmp_path / "people.fairtest").rename(moved / "people.fairtest")
        data.rename(moved / "people.csv")
        assert f"file     {moved.resolve() / 'people.csv'}" in fairtest("status", moved / "people.fairtest").out
        (moved / "people.csv").unlink()
        assert "(not there now)" in fairtest("status", moved / "people.fairtest").out
