"""What the commands that audit data share: read, search, test, show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.arguments import crossed, metrics_of, orders_of, pairs_of, tab
from fairtest.cli.errors import FOUND
from fairtest.cli.outputs import Outputs
from fairtest.cli.progress import StatusLine
from fairtest.cli.repeat import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.investigations.base import Investigation

__all__ = ["audit_file"]

NOT_REPEATED = ("out", "json", "html", "text", "train_only", "fail_on_findings", "quiet")


def audit_file(
    ctx: click.Context,
    data: str,
    options: dict[str, Any],
    investigation: Callable[..., Investigation],
    **own: Any,
) -> None:
    """Put the question of a command to a file; ``own`` are the arguments only its kind of investigation has."""
    outputs = Outputs(options["out"], options["json"], options["html"], options["text"])
    _check(data, options, outputs)
    asked = _questions(options)
    with StatusLine(quiet=options["quiet"]) as status:
        status(f"reading {data}")
        source = ft.DataSource(data, **_source_options(options))
        made = investigation(source, **asked, **own)
        ft.train([made], **_train_options(options), progress=status)
        if not options["train_only"]:
            chosen = {name: options[name] for name in ("correction", "method", "tolerance", "preset")}
            ft.test([made], **chosen, progress=status)
    if options["train_only"]:
        _propose(made)
    else:
        _show(ctx, made, outputs)


def _check(data: str, options: dict[str, Any], outputs: Outputs) -> None:
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


def _questions(options: dict[str, Any]) -> dict[str, Any]:
    protected = options["protected"]
    return {
        "protected": [crossed(name) for name in protected],
        "output": options["output"],
        "contextual": options["contextual"] or None,
        "explanatory": options["explanatory"] or None,
        "metrics": metrics_of(options["metric"], protected) or None,
        "exclude": options["exclude"] or None,
    }


def _source_options(options: dict[str, Any]) -> dict[str, Any]:
    same = ("budget", "conf", "train_size", "seed", "categorical", "numeric", "missing", "encoding", "preset")
    return {
        **{name: options[name] for name in same},
        "ordered": orders_of(options["ordered"]),
        "favourable": pairs_of("--favourable", options["favourable"], "income='>50K'"),
        "reference": pairs_of("--reference", options["reference"], "sex=Male"),
        "delimiter": tab(options["delimiter"]),
    }


def _train_options(options: dict[str, Any]) -> dict[str, Any]:
    names = ("max_depth", "min_size", "search", "score", "aggregate", "preset", "trees", "attributes_per_node")
    return {name: options[name] for name in names}


def _propose(investigation: Investigation) -> None:
    from fairtest.cli.proposals import proposals_text  # loads the library

    click.echo(proposals_text(investigation), nl=False)


def _show(ctx: click.Context, investigation: Investigation, outputs: Outputs) -> None:
    report = ft.report([investigation])[0]
    report = replace(report, repeat=repeated(ctx, report.data.name, NOT_REPEATED))
    for path in outputs.write(report):
        if not ctx.params["quiet"]:
            click.echo(f"Written: {path}", err=True)
    if ctx.params["fail_on_findings"] and report.reported:
        ctx.exit(FOUND)
