"""Reports before and after a change that must not alter them: ``python -m benchmarks.reports FOLDER``.

Records the reports of some sixty audits (JSON, text, HTML, Markdown, CSV, figures) through the public interface only,
so that the same script runs on any state of the code (name its ``src`` in ``PYTHONPATH``). Two folders recorded
from two states are compared with ``python -m benchmarks.reports BEFORE --compare AFTER``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairtest as ft
from benchmarks.adult import DATA as ADULT
from fairtest.datasets.berkeley import berkeley
from fairtest.datasets.healthcare import healthcare
from fairtest.datasets.pricing import pricing

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest import Report

LABELS = ["tag a", "tag b", "tag c", "tag d"]
OTHERS = ["race", "hired", "predicted", "right", "pay", "guess", "score", "grade", *LABELS]
WORKSPACE_CALLS = (
    ("init", "ws", "people.csv", "--budget", "3", "--seed", "4"),
    ("test", "ws", "-p", "sex", "-o", "hired", "-x", "city", "-x", "age", "-x", "shift", "--min-size", "60"),
    ("explain", "ws", "--by", "shift"),
    ("errors", "ws", "-p", "sex", "-o", "predicted", "--truth", "right", "-x", "city", "-x", "shift"),
    ("status", "ws"),
    ("report", "ws", "1"),
    ("report", "ws", "2"),
)
OTHER_CALLS = (
    ("inspect", "people.csv"),
    ("test", "people.csv", "-p", "sex", "-o", "hired", "-x", "city", "-x", "age", "--train-only"),
    ("discover", "tags.csv", "-p", "sex", "-o", "tags", "--separator", "|", "--top-k", "3", "--min-size", "60"),
)


def people(number: int = 1500) -> pl.DataFrame:
    """Return people with weak links in one city, missing values, and contexts so small that p-values are drawn."""
    rng = np.random.default_rng(7)
    woman = rng.random(number) < 0.45
    city = rng.choice(["Paris", "Quito", "Rome"], number, p=[0.4, 0.35, 0.25])
    race = rng.choice(["ash", "birch", "cedar"], number, p=[0.6, 0.3, 0.1])
    age = rng.integers(18, 80, number)
    there = city == "Quito"
    hired = rng.random(number) < np.where(woman & there, 0.15, 0.55)
    pay = rng.gamma(4, 5, number) * (1 + 0.5 * there * (race == "cedar")) + 0.2 * there * age - 4 * there * woman
    tags = {name: rng.random(number) < np.where(woman, 0.25, 0.1 + 0.04 * i) for i, name in enumerate(LABELS)}
    columns = {
        "sex": np.where(woman, "woman", "man"),
        "race": race,
        "age": age,
        "city": city,
        "shift": rng.choice(["day", "night"], number, p=[0.7, 0.3]),
        "day": np.datetime64("2020-01-01") + rng.integers(0, 900, number),
        "hired": np.where(hired, "yes", "no"),
        "predicted": np.where(rng.random(number) < np.where(woman, 0.3, 0.1), ~hired, hired),
        "right": hired,
        "score": np.clip(0.5 * hired + 0.5 * rng.random(number) - 0.1 * woman, 0, 1),
        "pay": pay,
        "grade": rng.choice(["low", "mid", "high"], number),
        "guess": pay + rng.normal(0, 2 + 3 * woman, number),
        **tags,
    }
    gaps = {
        name: pl.Series(name, values).scatter(np.flatnonzero(rng.random(number) < 0.03), None)
        for name, values in columns.items()
        if name in ("sex", "city", "pay", "tag a")
    }
    return pl.DataFrame({**columns, **gaps})


FRAME = people()


def source(**how: Any) -> ft.DataSource:
    """Return the people, split in halves."""
    defaults = {"seed": 3, **({"train_size": 0.5} if how.get("split", True) else {})}
    return ft.DataSource(FRAME, **{**defaults, **how})


def on_disk() -> ft.DataSource:
    """Return the same people, counted from a Parquet file."""
    path = Path(_scratch.name, "people.parquet")
    FRAME.write_parquet(path)
    return ft.DataSource(path, seed=3, train_size=0.5, engine="disk")


_scratch = TemporaryDirectory()
os.environ["FAIRTEST_HOME"] = _scratch.name  # what was shown of these people before must not change what is asked now


def audited(protected: Any, output: str, of: ft.DataSource | None = None, **how: Any) -> Report:
    taken = {output, how.get("ground_truth")}
    for each in [protected] if isinstance(protected, str) else protected:
        taken |= {each} if isinstance(each, str) else set(each)
    exclude = [c for c in OTHERS if c not in taken]
    return ft.audit(of or source(), protected=protected, output=output, exclude=exclude, **{"min_size": 60, **how})


def discovered(protected: str = "sex", of: ft.DataSource | None = None, explanatory: Any = None, **how: Any) -> Report:
    exclude = [c for c in OTHERS if c not in (*LABELS, protected)]
    made = ft.Discovery(of or source(), protected, LABELS, explanatory=explanatory, exclude=exclude)
    return answered(made, **how)


def answered(investigation: Any, **how: Any) -> Report:
    ft.train([investigation], min_size=60, **how)
    ft.test([investigation])
    return ft.report([investigation])[0]


def explained() -> Report:
    made = ft.Testing(source(budget=2), "sex", "hired", contextual=["city", "age", "shift"])
    answered(made)
    return ft.explain(made, by="shift")


def explained_labels() -> Report:
    made = ft.Discovery(source(budget=2), "sex", LABELS, contextual=["city", "age", "shift"])
    answered(made)
    return ft.explain(made, by="shift")


def batch() -> list[Report]:
    """Three investigations on one test set."""
    of = source()
    exclude = [c for c in OTHERS if c not in ("hired", "predicted", "right", *LABELS)]
    made = [
        ft.Testing(of, ["sex", "race"], "hired", exclude=[c for c in exclude if c != "race"]),
        ft.Discovery(of, "sex", LABELS, exclude=exclude),
        ft.ErrorProfiling(of, "sex", "predicted", "right", exclude=exclude),
    ]
    ft.train(made, min_size=60, max_depth=2)
    ft.test(made)
    return ft.report(made)


def profiled(**asked: Any) -> Report:
    exclude = [c for c in OTHERS if c not in asked.values()]
    return answered(ft.ErrorProfiling(source(), "sex", **asked, exclude=exclude), max_depth=2)


def off_by(guess: Any, truth: Any) -> Any:
    return np.abs(guess - truth) > 3


def own_metric() -> Report:
    @ft.metric("gap", protected="binary", output="binary", phrase="gap of rates")
    def gap(counts: Any) -> Any:
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return rates[..., 1] - rates[..., 0]

    return audited("sex", "hired", metrics="gap", search="tree", max_depth=2)


def own_metric_of_rows() -> Report:
    @ft.metric("median gap", protected="binary", output="numeric")
    def median_gap(s: Any, o: Any, stratum: Any) -> float:
        return float(np.median(o[s == 1]) - np.median(o[s == 0])) if 0 < s.sum() < s.size else float("nan")

    return audited("sex", "pay", metrics="median gap", search="tree", max_depth=1)


def on_cluster() -> Report:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as here,
        Client(here, set_as_default=False) as client,
    ):
        return audited("sex", "hired", source(engine=client))


AUDITS: dict[str, Callable[[], Report | list[Report]]] = {
    "diff": lambda: audited("sex", "hired"),
    "diff tree holm": lambda: audited("sex", "hired", search="tree", correction="holm"),
    "diff forest": lambda: audited("sex", "hired", search="forest", max_depth=3),
    "diff exhaustive bonferroni": lambda: audited("sex", "hired", search="exhaustive", correction="bonferroni"),
    "diff weighted holm": lambda: audited("sex", "hired", correction="weighted-holm", score="point", aggregate="avg"),
    "diff bh": lambda: audited("sex", "hired", correction="bh"),
    "diff by": lambda: audited("sex", "hired", correction="by", max_depth=2),
    "diff max-t": lambda: audited("sex", "hired", correction="max-t", max_depth=2),
    "diff resampling": lambda: audited("sex", "hired", method="resampling", search="tree", max_depth=1),
    "diff tolerance": lambda: audited("sex", "hired", tolerance=0.1),
    "diff given shift": lambda: audited("sex", "hired", explanatory="shift", max_depth=2),
    "diff given age": lambda: audited("sex", "hired", explanatory=["age", "shift"], max_depth=2),
    "diff disk": lambda: audited("sex", "hired", on_disk()),
    "diff dask": on_cluster,
    "diff undivided max-t": lambda: audited("sex", "hired", source(split=False), correction="max-t", max_depth=2),
    "diff reuse": lambda: audited("sex", "hired", source(reuse=True, budget=3), search="tree"),
    "diff paper": lambda: audited("sex", "hired", preset="paper"),
    "diff named": lambda: audited(
        "sex",
        "hired",
        source(
            favourable={"hired": "no"},
            reference={"sex": "woman"},
            labels={"sex": "gender"},
            people="applicants",
            outcome={"hired": "turned away"},
        ),
    ),
    "crossed": lambda: audited([("sex", "race")], "hired", max_depth=2),
    "two attributes": lambda: audited(["sex", "race"], "hired", max_depth=2),
    "ratio": lambda: audited("sex", "hired", metrics="RATIO", max_depth=2),
    "ratio given shift": lambda: audited("sex", "hired", metrics="RATIO", max_depth=1, explanatory="shift"),
    "nmi": lambda: audited("race", "city", tolerance=0.05),
    "nmi given shift": lambda: audited("race", "hired", explanatory="shift", max_depth=2),
    "nmi max-t": lambda: audited("race", "hired", correction="max-t", max_depth=2),
    "corr": lambda: audited("age", "pay", max_depth=2),
    "corr binary": lambda: audited("sex", "pay", metrics="CORR", search="tree", tolerance=0.1),
    "corr given shift": lambda: audited("age", "pay", explanatory="shift", search="tree"),
    "corr of dates": lambda: audited("day", "hired", search="tree"),
    "eta": lambda: audited("race", "pay", max_depth=2),
    "eta swapped": lambda: audited("age", "city", max_depth=2),
    "eta max-t": lambda: audited("race", "pay", correction="max-t", search="tree"),
    "eta given shift": lambda: audited("race", "pay", explanatory="shift", max_depth=1),
    "rank": lambda: audited("age", "pay", metrics="RANK", max_depth=2),
    "rank ordered": lambda: audited("age", "grade", source(ordered={"grade": ["low", "mid", "high"]}), max_depth=2),
    "rank given shift": lambda: audited("age", "pay", metrics="RANK", explanatory="shift", max_depth=1),
    "labels": discovered,
    "labels tree given shift": lambda: discovered(search="tree", explanatory="shift"),
    "labels exhaustive disk": lambda: discovered(of=on_disk(), search="exhaustive"),
    "labels number": lambda: discovered("age", max_depth=2),
    "labels races": lambda: discovered("race", max_depth=2),
    "errors": lambda: profiled(output="predicted", ground_truth="right"),
    "errors false negatives": lambda: profiled(output="predicted", ground_truth="right", notion="equal_opportunity"),
    "errors equalized odds": lambda: profiled(output="predicted", ground_truth="right", notion="equalized_odds"),
    "errors calibration": lambda: profiled(output="score", ground_truth="right", notion="calibration"),
    "errors numbers": lambda: profiled(output="guess", ground_truth="pay", error="absolute"),
    "errors own": lambda: profiled(output="guess", ground_truth="pay", error=off_by),
    "own metric": own_metric,
    "own metric rows": own_metric_of_rows,
    "explained": explained,
    "explained labels": explained_labels,
    "batch": batch,
    "berkeley": lambda: ft.audit(berkeley(seed=1), "gender", "admitted", explanatory="department"),
    "berkeley departments": lambda: ft.audit(berkeley(seed=1), "gender", "admitted"),
    "pricing": lambda: ft.audit(pricing(20_000), ["income", "race"], "price" if "price" in pricing(10) else "discount"),
    "healthcare": lambda: ft.audit(healthcare(8_000), "age", "predicted", ground_truth="visits", max_depth=2),
}
if ADULT.exists():
    AUDITS |= {
        "adult": lambda: ft.audit(str(ADULT), ["sex", "race"], "income", exclude=["fnlwgt"]),
        "adult paper": lambda: ft.audit(str(ADULT), ["sex", "race"], "income", exclude=["fnlwgt"], preset="paper"),
    }


def record(folder: Path, only: list[str]) -> None:
    """Write all reports, and what the commands print, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, audit in AUDITS.items():
        if only and not any(part in name for part in only):
            continue
        try:
            made = audit()
        except ft.FairTestError as error:
            (folder / f"{name}.error").write_text(str(error))
            continue
        for number, report in enumerate(made if isinstance(made, list) else [made]):
            write(folder, f"{name}{number or ''}", report)
        print(name, flush=True)
    if not only or "commands" in only:
        record_commands(folder)


