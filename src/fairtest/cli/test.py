"""``fairtest test``: is an output associated with protected attributes, and in which groups?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import audit_file
from fairtest.cli.config import CONFIG
from fairtest.cli.helping import command
from fairtest.cli.options import OUTPUT, ROLES, SEARCH, SOURCE, TEST, WORDS


@command(ROLES, SOURCE, WORDS, SEARCH, TEST, OUTPUT, CONFIG)
@click.argument("data")
@click.pass_context
def test(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Test whether an output is associated with protected attributes, and in which groups.

    DATA is a CSV or Parquet file (.gz and .zst too), '-' (a CSV on stdin) or a folder of Parquet files; one row is one
    person. The report goes to stdout.

    Examples
    --------
      fairtest test adult.csv -p sex -p race -o income --favourable '>50K'
      fairtest test loans.csv -p race -o deny --event yes --adverse
      fairtest test admissions.csv -p gender -o admitted -e department
      fairtest test loans.parquet -p 'sex*race' -o approved --json loans.json
      fairtest test people.csv -p age -o score --exclude id --fail-on-findings

    A test set answers once. Running again with another seed on the same data looks at the same people again: the
    promise of --conf holds for one run.
    """
    audit_file(ctx, data, options, ft.Testing, event=options["event"], adverse=options["adverse"] or None)
