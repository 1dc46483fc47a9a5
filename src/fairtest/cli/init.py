"""``fairtest init``: make a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import source_options
from fairtest.cli.helping import command
from fairtest.cli.options import DIVIDING, ROLES, SEARCH, SOURCE, TEST, WORDS, only
from fairtest.cli.people import warn_if_audited


@command(only(ROLES, "favourable", "reference"), SOURCE, WORDS, only((*SEARCH, *TEST), *DIVIDING))
@click.argument("folder", metavar="DIR")
@click.argument("data")
def init(folder: str, data: str, **options: Any) -> None:
    """Make a workspace: a folder that keeps the split of DATA, which test sets are spent, and every report.

    Each question to a workspace spends one of its test sets, so decide on the budget first: what is set here is fixed.
    DATA stays where it is; it must not change.

    Examples
    --------
      fairtest init hiring people.csv --budget 3
      fairtest test hiring -p sex -o hired
      fairtest explain hiring --by department
      fairtest status hiring
    """
    from fairtest.data.registry import leave_warning_to_caller, was_shown
    from fairtest.workspace.workspace import check_new

    check_new(Path(folder))
    given = source_options(options)
    with leave_warning_to_caller():
        source = ft.DataSource(data, **given)
    warn_if_audited(source.table.n_rows, lambda: source.fingerprint)
    if was_shown(source.fingerprint):
        source.budget.mark_shown()
    workspace = ft.Workspace.create_from_source(Path(folder), source, data, given)
    click.echo(workspace.status())
