"""``fairtest explain``: does an explanatory attribute account for what a run found?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fairtest as ft
from fairtest.cli.errors import uses_workspace
from fairtest.cli.helping import Option, command, section
from fairtest.cli.options import OUTPUT, TEST, chosen, several
from fairtest.cli.outputs import OUTPUTS, Outputs
from fairtest.cli.people import say_known, wait_aloud
from fairtest.cli.progress import StatusLine
from fairtest.cli.repeat import repeated

NOT_REPEATED = (*OUTPUTS, "fail_on_findings", "quiet", "verbose")

EPILOG = """\b
Examples:
  fairtest explain hiring --by department
  fairtest explain hiring --by department --by grade --run 1 --html why.html

An explanation of run 1 by department and another by grade spend a test set each."""

WHAT = section(
    "Explain",
    several(
        "--by COLUMN",
        "Compare only people who share the value of this attribute; repeat to cross several.",
        required=True,
    ),
    Option("--run NUMBER", "Which run to explain. Default: the last one that is no explanation itself.", type=int),
)


@command(WHAT, chosen(TEST, "correction"), OUTPUT, epilog=EPILOG)
@click.argument("workspace")
@click.pass_context
def explain(ctx: click.Context, /, workspace: str, **options: Any) -> None:
    """Ask again about what a run of a WORKSPACE found: does it remain among people who share an attribute?

    The population and the significant groups of that run are put to the next test set, measured among people with the
    same value of the attribute (--by), with each value beside them. This spends a test set.
    """
    outputs = Outputs.of(options)
    outputs.check(workspace)
    opened = ft.Workspace(workspace)
    opened.caller.command = repeated(ctx, Path(workspace).name, NOT_REPEATED)
    wait_aloud(opened)
    uses_workspace(ctx, opened)
    with StatusLine(quiet=options["quiet"]) as status:
        status(f"reading {opened.setup.name}")
        opened.check()
        say_known(opened.setup.rows, lambda: opened.setup.fingerprint, besides=opened.setup.id)
        status(f"asking again, given {', '.join(options['by'])}")
        made = opened.explain(options["by"], run=options["run"], correction=options["correction"])
    outputs.show(ctx, opened.report(made.settings.set))
