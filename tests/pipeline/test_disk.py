"""Data that stays on disk gives the report of the same data in memory, byte for byte."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.data.streaming import streaming

PEOPLE = 1500


def people() -> pl.DataFrame:
    rng = np.random.default_rng(8)
    woman = rng.random(PEOPLE) < 0.45
    city = rng.choice(["Paris", "Quito", "Rome"], PEOPLE)
    age = rng.integers(18, 80, PEOPLE)
    hired = rng.random(PEOPLE) < np.where(woman & (city == "Quito"), 0.2, 0.5)
    score = np.clip(0.3 + 0.3 * hired + rng.normal(0, 0.2, PEOPLE) - 0.1 * woman, 0, 1)
    tags = [[t for t, p in (("cat", 0.3), ("dog", 0.2 + 0.3 * w)) if rng.random() < p] for w in woman]
    return pl.DataFrame(
        {
            "person_id": rng.permutation(PEOPLE),
            "sex": np.where(woman, "woman", "man"),
            "age": pl.Series(age).replace(47, None),
            "city": city,
            "since": [f"20{year:02d}-03-04" for year in rng.integers(0, 20, PEOPLE)],
            "hired": hired,
            "guess": score > 0.45,
            "score": score,
            "pay": rng.gamma(4, 5, PEOPLE) + 3 * (city == "Rome") * woman,
            "tags": tags,
            "rare": rng.random(PEOPLE) < 0.05 + 0.1 * woman,
            "seldom": rng.random(PEOPLE) < 0.06,
        }
    )


OTHERS = ["guess", "score"]
BRIEF = {"search": "tree", "correction": "holm", "exclude": OTHERS}
QUESTIONS = {
    "binary": lambda s: ft.audit(s, "sex", "hired", exclude=OTHERS),
    "tree": lambda s: ft.audit(s, "sex", "hired", **BRIEF),
    "given": lambda s: ft.audit(s, "sex", "hired", explanatory=["age", "city"], **BRIEF),
    "crossed": lambda s: ft.audit(s, [("sex", "rare")], "hired", **BRIEF),
    "number": lambda s: ft.audit(s, "sex", "pay", **BRIEF),
    "numbers": lambda s: ft.audit(s, "age", "pay", **BRIEF),
    "ranks": lambda s: ft.audit(s, "age", "pay", metrics="RANK", **BRIEF),
    "class errors": lambda s: profile(s, "guess", exclude=["score"]),
    "brier": lambda s: profile(s, "score", exclude=["guess"]),
    "own error": lambda s: profile(s, "score", exclude=["guess"], error=lambda p, t: np.abs(p - t) > 0.4),
    "own number": lambda s: profile(s, "score", exclude=["guess"], error=lambda p, t: np.abs(p - t) ** 1.5),
    "sets": lambda s: discover(s, "tags"),
    "flags": lambda s: discover(s, ["rare", "seldom", "hired"]),
}


def profile(source: ft.DataSource, output: str, **how) -> ft.Report:
    return answered(ft.ErrorProfiling(source, "sex", output, ground_truth="hired", **how))


def discover(source: ft.DataSource, output) -> ft.Report:
    return answered(ft.Discovery(source, "sex", output))


def answered(investigation) -> ft.Report:
    ft.train([investigation], search="tree")
    ft.test([investigation], correction="holm")
    return ft.report([investigation])[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("disk") / "people.parquet"
    people().write_parquet(path, row_group_size=130)
    return path


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_report_is_the_same(path, question, monkeypatch):
    monkeypatch.setattr(streaming, "FEWEST_ROWS", 1)
    monkeypatch.setattr(streaming, "MOST_ROWS", 211)
    ask = QUESTIONS[question]
    source = ft.DataSource(path, engine="disk", seed=3)
    assert source.table.block == 211
    found, expected = ask(source), ask(ft.DataSource(path, seed=3))
    assert found.to_json() == expected.to_json()
    assert str(found) == str(expected)


def test_columns_that_are_added(path):
    score = {"predicted": np.random.default_rng(1).random(PEOPLE)}
    disk, memory = (ft.DataSource(path, engine=e).with_columns(score) for e in ("disk", "memory"))
    found, expected = (ft.audit(s, "sex", "predicted", **BRIEF) for s in (disk, memory))
    assert found.to_json() == expected.to_json()
