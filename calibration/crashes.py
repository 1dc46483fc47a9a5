"""Processes that are killed at any moment, and what is left of a workspace.

Run it with ``python -m calibration.crashes --kills 50``. Each process audits the next test set of one workspace and is
killed by SIGKILL: after a random time, when SQLite's journal appears (so within the commit), or at the first byte it
shows. After each, the ledger must agree with what was shown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import fairtest as ft

PEOPLE_PER_SET = 60
DONE = "done before the kill"
QUESTION = ("-p", "sex", "-o", "hired", "-x", "region", "--min-size", "200", "--search", "tree", "--json", "-")


@dataclass(frozen=True)
class Ended:
    """How a process ended: what it had shown by then, and whether it was killed."""

    shown: bytes
    killed: bool
    seconds: float


def people(path: Path, sets: int) -> Path:
    """Write a file with people enough for so many test sets: women are hired less often in the north."""
    rng = np.random.default_rng(3)
    n = int(PEOPLE_PER_SET * sets / 0.7) + 600
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    rate = 0.6 - 0.4 * ((sex == "f") & (region == "north"))
    pl.DataFrame({"sex": sex, "region": region, "hired": rng.random(n) < rate}).write_csv(path)
    return path


def audit(workspace: Path, moment: float | str | None) -> Ended:
    """Audit the next test set in a process of its own, and kill it after some seconds, or at an event.

    ``"commit"`` is when SQLite's journal appears, ``"show"`` the first byte of the report; None lets it end.
    """
    command = [sys.executable, "-m", "fairtest.cli.main", "test", str(workspace), "--again", *QUESTION]
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        first = b""
        if isinstance(moment, float):
            with suppress(subprocess.TimeoutExpired):
                process.wait(moment)
        elif moment == "commit":
            journal = workspace / "workspace.sqlite-journal"
            while process.poll() is None and not journal.exists():
                time.sleep(1e-4)
        elif moment == "show":
            first = process.stdout.read(1)
        if moment is not None:
            process.kill()
        shown = first + process.stdout.read()
        killed = process.wait() != 0
    return Ended(shown, killed, time.monotonic() - start)


def moment(number: int, seconds: float, rng: np.random.Generator) -> float | str:
    """Return when to kill: half at any time of a run, a quarter late in it, an eighth each in the commit and after."""
    late, anywhere = float(rng.uniform(0.8, 1) * seconds), float(rng.uniform(0, 1) * seconds)
    return ("commit", late, anywhere, "show", anywhere, late, anywhere, anywhere)[number % 8]


def check(workspace: ft.Workspace, before: frozenset[int], ended: Ended) -> str:
    """Raise unless the ledger agrees with what was shown, and return what had happened."""
    spent = workspace.ledger.spent_sets()
    new = spent - before
    assert before <= spent, "a test set that was spent is free again"
    assert len(new) <= 1, "one process spent several test sets"
    assert spent <= set(range(1, workspace.budget + 1)), "the budget is overspent"
    assert [run.number for run in workspace.runs if not run.reports] == [], "a test set is spent without a report"
    for number in new:
        (kept,) = workspace.ledger.reports(number)
        assert workspace.report(number).to_json() == kept.json, "a report is not what was stored"
        assert kept.json.encode().startswith(ended.shown), "something else was shown than is stored"
        if not ended.killed:
            assert kept.json.encode() == ended.shown, "a process that ended has not shown its report"
    assert new or not ended.shown, "something was shown of a test set that is not spent"
    if not new:
        return "nothing stored, nothing shown"
    if not ended.killed:
        return DONE
    return "stored, and partly shown" if ended.shown else "stored, not yet shown"


def survive(folder: Path, kills: int, seed: int = 0) -> Counter[str]:
    """Kill so many processes, and return how often each thing had happened by then.

    A process that was done before its time does not count; how long one takes is learned from those.
    """
    budget = 4 * kills + 2
    rng = np.random.default_rng(seed)
    workspace = ft.Workspace.create(folder / "workspace", people(folder / "people.csv", budget), budget=budget)
    first = audit(workspace.path, None)
    assert check(workspace, frozenset(), first) == DONE
    counted: Counter[str] = Counter()
    seconds = first.seconds
    while counted.total() < kills and workspace.left > 1:
        before = workspace.ledger.spent_sets()
        ended = audit(workspace.path, moment(counted.total(), seconds, rng))
        what = check(workspace, before, ended)
        if what == DONE:
            seconds = (seconds + ended.seconds) / 2
        else:
            counted[what] += 1
    before = workspace.ledger.spent_sets()
    last = audit(workspace.path, None)
    assert check(workspace, before, last) == DONE, "what is left of the budget cannot be used"
    assert workspace.left == budget - len(before) - 1
    return counted


def main() -> None:
    """Print how often each thing had happened when the process was killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        counted = survive(Path(folder), options.kills, options.seed)
    for what, number in counted.most_common():
        print(f"{number:4}  {what}")
    print(f"{counted.total():4}  kills; each time the ledger agreed with what was shown")


if __name__ == "__main__":
    main()
