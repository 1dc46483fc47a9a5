"""An image tagger: which of its labels go with the race of the people in the pictures?

Run ``python -m examples.image_tagger``. The paper's labels are in ``image_tags_caffe.csv.gz`` of the folder after
``--data``; without it the pictures are made up, with labels that go with race and labels that do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import fairtest as ft
from examples.command import Clock, Sources, bounds, counts, main
from fairtest.numbers import p_value, rate

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "image_tags_caffe.csv.gz"
TOP_K = 35
IN_THE_PAPER = (
    "cart",
    "drum",
    "helmet",
    "cattle",
    "face powder",
    "maillot",
    "person",
    "lipstick",
)
"""The labels of the paper's figure."""


@dataclass(frozen=True)
class Story:
    """The report, and whether the pictures are made up."""

    reports: dict[str, ft.Report]
    clock: Clock
    made_up: bool

    @property
    def report(self) -> ft.Report:
        """The one report."""
        return self.reports["labels"]


def ask(pictures: pl.DataFrame, clock: Clock) -> ft.Report:
    """Ask which labels go with race."""
    source = ft.DataSource(
        pictures, reference={"Race": "White"}, people="pictures", name="image tagger"
    )
    labels = ft.Discovery(
        source, protected="Race", output="Labels", separator="|", top_k=TOP_K
    )
    with clock.training():
        ft.train(labels)
    with clock.testing():
        ft.test(labels)
        return ft.report(labels)[0]


def run(sources: Sources, pictures: pl.DataFrame | None = None) -> Story:
    """Ask about the paper's labels, or about made-up ones."""
    made_up = pictures is None and not sources.has(FILE)
    if pictures is None:
        pictures = make_pictures() if made_up else pl.read_csv(sources.file(FILE))
    clock = Clock()
    return Story({"labels": ask(pictures, clock)}, clock, made_up)


def make_pictures(people: int = 2_600, seed: int = 0) -> pl.DataFrame:
    """Return pictures whose tagger sees a person and a few things more often for one race, and noise alike for both."""
    rng = np.random.default_rng(seed)
    black = rng.random(people) < 0.53
    rates = {
        "person": (0.99, 0.955),
        "face powder": (0.10, 0.01),
        "cart": (0.003, 0.04),
        "helmet": (0.03, 0.08),
    }
    columns = {
        label: rng.random(people) < np.where(black, b, w) for label, (w, b) in rates.items()
    }
    columns |= {
        f"thing {k:02d}": rng.random(people) < rng.uniform(0.01, 0.1) for k in range(60)
    }
    labels = [
        "|".join(label for label, has in columns.items() if has[i]) for i in range(people)
    ]
    return pl.DataFrame({"Race": np.where(black, "Black", "White"), "Labels": labels})


def tested_labels(report: ft.Report) -> list[ft.Finding]:
    """Return the labels that were found, and those of the paper's figure; those of black people's pictures first."""
    chosen = [f for f in report.populations if f.significant or f.label in IN_THE_PAPER]
    return sorted(chosen, key=lambda finding: -(finding.effect or 0.0))


def tell(story: Story) -> Iterator[str]:
    """Say which labels were found, and show them as the paper does."""
    if story.made_up:
        yield f"{FILE} is not there: these pictures are made up.\n"
    yield str(story.report)
    yield "label          black     white     DIFF, interval         p         found"
    for finding in tested_labels(story.report):
        white, black = finding.table.shares(1)
        found = "yes" if finding.significant else "no"
        numbers = f"{rate(black):>8} {rate(white):>8}     {bounds(finding.interval):22} {p_value(finding.p_value):9}"
        yield f"{finding.label:12} {numbers} {found}"
    yield f"{counts(story.report)}."


if __name__ == "__main__":
    main(run, tell, __doc__)
