"""``fairtest discover``: which of many labels go with protected attributes, and in which groups?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import audit_file
from fairtest.cli.config import CONFIG
from fairtest.cli.helping import Option, command, section
from fairtest.cli.options import OUTPUT, ROLES, SEARCH, SOURCE, TEST, WORDS, repeatable, with_default, without

LABELS = section(
    "Labels",
    repeatable(
        "-o --output COLUMN",
        "A column of label sets, or columns of 0 and 1: repeat, or 'tag_*' for all that fit.",
        required=True,
    ),
    Option("--separator TEXT", "The text between two labels, if one column holds them as text: '|'.", essential=True),
    with_default(35, "--top-k", "How many labels to keep in each group of people.", essential=True),
    with_default(10, "--min-people", "Leave out labels that fewer people than this have in the whole table."),
)


@command(
    LABELS,
    without(ROLES, "output", "favourable", "event", "adverse"),
    SOURCE,
    without(WORDS, "outcome"),
    SEARCH,
    TEST,
    OUTPUT,
    CONFIG,
)
@click.argument("data")
@click.pass_context
def discover(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Find which of many labels go with protected attributes, and in which groups.

    For an application that attaches labels from a large set (tags, interests, recommended items), when nobody knows
    which to suspect. DATA is a CSV or Parquet file (.gz and .zst too) or a folder of Parquet files; one row is one
    person. The report goes to stdout.

    Examples
    --------
      fairtest discover pictures.csv -p race -o tags --separator '|' --top-k 35
      fairtest discover users.parquet -p sex -p age -o 'interest_*' -x country -x device

    An empty field of a column of label sets means that nothing is known of a person; one without labels has the
    separator alone. A test set answers once.
    """
    own = {name: options[name] for name in ("separator", "top_k", "min_people")}
    audit_file(ctx, data, options | {"favourable": ()}, ft.Discovery, **own)
