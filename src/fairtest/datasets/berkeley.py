"""Admissions to the University of California, Berkeley, in the autumn of 1973: the six largest departments.

The counts are those published by P. J. Bickel, E. A. Hammel and J. W. O'Connell, "Sex bias in graduate admissions:
data from Berkeley", Science 187 (1975), 398–404. They are the textbook case of Simpson's paradox: women were admitted
less often than men, because they applied more often to the departments that admit few of anybody.
"""

from __future__ import annotations

import numpy as np
import polars as pl

COUNTS: dict[str, dict[str, tuple[int, int]]] = {
    "A": {"Male": (512, 313), "Female": (89, 19)},
    "B": {"Male": (353, 207), "Female": (17, 8)},
    "C": {"Male": (120, 205), "Female": (202, 391)},
    "D": {"Male": (138, 279), "Female": (131, 244)},
    "E": {"Male": (53, 138), "Female": (94, 299)},
    "F": {"Male": (22, 351), "Female": (24, 317)},
}
"""Applicants admitted and rejected, by department and gender."""


def berkeley(seed: int | None = None) -> pl.DataFrame:
    """Return the 4,526 applicants, one row each: ``gender``, ``department``, ``admitted`` ("Yes" or "No").

    Parameters
    ----------
    seed
        Shuffles the rows; by default they stand by department, gender and decision.

    Examples
    --------
    >>> applicants = berkeley()
    >>> applicants.shape
    (4526, 3)
    >>> applicants.filter(gender="Female", department="A", admitted="Yes").height
    89
    """
    cells = [
        (gender, department, decision, people)
        for department, genders in COUNTS.items()
        for gender, counts in genders.items()
        for decision, people in zip(("Yes", "No"), counts, strict=True)
    ]
    people = np.repeat(np.arange(len(cells)), [cell[3] for cell in cells])
    if seed is not None:
        people = np.random.default_rng(seed).permutation(people)
    columns = ("gender", "department", "admitted")
    return pl.DataFrame({name: [cells[i][k] for i in people] for k, name in enumerate(columns)})
