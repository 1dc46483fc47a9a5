"""What sealing and a step of a watch cost as a stream grows older: the time of a seal, the bytes that a step stores.

Run it with ``python -m benchmarks.ageing seal`` and ``python -m benchmarks.ageing watch``. The stream gets a segment
with every seal, all within the days in which duplicates are looked for. The watch is one of 610 contexts with 1,000
records a day, looked at every hour.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import polars as pl

from calibration.lives import WORLDS, Simulation, known_columns
from fairtest.monitoring.state import learned_to_plain, life_to_plain, past_to_plain
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.log import append_group
from fairtest.service.store.packing import pack_plain
from fairtest.service.store.projects import create_project
from fairtest.service.store.sealing import seal_stream
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.tenant import Tenant


def measure_seals(segments: int, rows: int) -> None:
    """Print the median time of a seal, by how many segments there are."""
    with tempfile.TemporaryDirectory() as folder, Service(Settings(Path(folder), disk_least=0)) as service:
        create_project(service.database, "bench", "acme")
        tenant = Tenant(service.database, "bench", "acme", frozenset({"manage"}))
        create_stream(tenant, "loans", {"columns": {"sex": "text", "granted": "boolean"}, "person": "who"})
        stream = find_stream(tenant, "loans")
        times: list[float] = []
        for number in range(1, segments + 1):
            names = pl.Series([f"r-{number}-{i}" for i in range(rows)])
            frame = pl.DataFrame({"id": names, "who": names, "sex": "f", "granted": True})
            body = frame.write_csv().encode()
            sent = Sent("records", str(number), "text/csv", "", body)
            append_group(service.database, [read_batch(sent, stream, None)])
            start = time.perf_counter()
            seal_stream(service, "acme", "loans")
            times.append(time.perf_counter() - start)
            if number in {10, 50, 100, 200, 500, 1000, 1500, 2000, segments}:
                print(f"{number:5d} segments of {rows}: {1e3 * median(times[-10:]):.1f} ms a seal", flush=True)


def measure_steps(days: int) -> None:
    """Print the bytes of what a watch holds, and the time to pack them, by its age."""
    known = known_columns()
    learned = learned_to_plain(known)
    for day, life, _ in Simulation(known, WORLDS[0], days, 1).live():
        if day in {0, 6, 29, 89, 179, 364, 729, days - 1}:
            start = time.perf_counter()
            size = len(pack_plain({"life": life_to_plain(life, past=False), "learned": learned}))
            took = time.perf_counter() - start
            past = len(pack_plain({"books": past_to_plain(life)}))
            both = time.perf_counter() - start
            print(
                f"day {day + 1:4d}: {size / 1e3:,.0f} kB in {1e3 * took:.0f} ms a step, and {past / 1e3:,.0f} kB once "
                f"a day; all of it with every step would be {(size + past) / 1e3:,.0f} kB in {1e3 * both:.0f} ms",
                flush=True,
            )


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["seal", "watch"])
    parser.add_argument("--segments", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--days", type=int, default=730)
    given = parser.parse_args()
    if given.what == "seal":
        measure_seals(given.segments, given.rows)
    else:
        measure_steps(given.days)


if __name__ == "__main__":
    main()
