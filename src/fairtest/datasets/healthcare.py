"""A hospital that predicts its patients' visits: made-up people, for whom the story of the paper is true.

Older patients' visits are harder to foresee: the number of visits scatters more about what can be expected of them.
That, and nothing else, is why predictions are further off for the old (section 5.3 of the paper, on healthcare).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray


def healthcare(people: int = 40_000, seed: int = 0) -> pl.DataFrame:
    """Return patients, what was predicted for them, how sure the prediction was, and what came true.

    Parameters
    ----------
    people
        How many.
    seed
        Other patients for another seed.

    Returns
    -------
    polars.DataFrame
        ``age``, ``sex``, ``smoker``, ``urgent_care`` (treatments last year), ``chronic`` (conditions); ``visits`` of
        the year that followed, ``predicted`` visits, ``width`` of the interval that the predictor gives for them
        (narrow is confident), ``answered``, yes where it is below the median, and ``confident_prediction``, missing
        elsewhere.

    Examples
    --------
    >>> healthcare(1_000).columns
    ['age', 'sex', 'smoker', 'urgent_care', 'chronic', 'visits', 'predicted', 'width', 'answered',
     'confident_prediction']
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 96, people)
    urgent = rng.poisson(0.35, people)
    chronic = rng.binomial(6, 0.05 + 0.25 * (age - 18) / 78)
    expected = 2.0 + 0.8 * chronic + 1.2 * urgent
    scatter = _scatter(age, urgent, rng)
    visits = np.maximum(np.rint(expected + scatter * rng.standard_normal(people)), 0).astype(np.int64)
    predicted = np.round(expected + 0.2 * rng.standard_normal(people), 2)
    width = np.round(3.3 * scatter * np.exp(0.1 * rng.standard_normal(people)), 2)
    confident = width < np.median(width)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["female", "male"], people),
            "smoker": rng.choice(["no", "yes"], people, p=[0.8, 0.2]),
            "urgent_care": urgent,
            "chronic": chronic,
            "visits": visits,
            "predicted": predicted,
            "width": width,
            "answered": np.where(confident, "yes", "no"),
            "confident_prediction": pl.Series(predicted).set(pl.Series(~confident), None),
        }
    )


def _scatter(age: IntArray, urgent: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return how far visits scatter: for many of the old, and most of all after urgent care, far."""
    years = (age - 18) / 78
    frail = rng.random(age.size) < np.where(urgent > 0, 0.02 + 0.9 * years, 0.1 + 0.5 * years)
    scatter = np.where(frail, np.where(urgent > 0, 4.0, 2.4), 0.8)
    return np.asarray(scatter * np.exp(0.1 * rng.standard_normal(age.size)), dtype=float)
