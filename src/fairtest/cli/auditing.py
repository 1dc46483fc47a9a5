"""What the commands that audit data share: read, search, test, show."""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.arguments import crossed, labels_of, metrics_of, orders_of, pairs_of, tab
from fairtest.cli.config import saved, used
from fairtest.cli.errors import FOUND
from fairtest.cli.outputs import OUTPUTS, Outputs
from fairtest.cli.people import People
from fairtest.cli.progress import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.investigations.base import Investigation

NOT_REPEATED = (*OUTPUTS, "train_only", "fail_on_findings", "quiet", "verbose", "save_config")

MOST_TOLD = 100
"""How many columns --verbose speaks of: a Discovery may have thousands."""


def audit_file(
    ctx: click.Context,
    data: str,
    options: dict[str, Any],
    investigation: Callable[..., Investigation],
    **own: Any,
) -> None:
    """Put the question of a command to a file; ``own`` are the arguments only its kind of investigation has."""
    outputs = Outputs.of(options)
    _check(data, options, outputs)
    asked, about = _questions(options), source_options(options)
    if options["save_config"]:
        save_config(ctx, options["save_config"])
        return
    say_config(ctx)
    people = People(ctx, data, options, NOT_REPEATED)
    with StatusLine(quiet=options["quiet"], verbose=options["verbose"]) as status:
        status(f"reading {data}")
        source = people.read(about)
        _say_kinds(status, source)
        made = investigation(source, **asked, **own)
        ft.train([made], **_train_options(options), progress=status)
        if not options["train_only"]:
            people.settle()
            chosen = {name: options[name] for name in ("correction", "method", "tolerance", "preset")}
            ft.test([made], **chosen, progress=status)
    if options["train_only"]:
        _propose(made, options)
    else:
        _show(ctx, people.report(made), outputs)


def _check(data: str, options: dict[str, Any], outputs: Outputs) -> None:
    """Raise for what can be seen to be wrong before any data is read."""
    if options["train_only"] and (outputs or options["fail_on_findings"]):
        raise ft.InputError(
            "--train-only tests nothing, so there is no report to write or to fail on. Take out --train-only, or "
            f"{', '.join(f'--{name}' for name in OUTPUTS)} and --fail-on-findings."
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


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say of the data; a command has all of those of the file, perhaps not the others."""
    same = (
        "budget", "conf", "train_size", "seed", "categorical", "numeric", "missing", "encoding", "decimal", "preset",
        "people", "outcome",
    )  # fmt: skip
    return {
        **{name: options[name] for name in same if name in options},
        **{name: options[name] for name in ("engine", "memory") if options.get(name) is not None},
        "labels": labels_of(options.get("label", ())),
        "ordered": orders_of(options["ordered"]),
        "favourable": pairs_of("--favourable", options.get("favourable", ()), "income='>50K'"),
        "reference": pairs_of("--reference", options.get("reference", ()), "sex=Male"),
        "delimiter": tab(options["delimiter"]),
    }


def _train_options(options: dict[str, Any]) -> dict[str, Any]:
    names = ("max_depth", "min_size", "search", "score", "aggregate", "preset", "trees", "attributes_per_node")
    return {name: options[name] for name in names}


def save_config(ctx: click.Context, path: str) -> None:
    """Write the options of a command into a file, and say how to run it."""
    from fairtest.reporting.formats.files import write_atomically  # loads the library

    write_atomically(path, saved(ctx, path))
    if not ctx.params.get("quiet"):
        click.echo(f"Written: {path}. To run it: {ctx.command_path} --config {shlex.quote(path)}", err=True)


def say_config(ctx: click.Context) -> None:
    """Say on stderr which file options were taken from."""
    if used(ctx) and not ctx.params.get("quiet"):
        click.echo(f"Options from {used(ctx)}", err=True)


def _say_kinds(status: StatusLine, source: ft.DataSource) -> None:
    columns = source.table.columns.values()
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in Counter(c.kind.value for c in columns).items())
    status.note(f"{source.table.name}: {source.table.n_rows:,} people, {len(columns):,} columns ({kinds})")
    for column in islice(columns, MOST_TOLD):
        missing = f"; {column.missing:,} missing" if column.missing else ""
        status.note(f"  {column.name}: {column.kind.value} ({column.reason}{missing})")
    if len(columns) > MOST_TOLD:
        status.note(f"  … and {len(columns) - MOST_TOLD:,} more; fairtest inspect shows all")


def _propose(investigation: Investigation, options: dict[str, Any]) -> None:
    from fairtest.cli.proposals import proposals_text  # loads the library

    click.echo(proposals_text(investigation, options["correction"]), nl=False)


def _show(ctx: click.Context, report: ft.Report, outputs: Outputs) -> None:
    for path in outputs.write(report):
        if not ctx.params["quiet"]:
            click.echo(f"Written: {path}", err=True)
    if ctx.params["fail_on_findings"] and report.reported:
        ctx.exit(FOUND)
