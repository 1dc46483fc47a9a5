"""Several rows a person, survey weights and tables of counts, through the calls that users make."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import fairtest as ft

if TYPE_CHECKING:
    from pathlib import Path

    from fairtest.model.report import Report


def log_of(seed: int, people: int = 1500, rows: int = 4, gap: float = 0.0) -> pl.DataFrame:
    """Return a log in which the rows of a person depend on each other, with a gap planted in the north."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 2 * rows, people))
    n = person.size
    sex, region = rng.choice(["f", "m"], people)[person], rng.choice(list("NESW"), people)[person]
    habit = rng.normal(size=people)[person]
    shift = gap * ((sex == "f") & (region == "N"))
    yes = (habit + rng.normal(size=n) + shift > 0.5).astype(int)
    return pl.DataFrame(
        {
            "user": [f"user {p}" for p in person],
            "sex": sex,
            "region": region,
            "age": rng.integers(18, 80, people)[person],
            "device": rng.choice(["phone", "desk"], n),
            "yes": yes,
            "guess": np.where(rng.random(n) < 0.15, 1 - yes, yes),
            "amount": np.exp(habit + shift),
            "tags": ["|".join(t for t in "abcd" if rng.random() < 0.3) or "|" for _ in range(n)],
            "weight": np.exp(0.8 * rng.normal(size=n)),
        }
    )


def audit(data: Any, output: str = "yes", **options: Any) -> Report:
    """Audit by sex, with the other columns that are results left out."""
    said = {options.get(name) for name in ("person", "weights", "counts")}
    results = {"yes", "guess", "amount", "tags", "user", "weight", "n"} - {output, options.get("ground_truth")} - said
    there = set(data.columns) if isinstance(data, pl.DataFrame) else set(log_of(0).columns)
    asked = {"protected": "sex", "exclude": sorted(results & there), **options}
    return ft.audit(data, output=output, **asked)


def found_anything(report: Report) -> bool:
    return bool(report.findings) or any(a.population.significant for a in report.attributes)


@pytest.mark.filterwarnings("ignore:user repeats")
def test_noise_with_several_rows_a_person() -> None:
    """Without ``person=`` most of these tables give findings, with it at most one in ten does by bad luck."""
    tables = [log_of(seed, people=700, rows=6) for seed in range(10)]
    taken_for_people = sum(found_anything(audit(table)) for table in tables)
    by_person = sum(found_anything(audit(table, person="user")) for table in tables)
    assert taken_for_people >= 5
    assert by_person <= 2


def test_a_planted_context_is_found_and_sizes_count_people() -> None:
    table = log_of(3, gap=1.2)
    report = audit(table, person="user")
    first = report.findings[0]
    north = table.filter(pl.col("region") == "N")
    assert str(first.context) == "region = N"
    assert first.size < north["user"].n_unique() < first.rows < north.height
    assert report.data.people == 1500
    assert report.data.train + report.data.test == 1500
    assert "user names 1,500 people in" in report.to_text()


def test_bars_count_people_who_have_several_rows() -> None:
    table = log_of(3, gap=1.2)
    said = str(audit(table, output="amount", person="user"))
    for sex in "fm":
        assert f"{table.filter(pl.col('sex') == sex)['user'].n_unique():,} people\n" in said


def test_everybody_is_in_one_set() -> None:
    source = ft.DataSource(log_of(1), person="user", budget=3)
    users = log_of(1)["user"].to_numpy()
    sets = [set(users[source.holdout.rows(number)]) for number in range(4)]
    assert sum(map(len, sets)) == len(set.union(*sets)) == 1500
    assert [len(s) for s in sets] == list(source.holdout.sizes)


def plain(report: Report) -> dict[str, Any]:
    """Return a report as JSON has it, without which columns there are and how they were used."""
    found = json.loads(report.to_json())
    del found["data"]["columns"], found["data"]["fingerprint"]
    return found


def test_one_row_a_person_and_equal_weights_change_nothing() -> None:
    table = log_of(2, gap=1.0).unique("user", keep="first", maintain_order=True).with_columns(weight=pl.lit(2.5))
    usual = plain(audit(table))
    assert plain(audit(table, person="user")) == usual
    assert plain(audit(table, weights="weight")) == usual


