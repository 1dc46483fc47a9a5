"""Run the paper's evaluation: ``python -m evaluation``, or ``make evaluate``; writes ``docs/evaluation``.

Workloads whose data is not there are skipped, and said to be; their pages keep the numbers of the last run that had it.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from pathlib import Path
from time import perf_counter, process_time

from benchmarks import searches
from evaluation.pages import FOLDER, store, write_pages
from evaluation.records import WORKLOADS
from examples import berkeley
from examples.command import MissingDataError, Sources, default_sources
from fairtest import __version__
from fairtest.datasets.adult import adult
from fairtest.exceptions import FairTestError, FairTestWarning


def main() -> None:
    """Run all workloads, or those that are named."""
    given = default_sources()
    parser = argparse.ArgumentParser(description="Run the paper's evaluation, and write docs/evaluation.")
    names = [*(workload.name for workload in WORKLOADS), "searches"]
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(names))
    parser.add_argument("--data", type=Path, default=given.data, help="a folder with the data of the workloads")
    parser.add_argument("--movies", type=Path, default=given.movies, help="a folder with MovieLens, 100K or 1M")
    parser.add_argument("--pages", action="store_true", help="run nothing: write the pages from what is stored")
    options = parser.parse_args()
    if not options.pages:
        run_workloads(Sources(options.data, options.movies), options.workloads)
    for path in write_pages():
        print(f"wrote {path.relative_to(FOLDER.parents[1])}")


def run_workloads(sources: Sources, wanted: list[str]) -> None:
    """Run workloads, store what they found, and note which were run and which were skipped."""
    start, cpu = perf_counter(), process_time()
    skipped: dict[str, str] = {}
    berkeley.run(sources)  # libraries are loaded, so that this is no part of the first workload's time
    for workload in WORKLOADS:
        if wanted and workload.name not in wanted:
            continue
        why = workload.why_not(sources)
        if not why:
            try:
                store(workload.name, workload.run(sources))
            except (MissingDataError, FairTestError) as error:
                why = str(error)
        if why:
            skipped[workload.name] = why
        print(
            f"{workload.name}: {f'SKIPPED, {why}' if why else f'done, {process_time() - cpu:.0f} CPU s so far'}",
            flush=True,
        )
    if not wanted or "searches" in wanted:
        compare_searches(sources, skipped)
    if not wanted:
        note = {
            "version": __version__,
            "python": platform.python_version(),
            "minutes": round((perf_counter() - start) / 60, 1),
            "cpu_minutes": round((process_time() - cpu) / 60, 1),
            "skipped": sorted(skipped),
        }
        (FOLDER / "results" / "run.json").write_text(json.dumps(note, indent=1) + "\n", "utf-8")


def compare_searches(sources: Sources, skipped: dict[str, str]) -> None:
    """Compare guided and unguided search on Adult; writes ``docs/searches.md`` and ``docs/searches.csv``."""
    try:
        frame = adult(sources.file("adult.csv.gz") if sources.has("adult.csv.gz") else None)
    except FairTestError as error:
        skipped["searches"] = str(error)
        print(f"searches: SKIPPED, {error}")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairTestWarning)  # it has a sampling weight, which contexts leave out
        searches.write(searches.compare_all(frame))
    print("searches: compared", flush=True)


if __name__ == "__main__":
    main()
