"""What the commands that audit data share: read, search, test, show."""

from __future__ import annotations

import shlex
import warnings
from collections import Counter
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

import fairtest as ft
from fairtest.cli.arguments import (
    parse_delimiter,
    parse_favourable,
    parse_labels,
    parse_metrics,
    parse_orders,
    parse_pairs,
    parse_protected,
)
from fairtest.cli.config import config_in_use, config_text
from fairtest.cli.options import DIVIDING, SOURCE, WORDS
from fairtest.cli.outputs import OUTPUTS, Outputs
from fairtest.cli.people import People, read_stdin
from fairtest.cli.progress import StatusLine
from fairtest.model.plans import TestingPlan, TrainingPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.investigations.base import Investigation
    from fairtest.model.plans import Plan

MOST_NOTED = 100
"""How many columns --verbose speaks of: a Discovery may have thousands."""


def audit_file(
    ctx: click.Context, data: str, options: dict[str, Any], investigation: Callable[..., Investigation], **own: Any
) -> None:
    """Put the question of a command to a file; ``own`` are the arguments only its kind of investigation has."""
    outputs = Outputs.of(options)
    data = read_stdin(ctx, data)
    _check(data, options, outputs)
    question, about = _investigation_options(options), source_options(options)
    if handle_config(ctx):
        return
    TestingPlan.of(_plan_options(TestingPlan, options))  # a mistake there should not wait for the search to end
    people = People(ctx, data, options)
    if (stored := people.find_answer()) is not None:
        for number, earlier in enumerate(stored, start=1):
            outputs.show(ctx, earlier, f"{number}-" if len(stored) > 1 else "")
        return
    with StatusLine(quiet=options["quiet"], verbose=options["verbose"]) as status:
        status(f"reading {data}")
        source = people.read(about, status)
        options = {**options, "preset": people.preset}
        _note_kinds(status, source)
        made = investigation(source, **question, **own)
        for sentence in made.warnings:
            status.warn(sentence)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ft.FairTestWarning)  # it was said above
            ft.train([made], **_plan_options(TrainingPlan, options), progress=status)
        if not options["train_only"]:
            people.prepare_workspace()
            ft.test([made], **_plan_options(TestingPlan, options), progress=status)
    if options["train_only"]:
        from fairtest.cli.proposals import proposals_text  # loads the library

        text = proposals_text(made, options["correction"], options["population_share"])
        people.note_shown()
        click.echo(text, nl=False)
    else:
        outputs.show(ctx, people.report(made))


def _check(data: str, options: dict[str, Any], outputs: Outputs) -> None:
    """Raise for what can be seen to be wrong before any data is read."""
    if options["train_only"] and (outputs or options["fail_on_findings"] is not None):
        raise ft.InputError(
            "--train-only tests nothing, so there is no report to write or to fail on. Take out --train-only, or "
            f"{', '.join(f'--{name}' for name in OUTPUTS)} and --fail-on-findings."
        )
    outputs.check(data)


def _investigation_options(options: dict[str, Any]) -> dict[str, Any]:
    same = {name: options[name] or None for name in ("contextual", "explanatory", "exclude")}
    if options["overall_only"]:
        if same["contextual"]:
            raise ft.InputError("--overall-only searches for no groups, and --contextual says where to. Take one out.")
        same["contextual"] = []
    return {
        **same,
        "protected": [parse_protected(name) for name in options["protected"]],
        "output": options["output"],
        "metrics": parse_metrics(options["metric"], options["protected"]) or None,
    }


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say of the data; a command has all of those of the file, perhaps not the others."""
    same = {name: options.get(name) for name in (*DIVIDING, *(str(option.name) for option in (*SOURCE, *WORDS)))}
    converted = {
        "labels": parse_labels(same.pop("label") or ()),
        "ordered": parse_orders(options["ordered"]),
        "favourable": parse_favourable(options.get("favourable", ()), options.get("output")),
        "reference": parse_pairs("--reference", options.get("reference", ()), "sex=Male"),
        "delimiter": parse_delimiter(options["delimiter"]),
    }
    return {name: value for name, value in (same | converted).items() if value is not None}


def _plan_options(plan: type[Plan], options: dict[str, Any]) -> dict[str, Any]:
    return {field.name: options[field.name] for field in fields(plan)}


def handle_config(ctx: click.Context) -> bool:
    """Write the options into a file if the user wants that, or say which file they are from; whether that was all."""
    if path := ctx.params["save_config"]:
        from fairtest.reporting.formats.files import write_atomically  # loads the library

        write_atomically(path, config_text(ctx, path))
        words = f"Written: {path}. To run it: {ctx.command_path} --config {shlex.quote(path)}"
    else:
        words = f"Options from {config_in_use(ctx)}" if config_in_use(ctx) else ""
    if words and not ctx.params["quiet"]:
        click.echo(words, err=True)
    return bool(path)


def _note_kinds(status: StatusLine, source: ft.DataSource) -> None:
    columns = source.table.columns.values()
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in Counter(c.kind.value for c in columns).items())
    rows = "" if source.n_people == source.table.n_rows else f" in {source.table.n_rows:,} rows"
    status.note(f"{source.table.name}: {source.n_people:,} people{rows}, {len(columns):,} columns ({kinds})")
    for column in islice(columns, MOST_NOTED):
        missing = f"; {column.missing:,} missing" if column.missing else ""
        status.note(f"  {column.name}: {column.kind.value} ({column.reason}{missing})")
    if len(columns) > MOST_NOTED:
        status.note(f"  … and {len(columns) - MOST_NOTED:,} more; fairtest inspect shows all")