def test_counts_are_as_many_people() -> None:
    few = log_of(4, gap=1.0).group_by("sex", "region", "device", "yes", maintain_order=True).len("n")
    expanded = few.select(pl.exclude("n").repeat_by("n").explode())
    assert plain(ft.audit(few, "sex", "yes", counts="n")) == plain(ft.audit(expanded, "sex", "yes"))


DESIGNS = [{"person": "user"}, {"weights": "weight"}, {"person": "user", "weights": "weight"}]
QUESTIONS: list[dict[str, Any]] = [
    {},
    {"explanatory": "device"},
    {"output": "amount"},
    {"output": "amount", "metrics": "CORR", "explanatory": "age"},
    {"output": "amount", "metrics": "RANK"},
    {"metrics": "NMI"},
    {"metrics": "RATIO"},
    {"output": "guess", "ground_truth": "yes"},
    {"output": "tags", "separator": "|"},
    {"protected": "region", "output": "amount"},
    {"protected": "region", "explanatory": "age"},
]


@pytest.mark.filterwarnings("ignore:user repeats")
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: " ".join(map(str, q.values())) or "plain")
@pytest.mark.parametrize("design", DESIGNS, ids="+".join)
def test_engines_agree_to_the_last_byte(tmp_path: Path, design: dict[str, str], question: dict[str, Any]) -> None:
    path = tmp_path / "log.parquet"
    log_of(5, people=800, gap=1.2).write_parquet(path)
    in_memory, on_disk = (audit(path, engine=engine, **design, **question).to_json() for engine in ("memory", "disk"))
    assert in_memory == on_disk


def test_weights_change_what_is_estimated() -> None:
    """Women with yes = 0 are drawn three times too often: only the weights give the rates of the population."""
    rng = np.random.default_rng(6)
    n = 30_000
    woman, yes = rng.random(n) < 0.5, rng.random(n) < 0.4
    often = woman & ~yes
    drawn = rng.random(n) < np.where(often, 0.6, 0.2)
    sample = pl.DataFrame(
        {
            "sex": np.where(woman, "f", "m")[drawn],
            "region": rng.choice(list("NESW"), n)[drawn],
            "yes": yes[drawn].astype(int),
            "weight": np.where(often, 1 / 0.6, 1 / 0.2)[drawn],
        }
    )
    plain_effect = audit(sample).attributes[0].population
    weighted = audit(sample, weights="weight").attributes[0].population
    assert plain_effect.significant
    assert abs(plain_effect.effect) > 0.15
    assert not weighted.significant
    assert weighted.interval[0] < 0 < weighted.interval[1]
    assert weighted.weight == pytest.approx(n, rel=0.02)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"correction": "max-t"}, "does not go with correction='max-t'"),
    ({"method": "resampling"}, "does not go with method='resampling'"),
    ({"reuse": True, "budget": 3}, "does not go with reuse=True"),
    ({"metrics": "RATIO", "explanatory": "device"}, "the metric RATIO given explanatory attributes"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_what_takes_rows_for_people_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ft.InputError, match=words):
        audit(log_of(0, people=300), person="user", **options)


def test_a_metric_of_ones_own_is_refused() -> None:
    @ft.metric("odds of rows", protected="binary", output="binary")
    def odds(counts: np.ndarray) -> np.ndarray:
        return np.log(counts[..., 1, :].sum(axis=-2) + 0.5) @ np.array([-1.0, 1.0])

    with pytest.raises(ft.InputError, match="the metric odds of rows"):
        audit(log_of(0, people=300), person="user", metrics="odds of rows")


WRONG: list[tuple[dict[str, Any], pl.Expr | None, str]] = [
    ({"person": "user"}, pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("user").alias("user"), "in 3 rows"),
    ({"weights": "weight"}, (-pl.col("weight")).alias("weight"), "weights are numbers from 0 on"),
    ({"weights": "region"}, None, "region"),
    ({"counts": "weight"}, None, "a row stands for a whole number of people"),
    ({"counts": "region"}, None, "region"),
    ({"person": "nobody"}, None, "nobody"),
    ({"person": "sex"}, None, "too few people"),
    ({"person": "user", "contextual": ["user"]}, None, "is no attribute of people"),
]


@pytest.mark.parametrize(("options", "change", "words"), WRONG, ids=lambda v: str(v)[:40])
def test_wrong_columns_are_told(options: dict[str, str], change: pl.Expr | None, words: str) -> None:
    table = log_of(0, people=200)
    with pytest.raises(ft.InputError, match=words):
        audit(table if change is None else table.with_columns(change), **options)
