"""``fairtest report``: show again what was shown."""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.errors import show_traceback
from fairtest.cli.helping import Command
from fairtest.cli.options import OUTPUT, with_options
from fairtest.cli.outputs import Outputs

EPILOG = """\b
Examples:
  fairtest report hiring
  fairtest report hiring 1 --html report.html
  fairtest status hiring        the runs there are"""


@click.command(cls=Command, epilog=EPILOG)
@click.argument("workspace")
@click.argument("run", type=int, required=False)
@with_options(tuple(o for o in OUTPUT if o.name != "fail_on_findings"))
@show_traceback
def report(workspace: str, run: int | None, **options: Any) -> None:
    """Show again what a run of a WORKSPACE reported: the last one, or RUN by the number of its test set. Free."""
    outputs = Outputs.of(options)
    outputs.check(workspace)
    opened = ft.Workspace(workspace)
    reports = opened.shown(run)
    if len(reports) != 1 and (outputs.files or "figures" in outputs.folders):
        raise ft.InputError(f"This run has {len(reports)} reports, and a file holds one. Name a folder: --out DIR.")
    for place, each in enumerate(reports, start=1):
        for path in outputs.write(each, f"{place}-" if len(reports) > 1 else ""):
            if not options["quiet"]:
                click.echo(f"Written: {path}", err=True)