def write(folder: Path, name: str, report: Report) -> None:
    """Write all forms of one report; large ones as their hash."""
    forms = {
        "json": report.to_json(),
        "txt": report.to_text(),
        "html": report.to_html(),
        "md": report.to_markdown(),
        "csv": report.to_csv(),
        "figures": "\n".join(f"{title}\n{drawn}" for title, drawn in report.figures().items()),
    }
    for ending, text in forms.items():
        (folder / f"{name}.{ending}").write_text(text)


def record_commands(folder: Path) -> None:
    """Write what commands print, in a folder of their own."""
    with TemporaryDirectory() as scratch:
        FRAME.write_csv(Path(scratch, "people.csv"))
        tags = pl.concat_list(*(pl.when(pl.col(t)).then(pl.lit(t)) for t in LABELS)).list.drop_nulls().list.join("|")
        FRAME.select("sex", "city", "shift", tags=tags).write_csv(Path(scratch, "tags.csv"))
        for number, call in enumerate((*WORKSPACE_CALLS, *OTHER_CALLS)):
            command = [sys.executable, "-m", "fairtest.cli.main", *call]
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
            text = f"{done.stdout}\n{done.stderr}\nexit {done.returncode}\n".replace(scratch, "")
            (folder / f"command {number} {call[0]}.txt").write_text(text)


def compare(before: Path, after: Path) -> int:
    """Print which files differ, and return how many."""
    names = sorted({p.name for folder in (before, after) for p in folder.iterdir()})
    differing = [n for n in names if digest(before / n) != digest(after / n)]
    for name in differing:
        print("differs:", name)
    print(f"{len(names) - len(differing)} of {len(names)} files are the same")
    return len(differing)


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.exists() else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reports", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compare", type=Path, help="another folder to compare with, in place of recording")
    parser.add_argument("--only", action="append", default=[], help="audits with this in their names")
    given = parser.parse_args()
    if given.compare is not None:
        sys.exit(min(compare(given.folder, given.compare), 1))
    record(given.folder, given.only)
