"""``fairtest errors``: who gets the errors of a prediction?"""

from __future__ import annotations

from typing import Any

import click

import fairtest as ft
from fairtest.cli.auditing import audit_file
from fairtest.cli.config import CONFIG
from fairtest.cli.helping import command
from fairtest.cli.options import ERRORS, OUTPUT, ROLES, SEARCH, SOURCE, TEST, WORDS, without


@command(without(ROLES, "event", "adverse"), ERRORS, SOURCE, WORDS, SEARCH, TEST, OUTPUT, CONFIG)
@click.argument("data")
@click.pass_context
def errors(ctx: click.Context, /, data: str, **options: Any) -> None:
    """Test whether the errors of a prediction fall on some people more than on others, and in which groups.

    DATA is a CSV or Parquet file (.gz and .zst too), '-' (a CSV on stdin) or a folder of Parquet files; one row is one
    person, with what was predicted for them (-o) and what turned out to be true (--truth). The report goes to stdout.

    Examples
    --------
      fairtest errors patients.csv -p age -o predicted --truth visits
      fairtest errors patients.csv -p age -o predicted --truth visits -e confidence
      fairtest errors loans.csv -p sex -o said --truth repaid --notion fpr --favourable repaid=no
      fairtest errors loans.csv -p race -o score --truth repaid --threshold 5
    """
    own = {"ground_truth": options["truth"], "error": options["error"], "notion": options["notion"]}
    own |= {"threshold": options["threshold"]}
    audit_file(ctx, data, options, ft.ErrorProfiling, **own)
