"""``fairtest demo``: the main job, on data that FairTest makes itself."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.helping import command, section
from fairtest.cli.options import with_default
from fairtest.cli.outputs import check_folder, text_width
from fairtest.cli.texts import render_text

if TYPE_CHECKING:
    from fairtest.model.finding import CountTable, Finding, Stratum

OUTPUT = section(
    "Output", with_default("fairtest-demo", "--out DIR", "The folder for the HTML reports.", essential=True)
)


@command(OUTPUT)
def demo(out: str) -> None:
    """Show what FairTest finds, on data it makes itself.

    \b
    1. Admissions to Berkeley in 1973: a difference that an explanatory attribute turns round.
    2. A made-up shop: a bias in two groups of customers that nobody sees in the whole.

    Takes a few seconds, and writes the reports as HTML into a folder.

    Examples
    --------
      fairtest demo
      fairtest demo --out reports
    """  # noqa: D301 - click's mark for lines that stay as they are
    folder = Path(out)
    check_folder("--out", folder)
    overall, given_department = admissions()
    _say("admissions", overall=overall, alike=given_department.populations[0], level=given_department.settings.level)
    shop = discounts()
    _say("discounts", shop=shop)
    folder.mkdir(parents=True, exist_ok=True)
    click.echo("\nThe full reports, to open in a browser:")
    pages = {"admissions.html": overall, "admissions-by-department.html": given_department, "discounts.html": shop}
    for name, report in pages.items():
        report.to_html(folder / name)
        click.echo(f"  {folder / name}")


def admissions(seed: int = 0) -> list[ft.Report]:
    """Return the reports on Berkeley: overall, and among applicants to the same department.

    Both questions are put at once, to one test set. There are no groups to search for, so a tenth of the people is
    enough for training.
    """
    from fairtest.datasets.berkeley import berkeley  # loads polars

    source = ft.DataSource(
        berkeley(),
        train_size=0.1,
        seed=seed,
        name="Berkeley 1973",
        favourable={"admitted": "Yes"},
        reference={"gender": "Male"},
    )
    overall = ft.Testing(source, "gender", "admitted", contextual=[])
    given_department = ft.Testing(source, "gender", "admitted", contextual=[], explanatory="department")
    ft.train([overall, given_department])
    ft.test([overall, given_department])
    return ft.report([overall, given_department])


def discounts(seed: int = 0) -> ft.Report:
    """Return the report on the shop, with groups of at least 500 customers."""
    from fairtest.datasets.pricing import pricing  # loads polars

    return ft.audit(
        pricing(),
        ["income", "race"],
        "discount",
        seed=seed,
        name="made-up shop",
        min_size=500,
        favourable={"discount": "Yes"},
        reference={"income": "high"},
    )


def _say(topic: str, **values: Any) -> None:
    """Show one part of the demo; lines that are too long are wrapped."""
    from fairtest.datasets.pricing import PLANTED  # loads polars

    width = text_width()
    values |= {"points": _points, "interval": _interval, "admitted": _admitted, "planted": PLANTED, "width": width}
    for line in render_text(f"demo-{topic}", **values).splitlines():
        indent = "    " if line.startswith("  - ") else ""
        click.echo(fill(line, width, subsequent_indent=indent) if len(line) > width else line.rstrip())


def _points(effect: float) -> str:
    return f"{100 * effect:+.1f}".replace("-", "−")


def _interval(measured: Finding | Stratum) -> str:
    assert measured.interval is not None
    return "[" + ", ".join(map(_points, measured.interval)) + "]"


def _admitted(table: CountTable, gender: str) -> str:
    column = table.columns.index(gender)
    people = sum(row[column] for row in table.counts)
    yes = table.counts[table.rows.index("Yes")][column]
    return f"{100 * yes / people:.0f} % of {people:,}"
