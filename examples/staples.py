"""Staples pricing: a low price near a competitor's store. Does it hit people with low incomes, and where?

Run ``python -m examples.staples --data FOLDER`` with the paper's coordinates of ZIP codes and stores in the folder. The
census is fetched once. The people are drawn by the model that ``examples/shoppers.py`` states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

import fairtest as ft
from examples.command import Clock, Sources, counts, main, measured, title
from examples.shoppers import PEOPLE, draw_shoppers, read_places
from fairtest.datasets.census import people_by_zip
from fairtest.numbers import fixed, rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ZIPS, STORES = "staples_zipcodes.csv.gz", "staples_competitor_stores.csv"
BUDGETS = (1, 2, 3)
HIGH = pl.col("price") == "high"
PAPERS_GROUPS = {
    "white people in California": {"state": "CA", "race": "White"},
    "black men in New York": {"state": "NY", "race": "Black", "gender": "male"},
}
"""The two groups of the paper's report."""


@dataclass(frozen=True)
class Story:
    """What is found with each budget, what the remedy does, and the prices in each state and in the paper's groups."""

    reports: dict[str, ft.Report]
    clock: Clock
    switched_off: Sequence[str]
    states: pl.DataFrame
    groups: pl.DataFrame

    @property
    def found(self) -> ft.Report:
        """The report with a budget of one test set."""
        return self.reports["budget 1"]


def ask(source: ft.DataSource, clock: Clock) -> ft.Report:
    """Ask whether the price goes with income or race, over everybody and in places and groups."""
    price = ft.Testing(
        source,
        protected=["income", "race"],
        output="price",
        contextual=["state", "race", "gender", "income"],
        event="high",
        adverse=True,
    )
    with clock.training():
        ft.train(price)
    with clock.testing():
        ft.test(price)
        return ft.report(price)[0]


def keep_apart(shoppers: pl.DataFrame, budget: int) -> ft.DataSource:
    """Return the shoppers, divided into a training set and so many test sets."""
    return ft.DataSource(
        shoppers,
        budget=budget,
        reference={"income": ">=50K", "race": "White"},
        labels={
            "income": {
                "<50K": "shoppers with low incomes",
                ">=50K": "shoppers with high incomes",
            }
        },
        people="shoppers",
        outcome="pay the high price",
        name="Staples",
    )


def ask_by_state(source: ft.DataSource, output: str) -> ft.Report:
    """Ask in which states the price goes with income, and nothing else."""
    price = ft.Testing(
        source,
        protected="income",
        output=output,
        contextual="state",
        event="high",
        adverse=True,
    )
    ft.train(price)
    ft.test(price)
    return ft.report(price)[0]


def try_remedy(shoppers: pl.DataFrame) -> tuple[ft.Report, list[str], ft.Report]:
    """Ask by state, switch the scheme off where it hits low incomes, and ask the next test set."""
    source = keep_apart(shoppers, budget=2)
    before = ask_by_state(source, "price")
    states = affected_states(before)
    off = pl.when(pl.col("state").is_in(states)).then(pl.lit("low")).otherwise("price")
    remedied = source.with_columns(shoppers.select(off.alias("price after")))
    return before, states, ask_by_state(remedied, "price after")


def affected_states(report: ft.Report) -> list[str]:
    """Return the states in which people with low incomes surely pay the high price more often."""
    income = report.attributes[0]
    inside = [part for part in (*income.findings, *income.others) if len(part.context) == 1]
    return sorted(
        str(part.context.predicates[0].value)
        for part in inside
        if part.significant and (part.effect or 0.0) > 0
    )


def price_by(shoppers: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the share of people who pay the high price, by a column and income, and the gap between incomes."""
    low, high = (
        HIGH.filter(income=income).mean().alias(name)
        for income, name in (("<50K", "low"), (">=50K", "high"))
    )
    rates = shoppers.group_by(column).agg(
        low, high, HIGH.mean().alias("all"), pl.len().alias("people")
    )
    return rates.with_columns(gap=pl.col("low") - pl.col("high")).sort(column)


def price_in_papers_groups(shoppers: pl.DataFrame) -> pl.DataFrame:
    """Return the same for the groups of the paper's report."""
    inside = [
        shoppers.filter(**where).with_columns(group=pl.lit(name))
        for name, where in PAPERS_GROUPS.items()
    ]
    return price_by(pl.concat(inside), "group")


def run(
    sources: Sources, people: int = PEOPLE, census: pl.DataFrame | None = None
) -> Story:
    """Draw people, ask with each budget, and try the remedy on the second test set of two."""
    zips, stores = sources.file(ZIPS), sources.file(STORES)
    places = read_places(zips, stores, people_by_zip() if census is None else census)
    shoppers = draw_shoppers(places, people)
    clock = Clock()
    reports = {
        f"budget {b}": ask(keep_apart(shoppers, b), clock if b == 1 else Clock())
        for b in BUDGETS
    }
    reports["by state"], states, reports["remedy"] = try_remedy(shoppers)
    prices = price_by(shoppers, "state"), price_in_papers_groups(shoppers)
    return Story(reports, clock, states, *prices)


def strongest(report: ft.Report, attribute: int) -> str:
    """Return the first context that is reported for an attribute."""
    findings = report.attributes[attribute].findings
    return str(findings[0].context) if findings else "none"


def tell(story: Story) -> Iterator[str]:
    """Say what was found, where, with which budget, and what the remedy does."""
    yield str(story.found)
    yield f"{counts(story.found)}.\n"
    yield title(
        "Who pays the high price in the ten states with the widest gap, and in the paper's groups (described)"
    )
    yield from _tell_prices(story.states.sort("gap", descending=True).head(10))
    yield from _tell_prices(story.groups)
    yield ""
    yield title("Budgets: one, two or three test sets")
    for budget in BUDGETS:
        report = story.reports[f"budget {budget}"]
        first = ", ".join(
            f"{a.name}: {strongest(report, i)}" for i, a in enumerate(report.attributes)
        )
        yield f"{budget}: {report.discovered:,} discovered, {report.reported} reported; first by {first}"
    yield ""
    yield title(
        "Remedy: one price where low incomes surely pay more (second test set of two)"
    )
    yield f"Switched off in {len(story.switched_off)} states: {', '.join(story.switched_off) or 'none'}"
    before, after = (story.reports[name].populations[0] for name in ("by state", "remedy"))
    yield f"before: {measured(before)}"
    yield f"after:  {measured(after)}"
    left = affected_states(story.reports["remedy"])
    yield f"States in which low incomes still surely pay more: {', '.join(left) or 'none'}"


def _tell_prices(rates: pl.DataFrame) -> Iterator[str]:
    name = rates.columns[0]
    yield f"{name:26} <$50,000   ≥$50,000   gap in points   people"
    for row in rates.iter_rows(named=True):
        numbers = f"{rate(row['low']):>8} {rate(row['high']):>10} {fixed(100 * row['gap'], 1, signed=True):>15}"
        yield f"{row[name]:26} {numbers} {row['people']:>8,}"


if __name__ == "__main__":
    main(run, tell, __doc__)
