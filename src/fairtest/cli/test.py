"""``fairtest test``: is an output associated with protected attributes, and in which groups?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import fairtest as ft
from fairtest.cli.arguments import crossed, metrics_of, orders_of, pairs_of, tab
from fairtest.cli.errors import FOUND, show_traceback
from fairtest.cli.options import OUTPUT, ROLES, SEARCH, SOURCE, TEST, Command, with_options
from fairtest.cli.outputs import Outputs
from fairtest.cli.progress import StatusLine
from fairtest.cli.repeat import repeated

__all__ = ["check", "propose", "questions", "show", "source_options", "test", "train_options"]

NOT_REPEATED = ("out", "json", "html", "text", "train_only", "fail_on_findings", "quiet")

EPILOG = """\b
Examples:
  fairtest test adult.csv -p sex -p race -o income --favourable 'income=>50K'
  fairtest test admissions.csv -p gender -o admitted -e department
  fairtest test loans.parquet -p 'sex*race' -o approved --json loans.json
  fairtest test people.csv -p age -o score --exclude id --fail-on-findings

A test set answers once. Running again with another seed on the same data looks at the same people again: the
promise of --conf holds for one run."""


@click.command(cls=Command, epilog=EPILOG)
@click.argument("data")
@with_options(ROLES, SOURCE, SEARCH, TEST, OUTPUT)
@show_traceback
@click.pass_context
def test(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Test whether an output is associated with protected attributes, and in which groups.

    DATA is a CSV or Parquet file (.gz and .zst too) or a folder of Parquet files; one row is one person. The report
    goes to stdout.
    """
    outputs = Outputs(options["out"], options["json"], options["html"], options["text"])
    check(data, options, outputs)
    asked = questions(options)
    with StatusLine(quiet=options["quiet"]) as status:
        status(f"reading {data}")
        source = ft.DataSource(data, **source_options(options))
        investigation = ft.Testing(source, **asked)
        ft.train([investigation], **train_options(options), progress=status)
        if not options["train_only"]:
            chosen = {name: options[name] for name in ("correction", "method", "tolerance", "preset")}
            ft.test([investigation], **chosen, progress=status)
    if options["train_only"]:
        propose(investigation)
    else:
        show(ctx, investigation, outputs)


def check(data: str, options: dict[str, Any], outputs: Outputs) -> None:
    """Raise for what can be seen to be wrong before any data is read."""
    if options["budget"] > 1:
        raise ft.InputError(
            f"--budget {options['budget']}: in this version only the Python interface keeps several test sets "
            f"(fairtest.DataSource(data, budget={options['budget']})); on the command line the budget must be 1."
        )
    if options["train_only"] and (outputs or options["fail_on_findings"]):
        raise ft.InputError(
            "--train-only tests nothing, so there is no report to write or to fail on. Take out --train-only, or "
            "--out, --json, --html, --text and --fail-on-findings."
        )
    outputs.check(data)


def questions(options: dict[str, Any]) -> dict[str, Any]:
    """Return the roles that the options name."""
    protected = options["protected"]
    return {
        "protected": [crossed(name) for name in protected],
        "output": options["output"],
        "contextual": options["contextual"] or None,
        "explanatory": options["explanatory"] or None,
        "metrics": metrics_of(options["metric"], protected) or None,
        "exclude": options["exclude"] or None,
    }


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say about the data and its split."""
    same = ("budget", "conf", "train_size", "seed", "categorical", "numeric", "missing", "encoding", "preset")
    return {
        **{name: options[name] for name in same},
        "ordered": orders_of(options["ordered"]),
        "favourable": pairs_of("--favourable", options["favourable"], "income='>50K'"),
        "reference": pairs_of("--reference", options["reference"], "sex=Male"),
        "delimiter": tab(options["delimiter"]),
    }


def train_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say about the search."""
    return {name: options[name] for name in ("max_depth", "min_size", "search", "score", "aggregate", "preset")}


def propose(investigation: ft.Testing | ft.Discovery) -> None:
    """Show what the search proposes."""
    from fairtest.cli.proposals import proposals_text  # loads the library

    click.echo(proposals_text(investigation), nl=False)


def show(ctx: click.Context, investigation: ft.Testing | ft.Discovery, outputs: Outputs) -> None:
    """Show the report, write it where the options say, and exit with 1 if that was asked for."""
    report = ft.report([investigation])[0]
    report = replace(report, repeat=repeated(ctx, report.data.name, NOT_REPEATED))
    for path in outputs.write(report):
        if not ctx.params["quiet"]:
            click.echo(f"Written: {path}", err=True)
    if ctx.params["fail_on_findings"] and report.reported:
        ctx.exit(FOUND)
