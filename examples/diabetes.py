"""Patients with diabetes, and a random forest that predicts their days in hospital: the real data of healthcare.

The data is the UCI set "Diabetes 130-US hospitals for years 1999-2008" (CC BY 4.0), of which the first stay of each
patient is used. The forest learns from half of the patients; the other half are the people under audit. It needs
scikit-learn (the dependency group ``examples``).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import fairtest as ft
from examples.error_story import Roles

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ROLES = Roles(
    protected="age",
    predicted="predicted",
    truth="days",
    width="spread",
    cautious="confident_prediction",
    answered="answered",
    contextual=(
        "race",
        "gender",
        "admission",
        "emergency visits",
        "inpatient stays",
        "diagnosis",
        "insulin",
    ),
    unit="days",
)
NUMBERS = (
    "num_lab_procedures", "num_procedures", "num_medications", "number_outpatient", "number_emergency",
    "number_inpatient", "number_diagnoses",
)  # fmt: skip
CATEGORIES = (
    "race", "gender", "admission_type_id", "admission_source_id", "payer_code", "medical_specialty", "chapter",
    "max_glu_serum", "A1Cresult", "metformin", "glipizide", "glyburide", "insulin", "change", "diabetesMed",
)  # fmt: skip
CHAPTERS = (
    1,
    140,
    240,
    280,
    290,
    320,
    390,
    460,
    520,
    580,
    630,
    680,
    710,
    740,
    760,
    780,
    800,
)
"""Where the chapters of ICD-9 begin."""


def first_stays(path: Path) -> pl.DataFrame:
    """Return the first stay of each patient, with the age in years and the chapter of the main diagnosis."""
    stays = pl.read_csv(path, infer_schema_length=None, null_values=["?", ""])
    stays = stays.sort("encounter_id").unique(
        "patient_nbr", keep="first", maintain_order=True
    )
    decade = pl.col("age").str.extract(r"\[(\d+)-").cast(pl.Int64)
    return stays.with_columns(
        age=decade + 5, chapter=pl.col("diag_1").map_elements(_chapter, pl.String)
    )


def _chapter(code: str) -> str:
    """Return the chapter of a diagnosis: ``E`` and ``V`` codes by their letter, diabetes by itself."""
    if not code[0].isdigit():
        return code[0]
    number = int(code[:3])
    place = bisect_right(CHAPTERS, number)
    return "diabetes" if number == 250 else f"from {CHAPTERS[place - 1]}"


def features(stays: pl.DataFrame) -> NDArray[np.float64]:
    """Return what the forest learns from: the numbers as they are, the categories as codes."""
    codes = [
        stays[name].cast(pl.String).fill_null("missing").rank("dense")
        for name in CATEGORIES
    ]
    numbers = [stays[name] for name in (*NUMBERS, "age")]
    return np.column_stack(
        [column.to_numpy().astype(float) for column in (*numbers, *codes)]
    )


def predicted(stays: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Return the half of the patients the forest has not seen, with its predictions and how far its trees disagree."""
    from sklearn.ensemble import RandomForestRegressor

    x, days = features(stays), stays["time_in_hospital"].to_numpy().astype(float)
    learns = np.random.default_rng(seed).random(stays.height) < 0.5
    forest = RandomForestRegressor(
        100, min_samples_leaf=5, max_features=1 / 3, random_state=seed
    )
    forest.fit(x[learns], days[learns])
    trees = np.stack([tree.predict(x[~learns]) for tree in forest.estimators_])
    spread = trees.std(axis=0)
    said = pl.Series(trees.mean(axis=0).round(3))
    others = stays.filter(pl.Series(~learns))
    return others.select(
        "age",
        "race",
        "gender",
        "insulin",
        pl.col("admission_type_id").cast(pl.String).alias("admission"),
        pl.col("number_emergency").alias("emergency visits"),
        pl.col("number_inpatient").alias("inpatient stays"),
        pl.col("chapter").alias("diagnosis"),
        pl.col("time_in_hospital").alias("days"),
        predicted=said,
        spread=pl.Series(spread.round(3)),
        answered=pl.Series(np.where(spread < np.median(spread), "yes", "no")),
        confident_prediction=said.set(pl.Series(spread >= np.median(spread)), None),
    )


def hospital(path: Path, seed: int = 0) -> ft.DataSource:
    """Return the patients with three test sets."""
    return ft.DataSource(
        predicted(first_stays(path), seed),
        budget=3,
        seed=seed,
        numeric=["age", "days", "emergency visits", "inpatient stays"],
        favourable={"answered": "yes"},
        name="diabetes, first stays",
    )
