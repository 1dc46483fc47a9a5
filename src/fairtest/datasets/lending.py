"""A lender's applicants: made-up people for the tutorial, whose application has a fault that the reader looks for."""

from __future__ import annotations

import numpy as np
import polars as pl


def applicants(people: int = 24_000, seed: int = 0) -> pl.DataFrame:
    """Return people who ask for a loan, and what they say about themselves.

    Sex has nothing to do with income or debts. Women ask for large loans a little less often.

    Parameters
    ----------
    people
        How many.
    seed
        Other people for another seed.

    Returns
    -------
    polars.DataFrame
        ``sex``, ``age``, ``region``, ``channel`` (branch, phone or web), ``married``, ``work``, ``loan`` (small or
        large), ``income`` and ``debts`` (thousands a year).

    Examples
    --------
    >>> applicants(1_000).columns
    ['sex', 'age', 'region', 'channel', 'married', 'work', 'loan', 'income', 'debts']
    """
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], people)
    large = rng.random(people) < np.where(sex == "female", 0.40, 0.55)
    return pl.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(20, 70, people),
            "region": rng.choice(["north", "south", "east", "west"], people),
            "channel": rng.choice(["web", "phone", "branch"], people, p=[0.5, 0.2, 0.3]),
            "married": rng.choice(["no", "yes"], people, p=[0.45, 0.55]),
            "work": rng.choice(["full-time", "part-time", "self-employed"], people, p=[0.7, 0.2, 0.1]),
            "loan": np.where(large, "large", "small"),
            "income": np.round(np.clip(rng.normal(42, 12, people), 10, None), 1),
            "debts": np.round(rng.gamma(3.0, 6.0, people), 1),
        }
    )
