"""``fairtest inspect``: what is in a file, and what could be asked of it?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import handle_config, source_options
from fairtest.cli.config import CONFIG
from fairtest.cli.helping import command, section
from fairtest.cli.options import SOURCE, flag, repeatable
from fairtest.cli.outputs import text_width
from fairtest.cli.repeat import options_to_repeat

ROLES = section(
    "Roles",
    repeatable(
        "-p --protected COLUMN",
        "A protected attribute; repeat for several. Default: those whose names suggest it.",
        essential=True,
    ),
    repeatable(
        "-o --output COLUMN",
        "What the application did; repeat for several. Default: those whose names suggest it.",
        essential=True,
    ),
)
SHOWN = section(
    "Output",
    flag("--json", "Show it as JSON.", essential=True),
    flag("--quiet", "Do not say which configuration file was used."),
)


@command(ROLES, SOURCE, SHOWN, CONFIG)
@click.argument("data")
@click.pass_context
def inspect(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Show the columns of DATA, what kind each is and why, the roles they may have, and the metric of each pair.

    Reads the data and spends no test set. Ends with a command to continue with. DATA is a CSV or Parquet file (.gz and
    .zst too) or a folder of Parquet files; one row is one person.

    Examples
    --------
      fairtest inspect people.csv
      fairtest inspect people.csv -p sex -o income
      fairtest inspect export.csv --delimiter ';' --missing '?' --json
    """
    how = {k: v for k, v in source_options(options).items() if k not in {"labels", "favourable", "reference"}}
    if handle_config(ctx):
        return
    look = ft.inspect(data, options["protected"] or None, options["output"] or None, **how)
    more = options_to_repeat(ctx, ("protected", "output", "json", "quiet", "save_config"))
    look = look.going_on_with(more)
    click.echo(look.to_json() if options["json"] else look.to_text(text_width()), nl=False)
