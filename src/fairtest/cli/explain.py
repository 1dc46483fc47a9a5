"""``fairtest explain``: does an explanatory attribute account for what a run found?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fairtest as ft
from fairtest.cli.helping import Option, command, section
from fairtest.cli.options import OUTPUT, TEST, only, repeatable
from fairtest.cli.outputs import Outputs
from fairtest.cli.people import find_workspace, use_workspace, warn_if_audited
from fairtest.cli.progress import StatusLine
from fairtest.cli.repeat import ASKED_ALREADY, is_answered_by

WHAT = section(
    "Explain",
    repeatable(
        "--by COLUMN",
        "Compare only people who share the value of this attribute; repeat to cross several.",
        required=True,
    ),
    Option("--run NUMBER", "Which run to explain. Default: the last one that is not an explanation itself.", type=int),
)


@command(WHAT, only(TEST, "correction", "again"), OUTPUT)
@click.argument("workspace")
@click.pass_context
def explain(ctx: click.Context, /, workspace: str, **options: Any) -> None:
    """Ask again about what a run of a WORKSPACE found: does it remain among people who share an attribute?

    The population and the significant groups of that run are put to the next test set, measured among people with the
    same value of the attribute (--by), with each value beside them. This spends a test set, unless
    the same was asked before: then the stored answer is shown.

    Examples
    --------
      fairtest explain hiring --by department
      fairtest explain hiring --by department --by grade --run 1 --html why.html

    An explanation of run 1 by department and another by grade spend a test set each.
    """
    outputs = Outputs.of(options)
    outputs.check(workspace)
    workspace = find_workspace(workspace)
    opened = ft.Workspace(workspace)
    if not options["again"] and (answered := find_explanation(ctx, opened)) is not None:
        if not options["quiet"]:
            click.echo(ASKED_ALREADY.format(answered), err=True)
        outputs.show(ctx, opened.report(answered))
        return
    use_workspace(ctx, opened, Path(workspace).name)
    with StatusLine(quiet=options["quiet"]) as status:
        status(f"reading {opened.setup.name}")
        opened.check()
        warn_if_audited(opened.setup.rows, lambda: opened.setup.fingerprint, besides=opened.setup.id)
        status(f"asking again, given {', '.join(options['by'])}")
        made = opened.explain(options["by"], run=options["run"], correction=options["correction"])
    outputs.show(ctx, opened.report(made.settings.set))


def find_explanation(ctx: click.Context, workspace: ft.Workspace) -> int | None:
    """Return the run that answered the same command; without ``--run``, since the last question that it could mean."""
    for run in reversed(workspace.runs):
        if run.command.startswith(ctx.command_path):
            if run.reports and is_answered_by(ctx, run.command):
                return run.number
        elif ctx.params["run"] is None:
            return None
    return None
