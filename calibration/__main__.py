"""Run the calibration: ``python -m calibration [--quick] [--metric X] [--reps N] [--out docs/calibration.md]``.

Exits with 1 when a rule of section 7 of the statistics is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.designs import designs
from calibration.levels import evaluate, replicates
from calibration.page import page
from calibration.rules import judge, limits, null_runs_hold
from calibration.runs import ADULT, Tally, adult_runs, null_runs, settings, tallies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.levels import Cell

OUT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
ENOUGH = 1_000
"""From this many runs on, the limit itself must be below 7 %; of fewer, only a clear excess over 5 % counts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, write the page, and return 1 if a rule is broken."""
    options = _options(arguments)
    started = time.monotonic()
    cells = [] if options.only == "runs" else _cells(options)
    runs, adult = ([], []) if options.only == "levels" or options.metric else _runs(options)
    verdict = judge(cells, complete=options.metric is None and bool(cells) and not options.quick)
    broken = [*verdict.broken, *_broken_runs([*runs, *adult])]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(page(cells, verdict, runs, adult), encoding="utf-8")
    print("\n".join([*broken, f"{len(broken)} rules broken, {(time.monotonic() - started) / 60:.0f} minutes"]))
    return int(bool(broken))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m calibration", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the replicates and runs")
    parser.add_argument("--metric", help='one metric or conditional metric only, such as "ETA" or "conditional NMI"')
    parser.add_argument("--reps", type=int, help="replicates of a cheap design (default 4,000, quick 200)")
    parser.add_argument("--runs", type=int, help="null runs of each setting (default 15, quick 1)")
    parser.add_argument("--adult", type=int, help="runs on shuffled Adult (default 2,000, quick 20)")
    parser.add_argument("--only", choices=("levels", "runs"), help="leave out the other half")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write the page")
    options = parser.parse_args(arguments)
    for name, full, quick in (("reps", 4_000, 200), ("runs", 15, 1), ("adult", 2_000, 20)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    return options


def _cells(options: argparse.Namespace) -> list[Cell]:
    chosen = [d for d in designs() if options.metric in (None, d.form)]
    cells = []
    for i, design in enumerate(chosen, start=1):
        _progress(f"{i} of {len(chosen)} cells: {design.name}")
        cells.append(evaluate(design, replicates(design, options.reps), options.seed))
    _progress("")
    return cells


def _runs(options: argparse.Namespace) -> tuple[list[Tally], list[Tally]]:
    results = []
    total = options.runs * len(settings())
    for i, result in enumerate(null_runs(options.runs, options.seed), start=1):
        _progress(f"{i} of {total} null runs")
        results.append(result)
    _progress("")
    return (tallies(results) if results else []), _adult(options)


def _adult(options: argparse.Namespace) -> list[Tally]:
    if not ADULT.exists():
        print(f"shuffled Adult: SKIPPED, there is no {ADULT.name} in ../{ADULT.parent.parent.name}/{ADULT.parent.name}")
        return []
    found: dict[str, list[bool]] = {"all runs": []}
    for i, (question, something) in enumerate(adult_runs(options.adult, options.seed), start=1):
        _progress(f"{i} of {options.adult} runs on shuffled Adult")
        what = ", ".join(str(v) for v in question.values())
        for key in ("all runs", what):
            found.setdefault(key, []).append(something)
    _progress("")
    return [Tally(what, sum(results), len(results)) for what, results in found.items() if results]


def _broken_runs(runs: Sequence[Tally]) -> list[str]:
    """Return in words which kinds of run report too often."""
    broken = []
    for t in runs:
        clear = limits(t.found, t.runs, 0.05 / len(runs))[0] > 0.05
        if clear or (t.runs >= ENOUGH and not null_runs_hold(t.found, t.runs)):
            broken.append(f"null runs, {t.what}: {t.found} of {t.runs} with a finding")
    return broken


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:110]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
