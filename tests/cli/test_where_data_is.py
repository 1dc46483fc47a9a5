"""Data from odd places: standard input, and the folder one is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calling import fairtest
from click.testing import CliRunner

from fairtest.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_csv_on_stdin(here: Path) -> None:
    asked = ["test", "-", "-p", "sex", "-o", "hired", "--overall-only"]
    run = CliRunner().invoke(cli, asked, input=(here / "people.csv").read_bytes())
    assert run.exit_code == 0
    assert "stdin.csv · 1,200 people" in run.output


def test_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = fairtest("test", ".", "-p", "sex", "-o", "hired")
    assert (run.code, "no Parquet files" in run.err) == (2, True)
