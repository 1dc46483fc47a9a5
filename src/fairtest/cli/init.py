"""``fairtest init``: make a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import FIXED, source_options
from fairtest.cli.helping import command
from fairtest.cli.options import ROLES, SEARCH, SOURCE, TEST, WORDS, chosen
from fairtest.cli.people import say_known

EPILOG = """\b
Examples:
  fairtest init hiring people.csv --budget 3
  fairtest test hiring -p sex -o hired
  fairtest explain hiring --by department
  fairtest status hiring"""


@command(chosen(ROLES, "favourable", "reference"), SOURCE, WORDS, chosen((*SEARCH, *TEST), *FIXED), epilog=EPILOG)
@click.argument("folder", metavar="DIR")
@click.argument("data")
def init(folder: str, data: str, **options: Any) -> None:
    """Make a workspace: a folder that keeps the split of DATA, which test sets are spent, and every report.

    Each question to a workspace spends one of its test sets, so decide on the budget first: what is set here is fixed.
    DATA stays where it is; it must not change.
    """
    from fairtest.data.registry import said_elsewhere
    from fairtest.workspace.workspace import check_new

    check_new(Path(folder))
    given = source_options(options)
    with said_elsewhere():
        source = ft.DataSource(data, **given)
    say_known(source.table.n_rows, lambda: source.fingerprint)
    workspace = ft.Workspace.founded(Path(folder), source, data, given)
    click.echo(workspace.status())
