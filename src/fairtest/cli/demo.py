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

if TYPE_CHECKING:
    from collections.abc import Iterator

EPILOG = """\b
Examples:
  fairtest demo
  fairtest demo --out reports"""


OUTPUT = section("Output", with_default("fairtest-demo", "--out DIR", "Where the HTML reports go.", essential=True))


@command(OUTPUT, epilog=EPILOG)
def demo(out: str) -> None:
    """Show what FairTest finds, on data it makes itself.

    \b
    1. Admissions to Berkeley in 1973: a difference that an explanatory attribute turns round.
    2. A made-up shop: a bias in two groups of customers that nobody sees in the whole.

    Takes a few seconds, and writes the reports as HTML into a folder.
    """  # noqa: D301 - click's mark for lines that stay as they are
    folder = Path(out)
    check_folder("--out", folder)
    overall, given_department = admissions()
    _say(_admissions_text(overall, given_department))
    shop = discounts()
    _say(_discounts_text(shop))
    folder.mkdir(parents=True, exist_ok=True)
    _say(["", "The full reports, to open in a browser:"])
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

    roles = {"favourable": {"admitted": "Yes"}, "reference": {"gender": "Male"}}
    source = ft.DataSource(berkeley(), train_size=0.1, seed=seed, name="Berkeley 1973", **roles)  # type: ignore[arg-type]
    overall = ft.Testing(source, "gender", "admitted", contextual=[])
    given_department = ft.Testing(source, "gender", "admitted", contextual=[], explanatory="department")
    ft.train([overall, given_department])
    ft.test([overall, given_department])
    return ft.report([overall, given_department])


def discounts(seed: int = 0) -> ft.Report:
    """Return the report on the shop, with groups of at least 500 customers."""
    from fairtest.datasets.pricing import pricing  # loads polars

    roles = {"favourable": {"discount": "Yes"}, "reference": {"income": "high"}}
    source = ft.DataSource(pricing(), seed=seed, name="made-up shop", **roles)  # type: ignore[arg-type]
    return ft.audit(source, ["income", "race"], "discount", min_size=500)


def _admissions_text(overall: ft.Report, given_department: ft.Report) -> Iterator[str]:
    everyone, alike = overall.populations[0], given_department.populations[0]
    clear = [s for s in alike.strata if s.p_value is not None and s.p_value <= given_department.settings.level]
    yield _title("1. Berkeley, 1973: were women admitted less often?")
    yield (
        f"{overall.data.rows:,} applicants to the six largest departments, as published (Bickel, Hammel and O'Connell, "
        "Science 187, 1975). Two questions are put to the same test set: does admission differ between women and men; "
        f"and does it, among applicants to the same department? A tenth of the people, drawn at random, is set aside "
        f"for training; the numbers below are from the other {overall.data.test:,}."
    )
    yield ""
    yield f"Overall: {everyone.sentence}"
    yield _measured(everyone)
    yield ""
    yield f"Given the department: {alike.sentence}"
    yield _measured(alike)
    yield ""
    yield from _departments(alike, clear)
    yield ""
    yield from _paradox(everyone, alike, clear)


def _departments(alike: Any, clear: list[Any]) -> Iterator[str]:
    yield "department   women admitted     men admitted   gap in points, with interval"
    for stratum in alike.strata:
        women, men = (_admitted(stratum.table, gender) for gender in ("Female", "Male"))
        mark = "  *" if stratum in clear else ""
        gap = f"{_points(stratum.effect):>5}   {_interval(stratum):<16}{mark}".rstrip()
        yield f"     {stratum.values['department']}     {women:>16} {men:>16}   {gap}"
    yield "* significant, corrected for everything asked"


def _admitted(table: Any, gender: str) -> str:
    column = table.columns.index(gender)
    people = sum(row[column] for row in table.counts)
    yes = table.counts[table.rows.index("Yes")][column]
    return f"{100 * yes / people:.0f} % of {people:,}"


def _paradox(everyone: Any, alike: Any, clear: list[Any]) -> Iterator[str]:
    """Say in words what the numbers show, and only that."""
    if everyone.significant and everyone.effect < 0:
        yield "What this shows: women were admitted less often overall."
    if not (alike.significant and alike.effect < 0):
        yield (
            "Among applicants to the same department there is no sign against women: they applied more often to the "
            "departments that admit few of anybody."
        )
    for stratum in clear:
        favoured = "women" if stratum.effect > 0 else "men"
        yield f"Department {stratum.values['department']} clearly differs, and it favours {favoured}."


def _discounts_text(shop: ft.Report) -> Iterator[str]:
    from fairtest.datasets.pricing import PLANTED  # loads polars

    yield ""
    yield _title("2. A made-up shop: who is shown a discount?")
    yield (
        f"{shop.data.rows:,} made-up customers. Over everybody, income hardly matters and race not at all. But a bias "
        "was planted, which FairTest is not told about:"
    )
    for bias in PLANTED:
        how = f"{abs(bias.points):.0f} points {'less' if bias.points < 0 else 'more'} often"
        yield f"  - where {bias}: customers with low income are shown the discount {how}"
    yield (
        "This is what it reports, of groups of at least 500 customers. Parts of the planted groups, and larger groups "
        "around them, may show too; race should show nothing."
    )
    yield ""
    yield from shop.to_text(width=text_width()).splitlines()


def _measured(finding: Any) -> str:
    return f"  gap {_points(finding.effect)} points, interval {_interval(finding)}, p-value {finding.p_value:.2g}"


def _points(effect: float) -> str:
    return f"{100 * effect:+.1f}".replace("-", "−")


def _interval(part: Any) -> str:
    low, high = part.interval
    return f"[{_points(low)}, {_points(high)}]"


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _say(lines: Any) -> None:
    for line in lines:
        long_prose = len(line) > text_width() and "\n" not in line
        indent = "    " if line.startswith("  - ") else ""
        click.echo(fill(line, text_width(), subsequent_indent=indent) if long_prose else line)
