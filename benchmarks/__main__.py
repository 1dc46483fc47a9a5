"""Run all benchmarks: ``python -m benchmarks``. See README.md."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import adult, growth, million, peers, startup
from benchmarks.document import growth_table, own_table, page, peer_table, plot
from benchmarks.fresh import ROOT
from benchmarks.growth import Size
from benchmarks.measure import Measured, table, yardstick

AT_MOST = 0.39
"""The CPU seconds that the exhaustive search on Adult may take, validation included."""
CPU_LIMIT, MEMORY_LIMIT = 60, 4e9
"""What the other tools may use, in CPU seconds and bytes."""
ROWS = (100_000, 1_000_000, 10_000_000)
OWN, GROWTH = "FairTest and its prototype", "Growth with rows"

ABOUT_PEERS = """\
The task: in every conjunction of up to three values with at least 100 people, the difference between two groups' rates
of an output. Numbers are in up to five bins beforehand and predicates are equalities. The other tools get the half of
the people that FairTest trains on, as a pandas frame of categories, and search; FairTest's time is from data frame to
report, with the validation of its proposals on the other half. "Plain numpy" is a loop of `bincount`, to check the
others: tools that agree on the number of conjunctions and on the sum of their gaps have done the same work. FairTest
counts as looked at the population and those conjunctions that have fewer people than each shorter one in them, and both
groups; another line counts these by pandas. DivExplorer's interface does not limit the length of patterns, but its
FP-growth does. SliceLine compares no groups: it finds the slices of largest mean. Of fairlearn every fortieth set of
attributes was done: multiply its time and number by about forty. A tool is stopped after {cpu_limit:.0f} CPU seconds or
{gigabytes:.0f} GB."""

ABOUT_GROWTH = """\
Made-up people (`benchmarks/people.py`): half of the attributes are categories of 2 to 20 values, the others whole
numbers and decimals; from a Parquet file to the report as JSON, each in a new process; the tree goes with Holm's
correction. "Loading" is from the file to the codes that are counted, those of thresholds too. "Tested" is how many
contexts the search proposed and the test set answered for, which differs more between data sets than the time of each.
The yardstick is scikit-learn's gradient-boosting tree grower, compiled, on codes already binned: one tree of depth 5 on
all rows."""


def main() -> None:
    arguments = _arguments()
    python = arguments.peers if arguments.peers is not None and arguments.peers.exists() else None
    quick, out = arguments.quick, arguments.out
    limits = {"cpu_limit": arguments.limit or (10 if quick else CPU_LIMIT), "memory_limit": MEMORY_LIMIT}
    parts: dict[str, str] = {}

    def keep(title: str, text: str) -> None:
        """Write what is known so far: the longest comes last."""
        parts[title] = text
        write(out, {OWN: own_table(results, unit), **parts}, plot(rows))

    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        unit = yardstick()
        results = [*startup.run(), *adult.run(), *million.run(people=100_000 if quick else million.PEOPLE)]
        rows = list(growth.measure([Size(n, 15) for n in ROWS[: 1 if quick else 2]], folder, python))
        keep(GROWTH, f"{ABOUT_GROWTH}\n\n{growth_table(rows)}")
        if adult.DATA.exists():
            runs = peers.run(peers.adult_task(adult.DATA), folder, python, limits, "Adult")
            results.append(Measured("Adult, every conjunction up to 3, frame to report", runs[0].cpu, at_most=AT_MOST))
            said = ABOUT_PEERS.format(cpu_limit=limits["cpu_limit"], gigabytes=MEMORY_LIMIT / 1e9)
            keep("Other tools: Adult, sex and income, 11 attributes", f"{said}\n\n{peer_table(runs)}")
        contexts = [Size(100_000 if quick else 1_000_000, 15, n) for n in (10_000, 1_000)]
        keep("Growth with contexts", growth_table(growth.measure(contexts, folder, None, searches=["tree"])))
        columns = [Size(100_000, n) for n in ((5, 15) if quick else (5, 15, 40, 100))]
        keep("Growth with columns", growth_table(growth.measure(columns, folder, python)))
        for attributes in () if quick else (4, 15):
            made_up = peers.made_up_task(1_000_000, attributes)
            runs = peers.run(made_up, folder, python, limits, f"a million × {attributes}")
            keep(f"Other tools: a million people, {attributes} attributes", peer_table(runs))
        if not quick:
            rows += growth.measure([Size(ROWS[-1], 15)], folder, python)
            keep(GROWTH, f"{ABOUT_GROWTH}\n\n{growth_table(rows)}")
    print()
    print(table(results, unit))


def write(out: Path | None, parts: dict[str, str], drawn: str) -> None:
    """Write the page and the plot, if there is a folder for them."""
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.svg").write_text(drawn)
    heading = f"## {GROWTH}\n"
    text = page(parts).replace(heading, f"{heading}\n![CPU time against rows](benchmarks.svg)\n")
    (out / "benchmarks.md").write_text(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables, and ten CPU seconds for each other tool")
    parser.add_argument("--peers", type=Path, help="the interpreter of the environment that has the other tools")
    parser.add_argument("--limit", type=int, help="the CPU seconds each other tool may use")
    parser.add_argument("--out", type=Path, help="the folder to write benchmarks.md and benchmarks.svg to")
    arguments = parser.parse_args()
    if arguments.out is not None and not arguments.out.is_absolute():
        arguments.out = ROOT / arguments.out
    return arguments


if __name__ == "__main__":
    main()
