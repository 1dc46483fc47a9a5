"""The paper's story about healthcare, on made-up patients for whom it is true.

Run ``python -m examples.healthcare [folder]`` from the repository: it prints the story, and writes the three reports as
HTML into the folder. ``examples/output/healthcare.txt`` is what it prints.
"""

from __future__ import annotations

import sys

import fairtest as ft
from examples.profile import Roles, Story, run, tell
from fairtest.datasets.healthcare import healthcare

ROLES = Roles(
    protected="age",
    predicted="predicted",
    truth="visits",
    width="width",
    cautious="confident_prediction",
    answered="answered",
    contextual=("sex", "smoker", "urgent_care", "chronic"),
    unit="visits",
)


def story(people: int = 40_000, seed: int = 0) -> Story:
    """Return what three test sets say about the made-up patients."""
    patients = healthcare(people, seed)
    named = {"numeric": ["urgent_care", "chronic"], "favourable": {"answered": "yes"}, "name": "made-up patients"}
    return run(ft.DataSource(patients, budget=3, seed=seed, **named), ROLES)


def main(folder: str | None = None) -> None:
    """Print the story, and write its reports."""
    told = story()
    print(f"{told.detected.data.rows:,} made-up patients; the application predicts the visits of the coming year.\n")
    print("\n".join(tell(told, ROLES)))
    if folder is not None:
        told.save(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
