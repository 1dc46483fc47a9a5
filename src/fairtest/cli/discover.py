"""``fairtest discover``: which of many labels go with protected attributes, and in which groups?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import audit_file
from fairtest.cli.complete import columns
from fairtest.cli.config import CONFIG
from fairtest.cli.errors import show_traceback
from fairtest.cli.helping import Command, Option
from fairtest.cli.options import OUTPUT, ROLES, SEARCH, SOURCE, TEST, WORDS, with_options

EPILOG = """\b
Examples:
  fairtest discover pictures.csv -p race -o tags --separator '|' --top-k 35
  fairtest discover users.parquet -p sex -p age -o 'interest_*' -x country -x device

An empty field of a column of label sets means that nothing is known of a person; one without labels has the separator
alone. A test set answers once."""

LABELS = (
    Option(
        ["-o", "--output"],
        section="Labels",
        metavar="COLUMN",
        multiple=True,
        required=True,
        essential=True,
        shell_complete=columns,
        help="A column of label sets, or columns of 0 and 1: repeat, or 'tag_*' for all that fit.",
    ),
    Option(
        ["--separator"],
        section="Labels",
        metavar="TEXT",
        essential=True,
        help="What is between two labels, where one column has them as text: '|'.",
    ),
    Option(
        ["--top-k"],
        section="Labels",
        type=int,
        default=35,
        essential=True,
        show_default=True,
        help="How many labels to keep in each group of people.",
    ),
    Option(
        ["--min-people"],
        section="Labels",
        type=int,
        default=10,
        show_default=True,
        help="Leave out labels that fewer people of the whole table have.",
    ),
)


@click.command(cls=Command, epilog=EPILOG)
@click.argument("data")
@with_options(
    LABELS,
    tuple(o for o in ROLES if o.name not in {"output", "favourable"}),
    SOURCE,
    tuple(o for o in WORDS if o.name != "outcome"),
    SEARCH,
    TEST,
    OUTPUT,
    CONFIG,
)
@show_traceback
@click.pass_context
def discover(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Find which of many labels go with protected attributes, and in which groups.

    For an application that attaches labels from a large set (tags, interests, recommended items), when nobody knows
    which to suspect. DATA is a CSV or Parquet file (.gz and .zst too) or a folder of Parquet files; one row is one
    person. The report goes to stdout.
    """
    own = {name: options[name] for name in ("separator", "top_k", "min_people")}
    audit_file(ctx, data, options | {"favourable": ()}, ft.Discovery, **own)
