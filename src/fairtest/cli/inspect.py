"""``fairtest inspect``: what is in a file, and what could be asked of it?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import save_config, say_config, source_options
from fairtest.cli.complete import columns
from fairtest.cli.config import CONFIG
from fairtest.cli.errors import show_traceback
from fairtest.cli.helping import Command, Option
from fairtest.cli.options import SOURCE, with_options
from fairtest.cli.outputs import text_width
from fairtest.cli.repeat import repeated_options

EPILOG = """\b
Examples:
  fairtest inspect people.csv
  fairtest inspect people.csv -p sex -o income
  fairtest inspect export.csv --delimiter ';' --missing '?' --json"""

ROLES = (
    Option(
        ["-p", "--protected"],
        section="Roles",
        metavar="COLUMN",
        multiple=True,
        essential=True,
        shell_complete=columns,
        help="A protected attribute; repeat for several. Default: those whose names suggest it.",
    ),
    Option(
        ["-o", "--output"],
        section="Roles",
        metavar="COLUMN",
        multiple=True,
        essential=True,
        shell_complete=columns,
        help="What the application did; repeat for several. Default: those whose names suggest it.",
    ),
)
SHOWN = (
    Option(["--json"], section="Output", is_flag=True, essential=True, help="Show it as JSON."),
    Option(["--quiet"], section="Output", is_flag=True, help="Do not say which configuration file was used."),
)


@click.command(cls=Command, epilog=EPILOG)
@click.argument("data")
@with_options(ROLES, SOURCE, SHOWN, CONFIG)
@show_traceback
@click.pass_context
def inspect(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Show the columns of DATA, what kind each is and why, the roles they may have, and the metric of each pair.

    Reads the data and spends nothing of it. Ends with a command to go on with. DATA is a CSV or Parquet file (.gz and
    .zst too) or a folder of Parquet files; one row is one person.
    """
    how = {k: v for k, v in source_options(options).items() if k not in {"labels", "favourable", "reference"}}
    if options["save_config"]:
        save_config(ctx, options["save_config"])
        return
    say_config(ctx)
    look = ft.inspect(data, options["protected"] or None, options["output"] or None, **how)
    more = repeated_options(ctx, ("protected", "output", "json", "quiet", "save_config"))
    look = look.going_on_with(more)
    click.echo(look.to_json() if options["json"] else look.to_text(text_width()), nl=False)
