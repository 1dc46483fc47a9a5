"""``fairtest report``: show again what was shown."""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.helping import command
from fairtest.cli.options import OUTPUT, without
from fairtest.cli.outputs import Outputs
from fairtest.cli.people import find_workspace


@command(without(OUTPUT, "fail_on_findings"))
@click.argument("workspace")
@click.argument("run", type=int, required=False)
@click.pass_context
def report(ctx: click.Context, /, workspace: str, run: int | None, **options: Any) -> None:
    """Show again what a run of a WORKSPACE reported: the last one, or RUN by the number of its test set. Free.

    Examples
    --------
      fairtest report hiring
      fairtest report hiring 1 --html report.html
      fairtest status hiring        the runs there are
    """
    outputs = Outputs.of(options)
    outputs.check(workspace)
    opened = ft.Workspace(find_workspace(workspace))
    reports = opened.read_reports(run)
    if len(reports) != 1 and (outputs.files or "figures" in outputs.folders):
        raise ft.InputError(f"This run has {len(reports)} reports, and a file holds one. Name a folder: --out DIR.")
    for number, each in enumerate(reports, start=1):
        outputs.show(ctx, each, f"{number}-" if len(reports) > 1 else "")
