"""A workspace in Python: the budget, the data and the reports outlast the process."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl
import pytest
from audits import SHORT, people_frame, spend_one

import fairtest as ft
from fairtest.data.holdout import Budget
from fairtest.workspace.ledger import AlreadySpent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest.investigations.base import Investigation


@pytest.fixture
def workspace(tmp_path: Path, people: Path) -> ft.Workspace:
    return ft.Workspace.create(tmp_path / "audit", people, budget=3, favourable={"hired": "yes"})


def again(workspace: ft.Workspace, data: object = None) -> ft.Workspace:
    """The same workspace, as another process opens it."""
    return ft.Workspace(workspace.path, data)


class TestTheBudget:
    def test_lasts(self, workspace: ft.Workspace) -> None:
        sets = []
        for _ in range(3):
            made = spend_one(again(workspace).source)
            sets.append(ft.report(made)[0].settings.set)
        assert sets == [1, 2, 3]
        assert workspace.left == workspace.source.budget.left == 0
        with pytest.raises(ft.BudgetExhausted, match="all 3 test sets"):
            spend_one(again(workspace).source)
        assert [run.number for run in workspace.runs] == [1, 2, 3]

    def test_is_that_of_a_data_source(self, workspace: ft.Workspace, people: Path) -> None:
        source = ft.DataSource(people, budget=3, favourable={"hired": "yes"})
        for _ in range(2):
            kept = spend_one(again(workspace).source)
            assert ft.report(kept)[0].to_json() == ft.report(spend_one(source))[0].to_json()

    def test_a_failed_run_gives_its_set_back(self, workspace: ft.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("fairtest.model.report.Report.to_html", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                spend_one(workspace.source)
        assert (again(workspace).left, workspace.runs) == (3, ())
        assert ft.report(spend_one(workspace.source))[0].settings.set == 1

    def test_a_run_that_is_interrupted_while_storing_gives_it_back(
        self, workspace: ft.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        made = ft.Testing(workspace.source, "sex", "hired")
        ft.train(made, **SHORT)
        monkeypatch.setattr("fairtest.workspace.sqlite.SQLiteLedger.spend", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ft.test(made)
        assert made.results is None
        assert workspace.left == 3

    def test_a_set_that_others_hold_is_passed_over(self, workspace: ft.Workspace) -> None:
        with workspace.source.budget.draw() as first:
            other = ft.report(spend_one(again(workspace).source))[0]
            assert (first, other.settings.set) == (1, 2)
        assert workspace.left == 1  # what was drawn is spent, with or without a report
        assert "no report" in str(workspace.status())
        assert workspace.report() == other

    def test_waits_for_a_set_in_use_and_takes_it_when_given_back(self, workspace: ft.Workspace) -> None:
        waiting, done = threading.Event(), []
        for _ in range(2):
            spend_one(workspace.source)
        other = again(workspace)
        other.caller.waiting = lambda _: waiting.set()
        asking = threading.Thread(target=lambda: done.append(spend_one(other.source)))
        with suppress(ZeroDivisionError), workspace.source.budget.draw():
            asking.start()
            assert waiting.wait(60)
            assert (done, again(workspace).left) == ([], 1)
            raise ZeroDivisionError
        asking.join(60)
        assert [run.number for run in workspace.runs] == [1, 2, 3]
        assert len(done) == 1

    def test_waits_for_a_set_in_use_and_is_refused_when_spent(self, workspace: ft.Workspace) -> None:
        waiting, refused = threading.Event(), []
        for _ in range(2):
            spend_one(workspace.source)
        other = again(workspace)
        other.caller.waiting = lambda _: waiting.set()

        def ask() -> None:
            try:
                spend_one(other.source)
            except ft.BudgetExhausted as error:
                refused.append(error)

        asking = threading.Thread(target=ask)
        with workspace.source.budget.draw():
            asking.start()
            assert waiting.wait(60)
        asking.join(60)
        assert (len(refused), workspace.left) == (1, 0)

    def test_a_lock_that_does_not_work_cannot_overspend_it(
        self, workspace: ft.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two processes work on set 1 because their file system has no locks: one answer is thrown away unseen."""
        monkeypatch.setattr("fairtest.workspace.sqlite.hold_lock", lambda _: nullcontext(True))
        slow = ft.Testing(workspace.source, "sex", "hired", contextual=["region"])
        ft.train(slow, **SHORT)
        with monkeypatch.context() as patch:
            spend = workspace.ledger.spend
            patch.setattr(
                workspace.ledger,
                "spend",
                lambda run, reports: (spend_one(again(workspace).source), spend(run, reports)),
            )
            with pytest.raises(AlreadySpent):
                ft.test(slow)
        assert slow.results is None
        assert [run.number for run in workspace.runs] == [1]

    def test_more_columns_do_not_make_more_of_it(self, workspace: ft.Workspace) -> None:
        wider = workspace.source.with_columns({"score": list(range(1_500))})
        made = ft.Testing(wider, "sex", "score", contextual=["region"])
        ft.train(made, **SHORT)
        ft.test(made)
        assert again(workspace).left == 2

    def test_a_batch_is_one_run(self, workspace: ft.Workspace) -> None:
        batch = [ft.Testing(workspace.source, "sex", o, contextual=["region"]) for o in ("hired", "said")]
        ft.train(batch, **SHORT)
        ft.test(batch)
        (run,) = again(workspace).runs
        assert [line.title for line in run.reports] == ["Testing of 'hired' by sex", "Testing of 'said' by sex"]
        for place, report in enumerate(ft.report(batch), start=1):
            assert again(workspace).report(1, place) == report

    def test_an_undivided_source(self, tmp_path: Path, people: Path) -> None:
        workspace = ft.Workspace.create(tmp_path / "whole", people, split=False)
        report = ft.audit(workspace.source, "sex", "hired", contextual=["region"])
        assert report.to_json() == ft.audit(people, "sex", "hired", contextual=["region"], split=False).to_json()
        assert again(workspace).left == 0


