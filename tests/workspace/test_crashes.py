"""Processes that die: the ledger agrees with what was shown."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from audits import QUICK, people_frame, words

import fairtest as ft

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]

DIES = """
import os, signal, sqlite3, sys
from fairtest.cli.main import main
from fairtest.data import registry

moment, connect = sys.argv.pop(1), sqlite3.connect

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

class Watched(sqlite3.Connection):
    def execute(self, statement, *values):
        self.writes = getattr(self, "writes", False) or statement == "BEGIN IMMEDIATE"
        if self.writes and statement.startswith(moment):
            die()
        return super().execute(statement, *values)

    def executemany(self, statement, rows):
        if statement.startswith(moment):
            super().execute(statement, rows[0])
            die()
        return super().executemany(statement, rows)

sqlite3.connect = lambda *given, **more: connect(*given, factory=Watched, **more)
if moment == "after":
    registry.note = die
main()
"""


@pytest.mark.parametrize(
    ("moment", "spent"),
    [("BEGIN IMMEDIATE", 0), ("INSERT INTO run", 0), ("INSERT INTO report", 0), ("COMMIT", 0), ("after", 1)],
)
def test_killed_while_storing(people: Path, tmp_path: Path, moment: str, spent: int) -> None:
    """Every place between two statements of the transaction, and right after it."""
    workspace = ft.Workspace.create(tmp_path / "audit", people, budget=2)
    arguments = words("test", workspace.path, "-p", "sex", "-o", "hired", *QUICK)[3:]
    done = subprocess.run([sys.executable, "-c", DIES, moment, *arguments], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
    assert len(workspace.ledger.spent_sets()) == len(workspace.runs) == spent
    assert all(workspace.report(run.number).settings.set == run.number for run in workspace.runs)
    report = ft.audit(ft.Workspace(workspace.path).source, "sex", "hired", contextual=["region"])
    assert report.settings.set == spent + 1  # the rest of the budget can be used


def test_an_interrupt_leaves_everything_as_it_was(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people_frame(60_000).write_csv(people)
    workspace = ft.Workspace.create(tmp_path / "audit", people, budget=2)
    before = (workspace.path / "workspace.sqlite").read_bytes()
    command = words("test", workspace.path, "-p", "sex", "-o", "hired", "--method", "resampling", "--again")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list(workspace.path.glob("set-*.lock")):
            pass  # until a test set is held
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, b""), err
    assert (workspace.path / "workspace.sqlite").read_bytes() == before
    with workspace.source.budget.draw() as number:
        assert number == 1


@pytest.fixture(scope="module")
def crashes() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        from calibration import crashes

        yield crashes


def test_killed_at_random_moments(crashes: ModuleType, tmp_path: Path) -> None:
    """One of each kind; ``make crash`` kills fifty."""
    assert crashes.survive(tmp_path, kills=4, seed=1).total() == 4


class TestTheCheckItself:
    """A check that cannot fail proves nothing."""

    @pytest.fixture
    def workspace(self, people: Path, tmp_path: Path) -> ft.Workspace:
        return ft.Workspace.create(tmp_path / "audit", people, budget=2)

    def test_shown_and_not_stored(self, crashes: ModuleType, workspace: ft.Workspace) -> None:
        with pytest.raises(AssertionError, match="not spent"):
            crashes.check(workspace, frozenset(), crashes.Ended(b"{", killed=True, seconds=1.0))

    def test_shown_and_stored_differ(self, crashes: ModuleType, workspace: ft.Workspace) -> None:
        ft.audit(workspace.source, "sex", "hired", contextual=["region"])
        with pytest.raises(AssertionError, match="something else was shown"):
            crashes.check(workspace, frozenset(), crashes.Ended(b"[", killed=True, seconds=1.0))

    def test_spent_without_a_report(self, crashes: ModuleType, workspace: ft.Workspace) -> None:
        with workspace.source.budget.draw():
            pass
        with pytest.raises(AssertionError, match="without a report"):
            crashes.check(workspace, frozenset(), crashes.Ended(b"", killed=True, seconds=1.0))
