"""Predictive healthcare: for whom are predictions further off, why, and what can be done about it?

Run ``python -m examples.healthcare``: first on made-up patients for whom the paper's story is true, then, if
``diabetes130.csv.gz`` is in the folder after ``--data``, on real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import fairtest as ft
from examples import diabetes
from examples.command import Clock, Sources, main
from examples.error_story import Roles, ask
from examples.error_story import Story as Steps
from examples.error_story import tell as tell_steps
from fairtest.datasets.healthcare import healthcare

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "diabetes130.csv.gz"
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


@dataclass(frozen=True)
class Story:
    """What three test sets say of made-up patients, and of real ones; None where the data is not there."""

    made_up: Steps
    real: Steps | None
    clock: Clock = field(default_factory=Clock)
    made_up_clock: Clock = field(default_factory=Clock)

    @property
    def reports(self) -> dict[str, ft.Report]:
        """All reports."""
        real = {} if self.real is None else vars(self.real)
        return {f"{name}, made up": r for name, r in vars(self.made_up).items()} | real


def clinic(people: int = 40_000, seed: int = 0) -> ft.DataSource:
    """Return made-up patients with three test sets."""
    return ft.DataSource(
        healthcare(people, seed),
        budget=3,
        seed=seed,
        numeric=["urgent_care", "chronic"],
        favourable={"answered": "yes"},
        name="made-up patients",
    )


def run(sources: Sources, people: int = 40_000) -> Story:
    """Ask about both."""
    made_up_clock, clock = Clock(), Clock()
    made_up, real = ask(clinic(people), ROLES, made_up_clock), None
    if sources.has(FILE):
        real = ask(diabetes.hospital(sources.file(FILE)), diabetes.ROLES, clock)
    return Story(made_up, real, clock, made_up_clock)


def tell(story: Story) -> Iterator[str]:
    """Tell both stories."""
    people = story.made_up.detected.data.rows
    yield f"{people:,} made-up patients; the application predicts the visits of the coming year.\n"
    yield from tell_steps(story.made_up, ROLES)
    if story.real is None:
        yield f"\n{FILE} is not there: the same on real patients is skipped."
        return
    people = story.real.detected.data.rows
    yield f"\n\n{people:,} real patients whom a random forest has not seen; it predicts their days in hospital.\n"
    yield from tell_steps(story.real, diabetes.ROLES)


if __name__ == "__main__":
    main(run, tell, __doc__)
