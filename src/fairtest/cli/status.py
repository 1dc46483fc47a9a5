"""``fairtest status``: where a workspace stands."""

from __future__ import annotations

import click

import fairtest as ft
from fairtest.cli.errors import show_traceback

__all__ = ["status"]


@click.command()
@click.argument("workspace")
@show_traceback
def status(workspace: str) -> None:
    """Show the data of a WORKSPACE, how much of its budget is spent and left, and past runs.

    Reads the workspace only, not the data: it is quick, and free.
    """
    click.echo(ft.Workspace(workspace).status())
