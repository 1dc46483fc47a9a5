"""Discovery: are planted labels reported, and nothing else? Through the public interface and with its default settings.

``planted``: 50,000 people and 1,000 labels that 0.5 to 5 % have. Five go to 2 % of one group and 8 % of the other
among everyone, five do so only among the 6,000 people whom two attributes pick out; a label of these counts when it is
reported in a context that is nearly that one. ``noise`` is the same without any association: a run is fooled if it
reports anything. ``tags`` are the pictures of the paper's tagger, divided again and again.

    python -m calibration.discovery planted --runs 20
    python -m calibration.discovery noise --runs 200
    python -m calibration.discovery tags --runs 100 --data image_tags_caffe.csv.gz

Each exits with 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft
from calibration.rules import limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KNOWN", "Run", "population", "run", "tags"]

PEOPLE, LABELS, INSIDE = 50_000, 1_000, 6_000
EVERYWHERE = tuple(f"label {i:04d}" for i in range(5))
IN_CONTEXT = tuple(f"label {i:04d}" for i in range(5, 10))
LOW, HIGH = 0.02, 0.08
KNOWN = {"face powder": "White", "maillot": "White", "person": "White", "cart": "Black", "drum": "Black",
         "helmet": "Black", "cattle": "Black"}  # fmt: skip
"""Labels of the paper's figure, with the race whose pictures get them more often."""
ALMOST_ALWAYS = ("face powder", "maillot")


@dataclass(frozen=True)
class Run:
    """What one run reported: planted labels found over everybody and in their context, and labels that are noise."""

    everywhere: int
    in_context: int
    false: int
    tested: int
    seconds: float

    @property
    def hits(self) -> int:
        """Planted labels that were found."""
        return self.everywhere + self.in_context


def population(
    seed: int, *, planted: bool, people: int = PEOPLE, labels: int = LABELS
) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """Return people with label sets, and who is in the context of the planted ones."""
    rng = np.random.default_rng(seed)
    columns = {
        "region": rng.choice(["north", "south", "east", "west"], people, p=[0.3, 0.3, 0.2, 0.2]),
        "plan": rng.choice(["basic", "plus", "pro"], people, p=[0.4, 0.4, 0.2]),
        "device": rng.choice(["phone", "tablet", "desktop"], people, p=[0.6, 0.1, 0.3]),
        "city": rng.choice([f"c{i}" for i in range(8)], people),
        "age": rng.integers(18, 80, people),
        "tenure": np.round(rng.exponential(3.0, people), 2),
    }
    inside = (columns["region"] == "north") & (columns["plan"] == "plus")
    other = rng.random(people) < 0.45
    rates = np.exp(rng.uniform(np.log(0.005), np.log(0.05), labels))
    has = [rng.random(people) < rate for rate in rates]
    if planted:
        split = np.where(other, HIGH, LOW)
        for i in range(len(EVERYWHERE)):
            has[i] = rng.random(people) < split
        for i in range(len(EVERYWHERE), len(EVERYWHERE) + len(IN_CONTEXT)):
            has[i] = rng.random(people) < np.where(inside, split, rates[i])
    row, label = np.nonzero(np.column_stack(has))
    sets = pl.DataFrame({"row": row, "label": label}).group_by("row").agg("label")
    named = sets.with_columns(pl.col("label").list.eval("label " + pl.element().cast(pl.String).str.zfill(4)))
    frame = pl.DataFrame({"group": np.where(other, "b", "a"), **columns}).with_row_index("row")
    joined = frame.with_columns(pl.col("row").cast(pl.Int64)).join(named, on="row", how="left", maintain_order="left")
    return joined.drop("row").with_columns(pl.col("label").fill_null([])), inside


def run(seed: int, *, planted: bool, people: int = PEOPLE, labels: int = LABELS) -> Run:
    """Make a population, look for labels, and compare with what was planted."""
    frame, inside = population(seed, planted=planted, people=people, labels=labels)
    start = process_time()
    source = ft.DataSource(frame, seed=seed)
    investigation = ft.Discovery(source, "group", "label")
    ft.train([investigation])
    ft.test([investigation])
    report = ft.report([investigation])[0]
    seconds = process_time() - start
    everywhere = {f.label for f in report.findings if not len(f.context)} & set(EVERYWHERE)
    there = {f.label for f in report.findings if len(f.context) and _same(f.context.mask(frame), inside)}
    real = {*EVERYWHERE, *IN_CONTEXT} if planted else set()
    false = {f.label for f in report.findings} - real
    found = (len(everywhere), len(there & set(IN_CONTEXT))) if planted else (0, 0)
    return Run(*found, len(false), report.tested, seconds)


def _same(found: NDArray[np.bool_], planted: NDArray[np.bool_]) -> bool:
    both = (found & planted).sum()
    return bool(both >= 0.8 * found.sum() or both / (found | planted).sum() >= 0.6)


def tags(data: Any, seed: int, preset: str | None = None) -> dict[str, str]:
    """Return the labels of the tagger that are reported, each with the race whose pictures get it more often."""
    source = ft.DataSource(data, seed=seed, preset=preset, reference={"Race": "White"})
    investigation = ft.Discovery(source, "Race", "Labels", separator="|", top_k=35)
    ft.train([investigation], preset=preset)
    ft.test([investigation])
    report = ft.report([investigation])[0]
    return {f.label or "": "Black" if (f.effect or 0) > 0 else "White" for f in report.findings}


def _tags_table(data: str, runs: int, first: int) -> bool:
    kept = True
    for preset in (None, "paper"):
        counts = Counter((label, race) for k in range(runs) for label, race in tags(data, first + k, preset).items())
        print(f"{'the paper: half for training, Holm' if preset else 'default'}; reported in so many of {runs} splits")
        for label, race in KNOWN.items():
            print(f"  {label:12s} more often on pictures of {race:5s}: {counts[label, race]:3d}", flush=True)
        kept = kept and all(counts[label, KNOWN[label]] >= 0.95 * runs for label in ALMOST_ALWAYS)
    return kept


def _planted_table(runs: int, first: int) -> bool:
    trials = []
    for k in range(runs):
        trials.append(run(first + k, planted=True))
        print(f"run {k}: {trials[-1]}", flush=True)
    hits = np.mean([t.hits for t in trials])
    print(
        f"{hits:.2f} of 10 planted labels reported; a false label in {sum(t.false > 0 for t in trials)} of {runs} runs"
    )
    return bool(hits >= 9)


def _noise_table(runs: int, first: int) -> bool:
    fooled, seconds = 0, 0.0
    for k in range(runs):
        trial = run(first + k, planted=False)
        fooled += trial.false > 0
        seconds += trial.seconds
        if (k + 1) % 10 == 0:
            print(f"{fooled} of {k + 1} runs fooled, {seconds / (k + 1):.1f} CPU-s each", flush=True)
    high = limits(fooled, runs, 0.025)[1]
    print(f"a false label in {fooled} of {runs} runs: {fooled / runs:.1%}, at most {high:.1%}")
    return fooled <= 0.05 * runs and high < 0.09


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description="Are planted labels reported, and nothing else?")
    parser.add_argument("which", choices=["planted", "noise", "tags"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="the file of the paper's tagger, for 'tags'")
    given = parser.parse_args()
    if given.which == "tags":
        if not given.data:
            parser.error("tags needs --data: the pictures of the paper's tagger are not part of the project")
        kept = _tags_table(given.data, given.runs, given.seed)
    else:
        kept = (_planted_table if given.which == "planted" else _noise_table)(given.runs, given.seed)
    sys.exit(not kept)


if __name__ == "__main__":
    main()
