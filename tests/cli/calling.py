"""Calling the command line, in this process."""

from __future__ import annotations

from typing import NamedTuple

from click.testing import CliRunner

from fairtest.cli.main import cli


class Run(NamedTuple):
    code: int
    out: str
    err: str


def fairtest(*arguments: object) -> Run:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="fairtest")
    return Run(result.exit_code, result.stdout, result.stderr)
