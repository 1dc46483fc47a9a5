"""Berkeley admissions, 1973: were women turned down, or did they apply where few are admitted?

Run ``python -m examples.berkeley``. The data is 24 published counts, which FairTest has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import fairtest as ft
from examples.command import Clock, Sources, bounds, counts, main, measured
from fairtest.datasets.berkeley import berkeley
from fairtest.numbers import fixed, p_value, rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


@dataclass(frozen=True)
class Story:
    """The report, and how long it took."""

    reports: dict[str, ft.Report]
    clock: Clock

    @property
    def report(self) -> ft.Report:
        """The one report."""
        return self.reports["admissions"]


def ask(applicants: pl.DataFrame, clock: Clock) -> ft.Report:
    """Ask whether women are admitted less often, comparing applicants to the same department."""
    source = ft.DataSource(
        applicants,
        favourable={"admitted": "Yes"},
        reference={"gender": "Male"},
        labels={"gender": {"Female": "women", "Male": "men"}},
        people="applicants",
        outcome="are admitted",
        name="Berkeley 1973",
    )
    admissions = ft.Testing(
        source, protected="gender", output="admitted", explanatory="department"
    )
    with clock.training():
        ft.train(admissions)
    with clock.testing():
        ft.test(admissions)
        return ft.report(admissions)[0]


def run(sources: Sources) -> Story:  # noqa: ARG001, nothing is needed
    """Ask about the published counts."""
    clock = Clock()
    return Story({"admissions": ask(berkeley(), clock)}, clock)


def tell(story: Story) -> Iterator[str]:
    """Say what was found, department by department."""
    yield str(story.report)
    everyone = story.report.populations[0]
    yield f"Together: a gap of {fixed(100 * everyone.gap, 1)} points, {bounds(everyone.gap_interval)} by itself."
    yield f"Given the department: {measured(everyone)}."
    yield "department  women admitted   men admitted   gap, interval          p"
    for stratum in everyone.strata:
        men, women = stratum.table.shares(1)
        p = "" if stratum.p_value is None else p_value(stratum.p_value)
        numbers = f"{rate(women):>14} {rate(men):>14}   {bounds(stratum.interval):22} {p}"
        yield f"{stratum.values['department']:>10}  {numbers}"
    yield f"{counts(story.report)}."


if __name__ == "__main__":
    main(run, tell, __doc__)
