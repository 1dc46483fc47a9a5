"""``fairtest compare``: what changed between two runs."""

from __future__ import annotations

import click

import fairtest as ft
from fairtest.cli.helping import command
from fairtest.cli.outputs import text_width
from fairtest.cli.people import find_workspace


@command()
@click.argument("workspace")
@click.argument("first", type=int)
@click.argument("second", type=int)
def compare(workspace: str, first: int, second: int) -> None:
    """Show what changed between two runs of a WORKSPACE, by the numbers of their test sets. Free.

    Shows the whole populations side by side, then the groups that both runs report, then those that only one reports.
    Different test sets are different people: small changes may be chance.

    Examples
    --------
      fairtest compare hiring 1 2
      fairtest status hiring        the runs there are
    """
    from fairtest.reporting.formats.changes import render_changes  # loads the library

    opened = ft.Workspace(find_workspace(workspace))
    click.echo(render_changes(opened.report(first), opened.report(second), (first, second), text_width()), nl=False)