class TestTheReports:
    def test_come_back_as_they_were(self, workspace: ft.Workspace) -> None:
        shown = [ft.report(spend_one(workspace.source))[0] for _ in range(2)]
        later = again(workspace)
        assert [later.report(1), later.report(2)] == shown
        assert later.report() == shown[1]
        assert [f().encode() for f in (later.report(1).to_html, later.report(1).to_text, later.report(1).to_json)] == [
            f().encode() for f in (shown[0].to_html, shown[0].to_text, shown[0].to_json)
        ]

    def test_of_another_version_are_shown_in_its_words(
        self, workspace: ft.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        report = ft.report(spend_one(workspace.source))[0]
        monkeypatch.setattr("fairtest.workspace.showing.__version__", "9.0")
        monkeypatch.setattr("fairtest.reporting.formats.text.render_text", lambda *_, **__: "other words")
        (shown,) = again(workspace).read_reports()
        assert (shown.render("json"), shown.render("html")) == (report.to_json(), report.to_html())
        assert shown.render("text").startswith("FairTest")
        assert (shown.kind, shown.output) == ("testing", "hired")

    def test_need_no_data(self, workspace: ft.Workspace, people: Path) -> None:
        report = ft.report(spend_one(workspace.source))[0]
        people.unlink()
        later = again(workspace)
        assert later.report() == report
        assert "1 spent, 2 left" in str(later.status())
        with pytest.raises(ft.InputError, match="is gone"):
            _ = later.source

    @pytest.mark.parametrize("run", [0, 2, 7])
    def test_of_a_run_that_is_not_there(self, workspace: ft.Workspace, run: int) -> None:
        spend_one(workspace.source)
        with pytest.raises(ft.InputError, match=f"no run {run}. There are: 1"):
            workspace.report(run)

    def test_before_the_first(self, workspace: ft.Workspace) -> None:
        with pytest.raises(ft.UsageError, match="no report yet"):
            workspace.report()

    def test_a_place_that_is_not_there(self, workspace: ft.Workspace) -> None:
        spend_one(workspace.source)
        with pytest.raises(ft.InputError, match="'place' must be from 1 to 1"):
            workspace.report(1, place=2)


class TestTheData:
    def test_may_come_in_another_format_and_another_order_of_columns(
        self, workspace: ft.Workspace, tmp_path: Path
    ) -> None:
        first = ft.report(spend_one(workspace.source))[0]
        moved = tmp_path / "moved.parquet"
        people_frame().select("tags", "sex", pl.exclude("tags", "sex")).write_parquet(moved)
        for data in (moved, people_frame(), people_frame().to_arrow()):
            source = again(workspace, data).source
            assert (source.fingerprint, source.table.name) == (first.data.fingerprint, "people.csv")
        report = ft.report(spend_one(again(workspace, moved).source))[0]
        assert report.settings.set == 2

    CHANGES: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {  # noqa: RUF012 - a table of cases
        "edited": (lambda f: f.with_columns(hired=pl.Series(["no", *f["hired"][1:]])), "its values or columns differ"),
        "reordered": (lambda f: f.reverse(), "in another order"),
        "two rows exchanged": (lambda f: pl.concat([f[1], f[0], f[2:]]), "in another order"),
        "longer": (lambda f: pl.concat([f, f[:1]]), "it had 1,500 people"),
        "a column more": (lambda f: f.with_columns(x=1), "its values or columns differ"),
        "a column renamed": (lambda f: f.rename({"pay": "wage"}), "its values or columns differ"),
    }

    @pytest.mark.parametrize("how", CHANGES)
    def test_must_be_the_same(self, workspace: ft.Workspace, people: Path, how: str) -> None:
        change, words = self.CHANGES[how]
        change(people_frame()).write_csv(people)
        with pytest.raises(ft.InputError, match=words):
            _ = again(workspace).source
        assert again(workspace).left == 3

    def test_of_a_frame_must_be_given_again(self, tmp_path: Path) -> None:
        workspace = ft.Workspace.create(tmp_path / "audit", people_frame(), budget=2)
        report = ft.report(spend_one(workspace.source))[0]
        with pytest.raises(ft.UsageError, match="data=frame"):
            _ = again(workspace).source
        later = again(workspace, people_frame())
        assert later.report() == report
        assert ft.report(spend_one(later.source))[0].settings.set == 2
        with pytest.raises(ft.InputError, match="in another order"):
            _ = again(workspace, people_frame().reverse()).source

    def test_may_move_with_the_workspace_or_without(self, workspace: ft.Workspace, tmp_path: Path) -> None:
        spend_one(workspace.source)
        (tmp_path / "there").mkdir()
        shutil.copytree(workspace.path, tmp_path / "there" / "audit")
        moved = ft.Workspace(tmp_path / "there" / "audit")
        assert moved.source.table.n_rows == 1_500  # where it was
        shutil.move(tmp_path / "people.csv", tmp_path / "there" / "people.csv")
        moved = ft.Workspace(tmp_path / "there" / "audit")
        assert moved.source.table.n_rows == 1_500  # beside it

    def test_more_may_be_said_about_its_columns(self, tmp_path: Path, people: Path) -> None:
        frame = people_frame().with_columns(pl.format("{}0", pl.col("pay").round(1)).alias("grade"))
        frame.write_csv(people)
        workspace = ft.Workspace.create(tmp_path / "audit", people, budget=2, reference={"sex": "m"})
        source = again(workspace).source_for(categorical=["grade"], favourable={"hired": "no"}, reference={"sex": "f"})
        assert source.table["grade"].kind is ft.Kind.CATEGORICAL
        assert (source.favourable, source.reference) == ({"hired": "no"}, {"sex": "f"})
        assert list(source.holdout.rows(1)) == list(workspace.source.holdout.rows(1))
        with pytest.raises(ft.InputError, match="'seed' is no declaration"):
            workspace.source_for(seed=3)


def _testing(source: ft.DataSource) -> Investigation:
    return ft.Testing(
        source,
        [("sex", "region"), "sex"],
        "hired",
        contextual=["region", "pay", "department"],
        metrics={"sex": "RATIO"},
    )


def _numbers(source: ft.DataSource) -> Investigation:
    return ft.Testing(source, "sex", "pay", exclude=["tags"], explanatory="region")


def _discovery(source: ft.DataSource) -> Investigation:
    return ft.Discovery(source, "sex", "tags", separator="|", top_k=5, contextual=["region", "pay"])


def _errors(source: ft.DataSource) -> Investigation:
    return ft.ErrorProfiling(source, "sex", "said", "hired", notion="equalized-odds", contextual=["region", "pay"])


def _classes(source: ft.DataSource) -> Investigation:
    return ft.ErrorProfiling(source, "sex", "said", "hired", error="confusion", contextual=["region"])


class TestExplain:
    @pytest.mark.parametrize("ask", [_testing, _numbers, _discovery, _errors, _classes])
    def test_is_the_same_from_the_store(
        self, tmp_path: Path, people: Path, ask: Callable[[ft.DataSource], Investigation]
    ) -> None:
        declared = {"favourable": {"hired": "yes"}, "reference": {"sex": "m"}}
        source = ft.DataSource(people, budget=3, **declared)
        there = ask(source)
        ft.train(there, **SHORT)
        ft.test(there)
        workspace = ft.Workspace.create(tmp_path / "audit", people, budget=3)
        here = ask(workspace.source_for(**declared))
        ft.train(here, **SHORT)
        ft.test(here)
        assert ft.report(here)[0].to_json() == ft.report(there)[0].to_json()
        for _ in range(2):  # the second explains the first run too, not the explanation
            told = again(workspace).explain("department")
            assert told.to_json() == ft.explain(there, by="department").to_json()
            assert again(workspace).report() == told

    def test_an_explanation_can_be_explained(self, workspace: ft.Workspace, people: Path) -> None:
        made = spend_one(ft.DataSource(people, budget=3, favourable={"hired": "yes"}))
        spend_one(workspace.source)
        again(workspace).explain("department")
        told = again(workspace).explain("region", run=2)
        assert told.explanatory == ("department", "region")
        assert ft.report(made)[0].settings.set == 1
        assert [line.explained_by for run in workspace.runs for line in run.reports] == [
            "",
            "department",
            "department, region",
        ]

    def test_a_function_cannot_be_kept(self, workspace: ft.Workspace) -> None:
        made = ft.ErrorProfiling(workspace.source, "sex", "said", "hired", error=lambda said, hired: said != hired)
        ft.train(made, **SHORT)
        ft.test(made)
        with pytest.raises(ft.InputError, match="by a function"):
            again(workspace).explain("department")
        assert workspace.left == 2

    def test_a_wrong_column_spends_nothing(self, workspace: ft.Workspace) -> None:
        spend_one(workspace.source)
        with pytest.raises(ft.InputError, match="Did you mean 'department'"):
            again(workspace).explain("departmen")
        assert workspace.left == 2


class TestMaking:
    def test_twice_is_an_error(self, workspace: ft.Workspace, people: Path) -> None:
        with pytest.raises(ft.InputError, match="is a workspace already"):
            ft.Workspace.create(workspace.path, people)

    def test_in_a_folder_with_other_things(self, tmp_path: Path, people: Path) -> None:
        with pytest.raises(ft.InputError, match=r"not empty \('people.csv' is in it\)"):
            ft.Workspace.create(tmp_path, people)

    def test_in_a_file(self, people: Path) -> None:
        with pytest.raises(ft.InputError, match="is a file"):
            ft.Workspace.create(people, people)

    @pytest.mark.parametrize(("options", "words"), [({"budget": 0}, "budget"), ({"reuse": True, "budget": 3}, "reuse")])
    def test_a_mistake_leaves_nothing(self, tmp_path: Path, people: Path, options: dict, words: str) -> None:
        with pytest.raises(ft.InputError, match=words):
            ft.Workspace.create(tmp_path / "audit", people, **options)
        assert not (tmp_path / "audit").exists()

    def test_opening_what_is_none(self, tmp_path: Path, people: Path) -> None:
        with pytest.raises(ft.InputError, match="There is no workspace"):
            ft.Workspace(tmp_path / "nothing")
        with pytest.raises(ft.InputError, match="is not a workspace"):
            ft.Workspace(tmp_path)

    @pytest.mark.parametrize(("name", "value"), [("seed", 1), ("budget", 2), ("conf", 0.9), ("train_size", 0.5)])
    def test_joining_one_that_differs(self, workspace: ft.Workspace, people: Path, name: str, value: float) -> None:
        options = {"budget": 3, name: value}
        with pytest.raises(ft.InputError, match=f"'{name}' is {value}, and"):
            ft.Workspace.create_from_source(workspace.path, ft.DataSource(people, **options), people, options)

    def test_it_shows_itself(self, workspace: ft.Workspace) -> None:
        spend_one(workspace.source)
        expected = f"Workspace({str(workspace.path)!r}: 'people.csv', 1,500 people; 2 of 3 test sets left)"
        with workspace as same:
            assert repr(same) == expected
        assert isinstance(workspace.source.budget, Budget)


@contextmanager
def somebody_else() -> Iterator[None]:
    """Who may do everything must be another to be refused."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_can_be_read() -> None:
    with TemporaryDirectory() as place:  # not the test's own folder, which nobody else may enter
        people_frame().write_csv(f"{place}/people.csv")
        made = ft.Workspace.create(f"{place}/audit", f"{place}/people.csv", budget=2)
        report = ft.report(spend_one(made.source))[0]
        for path, mode in ((Path(place), 0o755), (made.path, 0o555), (made.path / "workspace.sqlite", 0o444)):
            path.chmod(mode)
        with somebody_else():
            workspace = again(made)
            assert (workspace.left, workspace.report()) == (1, report)
            with pytest.raises(ft.InputError, match="cannot be written to"):
                ft.audit(workspace.source, "sex", "hired")
        made.path.chmod(0o755)
