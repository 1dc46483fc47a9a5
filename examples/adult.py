"""Adult census income, 1994: who earns more than 50,000 dollars, by sex and by race, and where is the gap widest?

Run ``python -m examples.adult``. The data is fetched once, or read from ``adult.csv.gz`` in the folder after
``--data``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fairtest as ft
from examples.command import Clock, Sources, counts, main, measured, title
from fairtest.datasets.adult import adult

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

AS_IN_THE_PAPER = {"preset": "paper", "metrics": "NMI"}
"""Its search and its correction, and one metric for everything, on half of the people."""


@dataclass(frozen=True)
class Story:
    """What is found by default, and with the paper's settings."""

    reports: dict[str, ft.Report]
    clock: Clock


def ask(
    people: pl.DataFrame,
    clock: Clock,
    preset: str | None = None,
    metrics: str | None = None,
) -> ft.Report:
    """Ask whether income goes with sex or race, over everybody and in groups of people."""
    source = ft.DataSource(
        people,
        favourable={"income": ">50K"},
        reference={"sex": "Male", "race": "White"},
        labels={"sex": {"Female": "women", "Male": "men"}},
        outcome="earn over $50,000",
        name="Adult",
        preset=preset,
    )
    income = ft.Testing(
        source,
        protected=["sex", "race"],
        output="income",
        exclude="fnlwgt",
        metrics=metrics,
    )
    with clock.training():
        ft.train(income, max_depth=5, min_size=100, preset=preset)
    with clock.testing():
        ft.test(income)
        return ft.report(income)[0]


def run(sources: Sources, people: pl.DataFrame | None = None) -> Story:
    """Ask with FairTest's own settings, and with the paper's."""
    if people is None:
        people = adult(
            sources.file("adult.csv.gz") if sources.has("adult.csv.gz") else None
        )
    clock = Clock()
    settings: dict[str, dict[str, Any]] = {"default": {}, "paper": AS_IN_THE_PAPER}
    reports = {
        name: ask(people, clock if name == "default" else Clock(), **how)
        for name, how in settings.items()
    }
    return Story(reports, clock)


def tell(story: Story) -> Iterator[str]:
    """Say what was found."""
    yield str(story.reports["default"])
    yield f"{counts(story.reports['default'])}.\n"
    yield title("The strongest groups, as they are read aloud")
    for attribute in story.reports["default"].attributes:
        for finding in (attribute.population, *attribute.findings[:3]):
            yield f"- {finding.sentence}"
    yield ""
    yield title("With the paper's settings: NMI, guided tree, Holm, half of the people")
    paper = story.reports["paper"]
    for attribute in paper.attributes:
        yield f"{attribute.name}, everyone: {measured(attribute.population)}"
        for finding in attribute.findings[:3]:
            yield f"{attribute.name}, {finding.context}: {measured(finding)}"
    yield f"{counts(paper)}."


if __name__ == "__main__":
    main(run, tell, __doc__)
