"""``fairtest init``: make a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import source_options
from fairtest.cli.errors import show_traceback
from fairtest.cli.helping import Command
from fairtest.cli.options import ROLES, SEARCH, SOURCE, TEST, WORDS, with_options
from fairtest.cli.people import say_known

EPILOG = """\b
Examples:
  fairtest init hiring people.csv --budget 3
  fairtest test hiring -p sex -o hired
  fairtest explain hiring --by department
  fairtest status hiring"""

_TAKEN = {"favourable", "reference", "train_size", "budget", "conf", "preset", "seed"}
SETTINGS = tuple(o for o in (*ROLES, *SOURCE, *WORDS, *SEARCH, *TEST) if o.name in _TAKEN or o in (*SOURCE, *WORDS))


@click.command(cls=Command, epilog=EPILOG)
@click.argument("folder", metavar="DIR")
@click.argument("data")
@with_options(SETTINGS)
@show_traceback
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
