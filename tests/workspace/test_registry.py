"""The same people audited again elsewhere: a warning."""

from __future__ import annotations

import sqlite3
import warnings
from typing import TYPE_CHECKING

import pytest
from audits import QUICK, in_a_process, in_this_process, people_frame, spend_one

import fairtest as ft
from fairtest.data import registry

if TYPE_CHECKING:
    from pathlib import Path

ASK = ("-p", "sex", "-o", "hired", *QUICK)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("FAIRTEST_HOME", str(folder))
    monkeypatch.delenv("FAIRTEST_REGISTRY")
    return folder


@pytest.fixture
def spent(people: Path, tmp_path: Path) -> ft.Workspace:
    workspace = ft.Workspace.create(tmp_path / "audit", people, budget=3)
    spend_one(workspace.source)
    return workspace


@pytest.mark.usefixtures("spent")
class TestInPython:
    @pytest.mark.parametrize("how", ["the same", "reordered", "columns", "pandas", "parquet"])
    def test_the_same_people_in_any_order_and_format(self, tmp_path: Path, how: str) -> None:
        frame = people_frame()
        frame.write_parquet(tmp_path / "p.parquet")
        data = {
            "the same": frame,
            "reordered": frame.reverse(),
            "columns": frame.select(reversed(frame.columns)),
            "pandas": frame.to_pandas(),
            "parquet": tmp_path / "p.parquet",
        }[how]
        with pytest.warns(ft.FairTestWarning, match=r"1 test set was spent in the workspace .*audit"):
            ft.DataSource(data, seed=5)

    def test_others_are_not_known(self) -> None:
        frame = people_frame()
        ft.DataSource(frame[:-1])
        ft.DataSource(frame.with_columns(hired=frame["hired"].reverse()))

    def test_the_workspace_itself_is_silent(self, spent: ft.Workspace) -> None:
        assert ft.Workspace(spent.path).source.table.n_rows == 1_500
        spend_one(ft.Workspace(spent.path).source)

    def test_another_workspace_is_not(self, people: Path, tmp_path: Path) -> None:
        with pytest.warns(ft.FairTestWarning, match="audited before"):
            ft.Workspace.create(tmp_path / "other", people)

    def test_it_can_be_turned_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAIRTEST_REGISTRY", "off")
        ft.DataSource(people_frame())

    def test_a_broken_registry_is_no_matter(self, home: Path) -> None:
        (home / "registry.sqlite").write_bytes(b"nonsense" * 1_000)
        ft.DataSource(people_frame())
        registry.note("ab", 1, "2026")

    def test_a_locked_registry_is_no_matter(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "PATIENCE", 0.0)
        database = sqlite3.connect(home / "registry.sqlite", isolation_level=None)
        database.execute("BEGIN EXCLUSIVE")
        ft.DataSource(people_frame())
        registry.note("ab", 1, "2026")
        database.close()
        assert registry.audits_of("ab") == []


def test_what_is_stored_is_no_more_than_this(spent: ft.Workspace, home: Path) -> None:
    spend_one(spent.source)
    database = sqlite3.connect(home / "registry.sqlite")
    ((fingerprint, rows, workspace, folder, times, last),) = database.execute("SELECT * FROM audits")
    database.close()
    assert (fingerprint, rows, workspace) == (spent.setup.fingerprint, 1_500, spent.setup.id)
    assert (folder, times, last) == (str(spent.path), 2, spent.runs[-1].finished)


def test_a_registry_that_cannot_be_made_is_no_matter(people: Path, tmp_path: Path, home: Path) -> None:
    home.write_text("a file, not a folder")
    workspace = ft.Workspace.create(tmp_path / "audit", people)
    spend_one(workspace.source)
    assert workspace.left == 0


def test_no_registry_no_fingerprint() -> None:
    """A source of new people is not hashed: nothing is slower."""
    source = ft.DataSource(people_frame())
    assert "fingerprint" not in source.__dict__


def test_a_python_source_is_not_recorded(home: Path) -> None:
    ft.audit(people_frame(), "sex", "hired", contextual=["region"])
    assert not home.exists()


class TestOnTheCommandLine:
    def test_a_file_audited_twice(self, people: Path, tmp_path: Path) -> None:
        first = in_a_process("test", people, *ASK, cwd=tmp_path)
        again = in_a_process("test", people, *ASK, "--seed", 3, cwd=tmp_path)
        assert (first.code, first.err, again.code) == (0, "", 0)
        assert again.err.startswith("fairtest: warning: these people have been audited before: 1 test set was spent")
        assert again.err.count("\n") == 1

    def test_the_very_same_question_again(self, people: Path, tmp_path: Path) -> None:
        """Nothing new is learned; another question or order is no repetition, and the warning counts each once."""
        first = in_this_process("test", people, *ASK, cwd=tmp_path)
        again = in_this_process("test", people, *ASK, "--json", "report.json", "--quiet", cwd=tmp_path)
        assert (again.out, again.err) == (first.out, "")
        people_frame().reverse().write_csv(tmp_path / "reversed.csv")
        assert "1 test set was spent" in in_this_process("test", tmp_path / "reversed.csv", *ASK, cwd=tmp_path).err
        assert "2 test sets were spent" in in_this_process("test", people, *ASK, "--conf", "0.9", cwd=tmp_path).err
        assert in_this_process("test", people, *ASK, cwd=tmp_path).err == ""

    def test_a_copy_of_the_data_of_a_workspace(self, spent: ft.Workspace, tmp_path: Path) -> None:
        people_frame().reverse().write_parquet(tmp_path / "copy.parquet")
        run = in_this_process("test", tmp_path / "copy.parquet", *ASK, cwd=tmp_path)
        assert f"in the workspace {str(spent.path)!r}" in run.err

    def test_the_workspace_itself_is_silent(self, spent: ft.Workspace, tmp_path: Path) -> None:
        assert in_this_process("test", spent.path, *ASK, cwd=tmp_path).err == ""


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/fairtest"),
        ("linux", {}, "/home/me/.local/share/fairtest"),
        ("darwin", {}, "/home/me/Library/Application Support/fairtest"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/fairtest"),
        ("linux", {"FAIRTEST_HOME": "/mine", "XDG_DATA_HOME": "/x"}, "/mine"),
    ],
)
def test_where_it_is(monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str) -> None:
    for name in ("FAIRTEST_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(registry.sys, "platform", platform)
    assert registry.home().as_posix() == expected


def test_the_warning_points_at_the_caller(spent: ft.Workspace) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ft.DataSource(people_frame())
    assert [w.filename for w in caught] == [__file__]
