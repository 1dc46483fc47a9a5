"""Run the calibration: ``python -m calibration [--quick] [--jobs N] [--metric X] [--minutes M] [--out FILE]``.

Exits with 1 when a rule of section 7 of the statistics is broken. Results do not depend on the number of jobs. With
``--minutes`` cells of all metrics are gone through in an order of chance until the time is up, and the page says how
many there were.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from itertools import chain
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from calibration.designs.grid import designs
from calibration.levels import evaluate, replicates
from calibration.page import page
from calibration.rules import judge, limits, null_runs_hold
from calibration.runs import ADULT, Tally, adult_runs, adult_settings, null_runs, settings, tallies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from calibration.designs.base import Design
    from calibration.levels import Cell
    from calibration.runs import Setting

T, R = TypeVar("T"), TypeVar("R")

OUT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
THOROUGH = 2_000
"""With so many replicates of cheap cells, what is weak shows, and an entry of the list that does not is out of date."""
ENOUGH = 1_000
"""From this many runs on, the limit itself must be below 7 %; of fewer, only a clear excess over 5 % counts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, write the page, and return 1 if a rule is broken."""
    options = _options(arguments)
    started = time.monotonic()
    cells = [] if options.only == "runs" else _cells(options)
    runs, adult = ([], []) if options.only == "levels" or options.metric else _runs(options)
    verdict = judge(cells, complete=_complete(cells, options))
    broken = [*verdict.broken, *_broken_runs([*runs, *adult])]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    grid = sum(options.metric in (None, d.form) for d in designs())
    options.out.write_text(page(cells, verdict, runs, adult, grid if cells else 0), encoding="utf-8")
    print("\n".join([*broken, f"{len(broken)} rules broken, {(time.monotonic() - started) / 60:.0f} minutes"]))
    return int(bool(broken))


def _complete(cells: Sequence[Cell], options: argparse.Namespace) -> bool:
    """Whether the whole grid was run, thoroughly."""
    return options.metric is None and options.reps >= THOROUGH and len(cells) == len(designs())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m calibration", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the replicates and fewer runs")
    parser.add_argument("--metric", help='one metric or conditional metric only, such as "ETA" or "conditional NMI"')
    parser.add_argument("--reps", type=int, help="replicates of a cheap design (default 2,000, quick 200)")
    parser.add_argument("--runs", type=int, help="null runs of each setting (default 6, quick 1)")
    parser.add_argument("--adult", type=int, help="runs on shuffled Adult (default 1,000, quick 20)")
    parser.add_argument("--minutes", type=float, help="stop looking at cells after so many minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    parser.add_argument("--only", choices=("levels", "runs"), help="leave out the other half")
    parser.add_argument("--seed", type=int, default=0, help="where randomness starts")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write the page")
    options = parser.parse_args(arguments)
    for name, full, quick in (("reps", 2_000, 200), ("runs", 6, 1), ("adult", 1_000, 20)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    return options


def _cells(options: argparse.Namespace) -> list[Cell]:
    """Evaluate all cells; those of one population stay together, since their true effect may take long to find."""
    chosen = [d for d in designs() if options.metric in (None, d.form)]
    together: dict[tuple[str, ...], list[str]] = {}
    for design in chosen:
        key = design.form, design.kind, f"{design.share}", design.effect
        together.setdefault(key, []).append(design.name)
    work = partial(_evaluated, reps=options.reps, seed=options.seed)
    parts = list(together.values())
    if options.minutes is not None:
        parts.sort(key=lambda names: crc32(names[0].encode()))
    until = inf if options.minutes is None else time.monotonic() + 60 * options.minutes
    found = {}
    for part in _spread(work, parts, options.jobs, "cells"):
        found |= {cell.design.name: cell for cell in part}
        if time.monotonic() > until:
            break
    return [found[design.name] for design in chosen if design.name in found]


@cache
def _grid() -> dict[str, Design]:
    return {design.name: design for design in designs()}


def _evaluated(names: Sequence[str], reps: int, seed: int) -> list[Cell]:
    return [evaluate(d, replicates(d, reps), seed) for d in map(_grid().__getitem__, names)]


def _runs(options: argparse.Namespace) -> tuple[list[Tally], list[Tally]]:
    settled = _spread(partial(_null_run, repeats=options.runs, seed=options.seed), _SETTINGS, options.jobs, "null runs")
    results = list(chain.from_iterable(settled))
    return (tallies(results) if results else []), _adult(options)


_SETTINGS = range(len(settings()))


def _null_run(i: int, repeats: int, seed: int) -> list[tuple[Setting, bool]]:
    return list(null_runs(repeats, seed + 1_000_003 * i, which=[settings()[i]]))


def _adult(options: argparse.Namespace) -> list[Tally]:
    if not ADULT.exists():
        print(f"shuffled Adult: SKIPPED, there is no {ADULT.name} in ../{ADULT.parent.parent.name}/{ADULT.parent.name}")
        return []
    found: dict[str, list[bool]] = {"all runs": []}
    rounds = range(ceil(options.adult / len(adult_settings())))
    runs = chain.from_iterable(_spread(partial(_adult_round, seed=options.seed), rounds, options.jobs, "Adult"))
    for question, something in runs:
        what = ", ".join(str(v) for v in question.values())
        for key in ("all runs", what):
            found.setdefault(key, []).append(something)
    return [Tally(what, sum(results), len(results)) for what, results in found.items() if results]


def _adult_round(i: int, seed: int) -> list[tuple[dict[str, Any], bool]]:
    """Put every question once."""
    return list(adult_runs(len(adult_settings()), seed + 1_000_003 * i))


def _spread(work: Callable[[T], R], items: Sequence[T], jobs: int, what: str) -> Iterator[R]:
    """Yield the results of all items in their order, worked out by ``jobs`` processes."""
    with ProcessPoolExecutor(jobs) if jobs > 1 else nullcontext() as pool:
        results = map(work, items) if pool is None else pool.map(work, items)
        try:
            for i, result in enumerate(results, start=1):
                _progress(f"{what}: {i} of {len(items)} parts")
                yield result
        finally:  # whoever stops asking does not want the rest
            if pool is not None:
                pool.shutdown(cancel_futures=True)
    _progress("")


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
