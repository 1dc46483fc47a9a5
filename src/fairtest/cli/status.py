"""``fairtest status``: where a workspace stands."""

from __future__ import annotations

from pathlib import Path

import click

from fairtest.cli.helping import command
from fairtest.cli.people import find_workspace


@command()
@click.argument("workspace")
def status(workspace: str) -> None:
    """Show the data of a WORKSPACE, how much of its budget is spent and left, and past runs.

    Reads the workspace only, not the data: it is quick, and free.

    Examples
    --------
      fairtest status hiring
      fairtest report hiring        what the last run found
    """
    from fairtest.workspace.sqlite import SQLiteLedger  # the ledger alone: the library need not be loaded
    from fairtest.workspace.status import Status

    workspace = find_workspace(workspace)
    ledger = SQLiteLedger.open(Path(workspace))
    click.echo(Status(workspace, ledger.setup(), ledger.runs(), ledger.was_shown()))
