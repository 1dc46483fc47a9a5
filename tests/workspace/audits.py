"""People to audit, and the command line in a process of its own or, which is quicker, in this one."""

from __future__ import annotations

import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from click.testing import CliRunner

import fairtest as ft
from fairtest.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("-x", "region", "-x", "pay", "--search", "tree", "--min-size", "150", "--again")
"""Options that make a search short; the same for the library is SHORT."""
SHORT = {"search": "tree", "min_size": 150}


def people_frame(n: int = 1_500) -> pl.DataFrame:
    """Women are hired less often in the north; the model is wrong about them more often there."""
    rng = np.random.default_rng(5)
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    hit = (sex == "f") & (region == "north")
    hired = rng.random(n) < 0.6 - 0.45 * hit
    return pl.DataFrame(
        {
            "sex": sex,
            "region": region,
            "pay": rng.normal(10, 1, n).round(6),
            "department": rng.choice(list("ABC"), n),
            "hired": np.where(hired, "yes", "no"),
            "said": np.where(hired ^ (rng.random(n) < 0.1 + 0.3 * hit), "yes", "no"),
            "tags": np.where(hit & (rng.random(n) < 0.7), "late|slow", "|"),
        }
    )


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


def words(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "fairtest.cli.main", *map(str, arguments)]


def in_a_process(*arguments: object, cwd: Path) -> Run:
    done = subprocess.run(
        words(*arguments), capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False, timeout=300
    )
    return Run(done.returncode, done.stdout, done.stderr)


def in_this_process(*arguments: object, cwd: Path) -> Run:
    with chdir(cwd):
        result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="fairtest")
    return Run(result.exit_code, result.stdout, result.stderr)


def spend_one(source: ft.DataSource, **options: object) -> ft.Testing:
    """An investigation that has spent a test set."""
    made = ft.Testing(source, "sex", "hired", contextual=["region", "pay", "department"], **options)  # type: ignore[arg-type]
    ft.train([made], **SHORT)  # type: ignore[arg-type]
    ft.test([made])
    return made
