"""The README shows what the code really prints, and all of its code runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pages
import polars as pl

from fairtest.datasets.berkeley import berkeley
from fairtest.datasets.healthcare import healthcare
from fairtest.datasets.pricing import pricing

if TYPE_CHECKING:
    import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_example_prints_what_the_readme_shows() -> None:
    text = README.read_text(encoding="utf-8")
    code = re.search(r"## An example\n.*?```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"<!-- example-output -->\n```text\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert shown is not None
    done = subprocess.run([sys.executable, "-c", code[1]], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == shown[1]


def test_all_of_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On made-up files with the columns that it speaks of."""
    monkeypatch.chdir(tmp_path)
    berkeley().rename({"gender": "sex"}).write_csv("admissions.csv")
    pricing(people=3_000).write_csv("customers.csv")
    pl.DataFrame({"race": ["a", "b"] * 500, "tags": ["x|y", "y", "z|x", "|"] * 250}).write_csv("pictures.csv")
    loans = {"approved": pl.Series(["yes", "no", "no"] * 400), "repaid": pl.Series(["yes", "no"] * 600)}
    healthcare(1_200).with_columns(**loans).write_csv("patients.csv")
    text = README.read_text("utf-8")
    with pages.own_metrics():
        pages.outputs_of(text)
    commands = [block for block in pages.blocks_of(text) if block.kind == "console"]
    assert len(commands) == 1
    for written in ("report.html", "why.html", "customers.fairtest"):
        assert Path(written).exists()


def test_its_commands_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pricing(people=3_000).write_csv("customers.csv")
    (block,) = (b for b in pages.blocks_of(README.read_text("utf-8")) if b.kind == "console")
    for line in block.body.splitlines():
        ((_, _, done),) = pages.outputs_of(f"```console\n{line}\n$ echo $?\n?\n```\n")
        assert done.endswith("$ echo $?\n0\n"), done
